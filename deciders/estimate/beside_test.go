package estimate_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// Beside others a driver that takes longer between stages than it did is aimed earlier by what
// that will come to: gaps of 2 and 3 s are recorded, a tail of 1 s and no exit. Who has a driver
// as recorded is aimed as alone, however many the others are.
func TestADriverThatIsSlowerBesideOthers(t *testing.T) {
	for _, c := range []struct {
		took   units.Seconds // From the first stage to the second.
		others int
		want   units.Seconds
	}{
		{took: 2, others: 1, want: 0},
		{took: 2.5, others: 1, want: 0.25 * (3 + 1)},
		{took: 1.5, others: 3, want: 0},
		{took: 8, others: 1, want: 0.5 * (3 + 1)},
		{took: 2.5, others: 0, want: 0},
	} {
		w := ledgertest.New(t, "a")
		w.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		a := w.App("app-1", "p", 200, "a")
		for n := range c.others {
			w.App(api.AppID(fmt.Sprintf("app-%d", 2+n)), "q", 0, "a")
		}
		p := policy(estimate.BranchesTogether)
		alone := p.Outlook(w.View()).Of(a)
		w.To(2)
		first := w.Ready(a, 0, "read", 3000, "1")
		w.To(22)
		w.Done(a, first, 60, 2)
		w.To(22 + c.took)
		w.Ready(a, 1, "map", 1000, "1")
		if got := p.Outlook(w.View()).Aiming(a).Margin - alone.Margin; math.Abs(float64(got-c.want)) > 1e-9 {
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
	if got := policy(estimate.BranchesTogether).Slowdown(a); got != 0 {
		t.Errorf("the first stage has not ended: %v", got)
	}
}
