package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// What a node says of losses counts from its incarnation's start: what is said again adds
// nothing, another incarnation begins anew, and nodes add up.
func TestLossesAddUp(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	a := c.App("app-1", "p", 100, "a", "b")
	say := func(node string, seq uint64, to api.AppID, work units.Work) {
		t.Helper()
		s := ledgertest.Status(node, seq)
		s.Losses = []api.Loss{{App: "app-0", To: "app-1", CoreSeconds: 1}, {App: "app-1", To: to, CoreSeconds: work}}
		c.Know(ledger.NodeSaid{Status: s})
	}
	say("a", 2, "app-2", 3)
	say("a", 3, "app-2", 3)
	say("a", 4, "app-2", 5)
	say("b", 2, "app-2", 2)
	c.Know(ledger.NodeJoined{Node: "a", Incarnation: "a-2"})
	say("a", 1, "app-2", 4)
	say("a", 2, "", 1)
	want := []api.Loss{{App: "app-1", To: "app-2", CoreSeconds: 11}, {App: "app-1", To: "", CoreSeconds: 1}}
	if d := cmp.Diff(want, a.Tenant.Lost); d != "" {
		t.Error(d)
	}
}

// A shortage begins with the first status that tells of it and ends with the first that does
// not, each node by itself; what is kept is how it was at its worst.
func TestShortagesBeginAndEnd(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	a := c.App("app-1", "p", 100, "a", "b")
	seq := uint64(1)
	say := func(at units.Seconds, node string, shortages ...api.Shortage) {
		t.Helper()
		c.To(at)
		seq++
		s := ledgertest.Status(node, seq)
		s.Shortages = append(shortages, api.Shortage{App: "app-0"})
		c.Know(ledger.NodeSaid{Status: s})
	}
	short := func(had units.Cores, givenUp bool) api.Shortage {
		return api.Shortage{App: "app-1", Asked: 2, Had: had, To: "app-2", GivenUp: givenUp}
	}
	say(3, "a", short(1, false))
	say(4, "a", short(0.5, true))
	say(5, "b", short(1, false))
	say(6, "a", short(1.5, false))
	say(7, "a")
	say(8, "a")
	say(9, "a", short(1, false))
	want := []api.AppShortage{{Node: "a", Begin: 3, End: 7, Shortage: short(0.5, true)}, {Node: "b", Begin: 5, Shortage: short(1, false)},
		{Node: "a", Begin: 9, Shortage: short(1, false)}}
	if d := cmp.Diff(want, a.Tenant.Short); d != "" {
		t.Error(d)
	}
	for i := range 100 {
		say(units.Seconds(10+2*i), "a")
		say(units.Seconds(11+2*i), "a", short(1, false))
	}
	if n := len(a.Tenant.Short); n != 32 {
		t.Errorf("%d shortages are kept", n)
	}
}
