package testenv_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/test/testenv"
	"github.com/sparkpacer/pacer/units"
)

// With 20 and 40 % more time than at all cores an application ends within
// 1.5 % of its deadline (the bias is absolute in part: these are short), never
// after it: with a last stage of a hundredth of the work, which is not held back
// and so 0.25 s earlier, with branches, and where
// all stages take 30 % more or less CPU time than the profile says.
func TestDeadlinesAreMetPrecisely(t *testing.T) {
	short := testenv.Chain("short end", 3, 40)
	short.Stages[2].Work, short.Stages[2].Tasks = 0.8, 4
	few := testenv.Chain("few tasks", 3, 30)
	few.Stages[1].Work, few.Stages[1].Tasks = 10, 1
	slow := testenv.Chain("slow", 3, 30)
	slow.Exit = 3
	for name, c := range map[string]struct {
		app   plant.App
		wrong units.Work
		most  float64
	}{
		"a long exit":        {slow, 1, 1.5},
		"a short last stage": {short, 1, 1.75}, "branches": {testenv.Fork("fork", 30), 1, 1.5}, "a stage of one task": {few, 1, 1.5},
		"more work": {testenv.Chain("more", 3, 30), 1.3, 1.5}, "less work": {testenv.Chain("less", 3, 30), 0.7, 1.5},
	} {
		for slack, factor := range map[string]units.Seconds{"+20 %": 1.2, "+40 %": 1.4} {
			t.Run(name+" "+slack, func(t *testing.T) {
				testenv.Run(t, func(e *testenv.Env) {
					one(e)
					// The profile is of a run with other work; the deadline of one with that of this run.
					full := record(e, c.app)
					app := c.app
					app.Stages = append([]plant.Stage(nil), app.Stages...)
					for i := range app.Stages {
						app.Stages[i].Work *= c.wrong
					}
					if c.wrong != 1 {
						other := app
						other.Name += " again"
						full = record(e, other)
					}
					app.Deadline = full * factor
					a := submit(e, app).Wait()
					if a.EndedBy != api.EndedByLastWord {
						t.Errorf("its end is taken from %q", a.EndedBy)
					}
					if a.ErrorPct == nil || *a.ErrorPct < 0 || *a.ErrorPct > c.most {
						t.Errorf("it is %s, error %v of %v", a.State, a.ErrorPct, a.Deadline)
					}
				})
			})
		}
	}
}
