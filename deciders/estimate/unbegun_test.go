package estimate_test

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// What waits has all of its profile before it, as what runs and has not begun: it has been promised the same cores of
// the same nodes, whatever time it is.
func TestWhatWaitsNeedsWhatTheSameNeedsThatHasNotBegun(t *testing.T) {
	for _, body := range []api.Profile{ledgertest.Chain("p"), ledgertest.Diamond("p")} {
		body.Stages[0].Gap = 3
		c := ledgertest.New(t, "a", "b")
		c.Know(ledger.ProfileSaved{Body: body})
		runs := c.App("app-1", "p", 200, "a", "b")
		c.Know(ledger.Registered{ID: "app-2", Name: "p", Serial: c.View().Serial() + 1, Matched: true,
			Tenant:  ledger.Tenant{Submission: "of app-2", Launch: api.Launch{DriverURL: "spark://driver@h:1", Heap: units.GiB}},
			Promise: ledger.Promise{Profile: "p", Start: runs.Promise.Start, Deadline: 200, Mode: ledger.Paced},
			Queued:  true})
		waits := c.View().App("app-2")
		for _, at := range []units.Seconds{0, 20, 100, 199, 300} {
			c.To(at)
			o := policy(estimate.BranchesTogether).Outlook(c.View())
			if want, got := float64(o.Least(runs)), float64(o.Least(waits)); math.Abs(want-got) > 1e-9*want {
				t.Errorf("after %v s it needs %v cores, the same that runs %v", at, got, want)
			}
		}
	}
}
