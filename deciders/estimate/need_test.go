package estimate_test

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// Stages of 60, 10 and 100 core-seconds, gaps of 5 s and a tail of 1 s. What the running one has used for what is done of
// it says what its rest takes, a tenth of the prediction counted in; while nothing is told as done the prediction does.
func TestWhatARunStillNeeds(t *testing.T) {
	for _, c := range []struct {
		done units.Fraction
		used units.Work
		rest float64
	}{
		{0, 0, 60}, {0, 20, 60}, {0.5, 30, 30}, {0.5, 15, (15 + 6) / 0.6 * 0.5}, {0.5, 60, 66 / 0.6 * 0.5}, {1, 50, 0},
	} {
		k := ledgertest.New(t, "a")
		k.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		a := k.App("app-1", "p", 100, "a")
		s := k.Ready(a, 0, "read", 3000, "1")
		k.To(20)
		says := ledgertest.Status("a", 2)
		says.Stages = []api.StageStatus{{App: a.ID, StageKey: s.Key(), Executor: "1", CPU: c.used, Progress: c.done}}
		k.Know(ledger.NodeSaid{Status: says})
		o := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}.Outlook(k.View())
		work, by := estimate.Need(a, o)
		if want := c.rest + 110; math.Abs(float64(work)-want) > 1e-3*want || by != 100-20-5-1 {
			t.Errorf("%+v: %v core-seconds in %v, want %v in 74", c, work, by, want)
		}
	}
}
