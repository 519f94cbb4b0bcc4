package estimate_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// The more applications run on one of its nodes, the earlier one is aimed at, up to a bound.
func TestTheAimBesideOthers(t *testing.T) {
	c := ledgertest.New(t, "a", "b", "c")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 200, "a", "b")
	p := policy(estimate.BranchesTogether)
	alone := p.Aiming(c.View(), a)
	want := func(when string, more units.Seconds) {
		t.Helper()
		if got := p.Aiming(c.View(), a).Margin - alone.Margin; math.Abs(float64(got-more)) > 1e-9 {
			t.Errorf("%s: aimed %v earlier than alone, want %v", when, got, more)
		}
	}
	c.App("app-2", "q", 0, "c")
	want("beside one on another node", 0)
	c.App("app-3", "q", 0, "a")
	want("beside one", 0.25)
	c.App("app-4", "q", 0, "b")
	want("beside one on each node", 0.25)
	c.App("app-5", "q", 0, "b")
	want("beside two on one node", 0.4)
	for n := range 4 {
		c.App(api.AppID(fmt.Sprintf("app-%d", 6+n)), "q", 0, "b")
	}
	want("beside six", 0.7)
	c.Know(ledger.DeadlineGiven{App: a.ID, Deadline: 30})
	want("beside six, due after 30 s", 0.55)
}
