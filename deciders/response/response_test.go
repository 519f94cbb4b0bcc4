package response_test

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/response"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// A stage is held at two levels, one after the other, and then no more; one that has ended is held no more either. What
// cannot be is refused.
func TestTwoLevels(t *testing.T) {
	for _, ends := range []bool{false, true} {
		c := ledgertest.New(t, "a")
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		a := c.App("app-1", "p", 100, "a")
		s := c.Ready(a, 1, "read", 1000, "1")
		of := ledger.OfApp{App: a.ID}
		c.Know(response.Began{OfApp: of, Stage: s.Key(), Step: api.Step{Low: 0.5, High: 1.5, Each: 4},
			Base: map[api.ExecutorID]units.Cores{"1": 2}})
		if !response.UnderWay(a) || !a.Held() || !response.Holds(a, s.Key()) || len(response.Move(c.View(), a)) > 0 {
			t.Error("it is not under way, or moves at once")
		}
		if ends {
			if c.Done(a, s, 1, 1); response.UnderWay(a) || a.Held() {
				t.Error("a stage that has ended is held")
			}
			continue
		}
		for _, level := range []int{2, 0} {
			c.Pass(4 * time.Second)
			moves := response.Move(c.View(), a)
			if len(moves) != 1 || moves[0].(response.Moved).Level != level {
				t.Fatalf("%+v, want level %d", moves, level)
			}
			c.Know(moves[0])
		}
		if response.UnderWay(a) || a.Held() || len(response.Move(c.View(), a)) > 0 {
			t.Error("it is not over")
		}
		for name, s := range map[string]response.State{"nothing": {}, "one": {Stages: []response.Held{{Stage: s.Key(), Level: 1}}}} {
			had, stage := s, api.StageKey{Stage: 1}
			if (response.Moved{OfApp: of, Stage: stage, Level: 3}).Apply(c.View(), a, &s) == nil ||
				(response.Began{OfApp: of, Stage: api.StageKey{Stage: 7}}).Apply(c.View(), a, &s) == nil || len(s.Stages) != len(had.Stages) {
				t.Errorf("of %s what cannot be is taken", name)
			}
		}
	}
}
