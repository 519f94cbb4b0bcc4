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
