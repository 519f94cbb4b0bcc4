package api_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
)

// As AttachedProofTest of the jar has it.
func TestTheJarMakesTheSameProof(t *testing.T) {
	a := &api.Attach{App: "application_1764300000000_0007", Secret: strings.Repeat("5e", 32)}
	got := a.On("3f2b8a4e-0d5c-4c1e-9a77-5b1f0c2d3e4f").Proof("12", 4711, 98765)
	if want := "93090cd66d81d02e9dd5273df9677140fc4667e9570fc25a85edf3da7df788dc"; hex.EncodeToString(got[:]) != want {
		t.Errorf("proof %x, want %s", got, want)
	}
}

// Whoever differs in anything shows something else.
func TestAttackAProofOfAnother(t *testing.T) {
	type who struct {
		secret, app, machine string
		id                   api.ExecutorID
		pid                  int
		started              uint64
	}
	draw := rapid.Custom(func(t *rapid.T) who {
		text := func(name string) string {
			return rapid.SampledFrom([]string{"1", "1 2", "2", "12", " 1"}).Draw(t, name)
		}
		return who{text("secret"), text("app"), text("machine"), api.ExecutorID(text("executor")), rapid.IntRange(1, 3).Draw(t, "pid"),
			rapid.Uint64Range(1, 3).Draw(t, "started")}
	})
	of := func(w who) [32]byte {
		return (&api.Attach{App: w.app, Secret: w.secret}).On(w.machine).Proof(w.id, w.pid, w.started)
	}
	rapid.Check(t, func(rt *rapid.T) {
		a, b := draw.Draw(rt, "one"), draw.Draw(rt, "another")
		// An id has no space in it, which Validate sees to: of those that have, two texts may be one.
		if a != b && a.app+" "+string(a.id) != b.app+" "+string(b.id) && of(a) == of(b) {
			rt.Fatalf("%+v and %+v show the same", a, b)
		}
	})
}
