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

// A run with three times the input is judged by how the work of each of its stages has grown in earlier runs: of the
// one that runs, and of those to come, which read what that hands on.
func TestTheFirstLookGoesByHowWorkGrows(t *testing.T) {
	for _, c := range []struct {
		power       float64
		runs, comes units.Work
	}{{1, 180, 300}, {0, 60, 100}, {2, 540, 900}} {
		w := ledgertest.New(t, "a", "b")
		body := ledgertest.Chain("p")
		grows := api.Growth{Power: c.power, Doubt: 0.05, Runs: 2}
		body.Habit.Stages = map[int]api.StageHabit{0: {Growth: grows}, 2: {Growth: grows}}
		w.Know(ledger.ProfileSaved{Body: body})
		a := w.App("app-1", "p", 400, "a", "b")
		w.To(2)
		s := w.Ready(a, 1, "read", 9000, "1", "2")
		annotation, _ := a.Profile.Annotated(s)
		if got := estimate.Predict(a, annotation, s).Work; math.Abs(float64(got-c.runs)) > 1 {
			t.Errorf("power %v: the running stage is to take %v core-seconds, want %v", c.power, got, c.runs)
		}
		course := policy(estimate.BranchesTogether).Outlook(w.View()).Course(a)
		last, _ := course.Graph.Stage(2)
		if got := units.Work(float64(last.Records) / float64(last.NominalRate)); math.Abs(float64(got-c.comes)) > 1 {
			t.Errorf("power %v: the last stage is to take %v core-seconds, want %v", c.power, got, c.comes)
		}
		if middle, _ := course.Graph.Stage(1); middle.Records != 3000 {
			t.Errorf("power %v: what has shown nothing grows with its size, not to %d records", c.power, middle.Records)
		}
	}
}
