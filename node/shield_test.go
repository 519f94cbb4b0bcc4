package node

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// The kernel is told once what is promised and what yields, and again when that changes, when memory moves, and when it
// could not be told.
func TestTheKernelIsToldWhatIsPromised(t *testing.T) {
	m := newMachine(t, 8*gib)
	batch := memoryApp(appA, 1, 0, 1)
	batch.Class = api.ClassBatch
	due := batch
	due.HasDeadline, due.Remaining = true, 100
	key := Key{App: appA, ID: "1"}
	tick := func(failures ...Failure) []Action {
		m.now = m.now.Add(m.e.roster.cfg.Interval)
		s := m.sample()
		s.Failures = failures
		actions := append([]Action(nil), m.e.Step(m.now, s)...)
		m.do(actions)
		var told []Action
		for _, a := range actions {
			if a.Kind == ActShieldMemory {
				told = append(told, a)
			}
		}
		return told
	}
	expect := func(what string, told []Action, yields ...bool) {
		t.Helper()
		if len(told) != len(yields) {
			t.Fatalf("%s: told %+v, want %d", what, told, len(yields))
		}
		for i, a := range told {
			if a.Key != key || a.Memory != units.GiB || a.Yields != yields[i] {
				t.Errorf("%s: %+v", what, a)
			}
		}
	}
	m.apply(batch)
	expect("before a limit is seen", tick()[:0])
	m.apply(batch)
	expect("later", tick())
	m.apply(due)
	expect("with a deadline", tick(), false)
	expect("after a failure", tick(Failure{Kind: ActShieldMemory, Key: key, Err: "no"}), false)
}
