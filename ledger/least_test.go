package ledger_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// What a Plan says that an application needs at least is that of its newest aim: a new one
// makes new Plans on all of its nodes, a stage's end and time alone do not change it. One
// whose deadline cannot be kept needs nothing.
func TestAPlanSaysWhatIsNeededAtLeast(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	a := c.App("app-1", "p", 100, "a", "b")
	c.Know(ledger.ModeSet{App: a.ID, Mode: ledger.Paced})
	want := func(what string, least units.Cores, newer bool, epochs [2]uint64) [2]uint64 {
		t.Helper()
		var now [2]uint64
		for i, name := range []string{"a", "b"} {
			p := c.View().Plan(c.View().Node(name))
			if now[i] = p.Epoch; p.Epoch > epochs[i] != newer || p.Apps[0].Least != least {
				t.Errorf("%s: plan %d of %s says %v, want %v, the one before was %d", what, p.Epoch, name, p.Apps[0].Least, least, epochs[i])
			}
		}
		return now
	}
	aim := func(stage int, least units.Cores) {
		t.Helper()
		s := c.Ready(a, stage, "s", 10, "1")
		c.Know(ledger.StageAimed{App: a.ID, Stage: s.Key(), Aim: ledger.Aim{Planned: true, DeadlineAt: c.Now.Add(50e9), Work: 8, Least: least}, First: 50,
			Targets: []ledger.Target{{Node: "a", StageTarget: api.StageTarget{Executor: "1", Weight: 4, Tasks: 4, Work: 8, InitCores: 1}}}})
	}
	seen := want("at first", 0, true, [2]uint64{})
	aim(0, 3)
	seen = want("an aim", 1.5, true, seen)
	c.To(10)
	c.Know(ledger.Heard{App: a.ID})
	seen = want("time", 1.5, false, seen)
	c.Done(a, a.Stages[api.StageKey{}], 8, 1)
	if got := c.View().Plan(c.View().Node("b")); got.Epoch != seen[1] || got.Apps[0].Least != 1.5 {
		t.Errorf("after the stage's end plan %d of b says %v", got.Epoch, got.Apps[0].Least)
	}
	seen[0] = c.View().Plan(c.View().Node("a")).Epoch
	aim(1, 4)
	seen = want("another aim", 2, true, seen)
	c.Know(ledger.GateSet{App: a.ID, Gate: ledger.Gate{Late: true}})
	seen = want("late", 2, false, seen)
	c.Know(ledger.GateSet{App: a.ID, Gate: ledger.Gate{Late: true, Overdue: true}})
	want("late for long", 0, true, seen)
}
