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

// Beside others on one of its nodes an application is aimed earlier, by a portion of a short
// deadline, however many they are.
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
	want("beside two on one node", 0.25)
	for n := range 4 {
		c.App(api.AppID(fmt.Sprintf("app-%d", 6+n)), "q", 0, "b")
	}
	want("beside six on one node", 0.25)
	c.Know(ledger.DeadlineGiven{App: a.ID, Deadline: 30})
	want("beside six, due after 30 s", 0.12)
	c.Know(ledger.DeadlineGiven{App: a.ID, Deadline: 10})
	want("beside six, due after 10 s", 0.04)
}

// Beside others a driver that takes longer between stages than it did is aimed earlier by what
// that will come to: gaps of 2 and 3 s are recorded, a tail of 1 s and no exit.
func TestADriverThatIsSlowerBesideOthers(t *testing.T) {
	for _, c := range []struct {
		took   units.Seconds // From the first stage to the second.
		others int
		want   units.Seconds
	}{
		{took: 2, others: 1, want: 0.25},
		{took: 2.5, others: 1, want: 0.25 + 0.25*(3+1)},
		{took: 1.5, others: 1, want: 0.25},
		{took: 8, others: 1, want: 0.25 + 0.5*(3+1)},
		{took: 2.5, others: 0, want: 0},
	} {
		w := ledgertest.New(t, "a")
		w.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		a := w.App("app-1", "p", 200, "a")
		for n := range c.others {
			w.App(api.AppID(fmt.Sprintf("app-%d", 2+n)), "q", 0, "a")
		}
		p := policy(estimate.BranchesTogether)
		alone := p.Of(a)
		w.To(2)
		first := w.Ready(a, 0, "read", 3000, "1")
		w.To(22)
		w.Done(a, first, 60, 2)
		w.To(22 + c.took)
		w.Ready(a, 1, "map", 1000, "1")
		if got := p.Aiming(w.View(), a).Margin - alone.Margin; math.Abs(float64(got-c.want)) > 1e-9 {
			t.Errorf("%+v: aimed %v earlier", c, got)
		}
	}
}

// A stage says nothing of its driver while one that it waited for is not known to have ended.
func TestOfWhatADriversSlowdownIsNotKnown(t *testing.T) {
	w := ledgertest.New(t, "a")
	w.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := w.App("app-1", "p", 200, "a")
	w.To(2)
	w.Ready(a, 0, "read", 3000, "1")
	w.To(30)
	w.Ready(a, 1, "map", 1000, "1")
	if got := estimate.Slowdown(a); got != 0 {
		t.Errorf("the first stage has not ended: %v", got)
	}
}
