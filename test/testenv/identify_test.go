package testenv_test

import (
	"math"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/test/testenv"
	"github.com/sparkpacer/pacer/units"
)

// A step response on a running stage: its executor is held at two levels, one after
// the other, the fit of the samples gives the stage's work, and the law makes up
// for it, so that the deadline is met.
func TestAStepResponseIdentifiesAStageAndCostsNoDeadline(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		app := testenv.Chain("chain", 2, 60)
		app.Deadline = record(e, app) * 1.4
		d := submit(e, app)
		if _, err := e.Ask(api.VerbStep, api.ControlRequest{App: d.ID(), Step: &api.Step{Stage: -1, Low: 0.6, High: 1.2, Each: 8}}); err == nil {
			t.Error("a stage that does not run was stepped")
		}
		x := underQuota(e, n, d)
		e.Pass(3 * time.Second)
		reply, err := e.Ask(api.VerbStep, api.ControlRequest{App: d.ID(), Step: &api.Step{Stage: -1, Low: 0.6, High: 1.2, Each: 8}})
		if err != nil {
			t.Fatal(err)
		}
		e.Pass(time.Second)
		low := n.Quota(d.ID(), x)
		if _, err := e.Ask(api.VerbStep, api.ControlRequest{App: d.ID(), Step: &api.Step{Stage: -1, Low: 0.6, High: 1.2, Each: 8}}); api.KindOf(err) != api.KindConflict {
			t.Errorf("a second step at once: %v", err)
		}
		e.Pass(8 * time.Second)
		if high := n.Quota(d.ID(), x); math.Abs(float64(high/low)-1.2/0.6) > 0.2 {
			t.Errorf("quotas %v and %v, want a step of 1.2/0.6", low, high)
		}
		e.Pass(9 * time.Second)
		var points []controller.Response
		var before units.Cores
		for _, s := range e.App(d.ID()).Stages[0].Samples {
			if before > 0 && s.At >= reply.Step.At && s.At <= reply.Step.At+16 {
				points = append(points, controller.Response{At: s.At, Cores: before, Done: float64(s.Progress)})
			}
			before = s.Grant
		}
		plant, err := controller.Identify(points, 500*time.Millisecond)
		if err != nil || math.Abs(1/plant.Gain-60) > 5 || plant.P > 0.3 {
			t.Errorf("%+v, %v, of %d points, want a gain of 1/60", plant, err, len(points))
		}
		wantPaced(t, d.Wait())
	})
}
