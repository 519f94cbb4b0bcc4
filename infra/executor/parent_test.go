package executor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// The end of a program that its parent has kept is believed where nobody else knows it, and nothing that is damaged.
func TestKeptExits(t *testing.T) {
	unknown := Status{State: api.ExecutorExited, Exit: "ended while no node controller ran", ExitCode: api.Unknown}
	p := Paths{Exit: filepath.Join(t.TempDir(), "exit.json")}
	for body, want := range map[string]Status{
		`{"exit_code":0,"at":"2026-01-01T00:00:00Z"}`: {State: api.ExecutorExited, Exit: "exit status 0", ExitCode: 0},
		`{"exit_code":3}`:   {State: api.ExecutorExited, Exit: "exit status 3", ExitCode: 3},
		`{"exit_code":137}`: {State: api.ExecutorExited, Exit: "killed by signal 9", ExitCode: 137},
		`{"exit_code":-1}`:  unknown, `{"exit`: unknown,
	} {
		if err := os.WriteFile(p.Exit, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := p.kept(unknown); got != want {
			t.Errorf("%s is %+v, want %+v", body, got, want)
		}
	}
	if err := os.Remove(p.Exit); err != nil || p.kept(unknown) != unknown {
		t.Errorf("without a file it is %+v (%v)", p.kept(unknown), err)
	}
}
