package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/testenv"
)

// The stage whose node loses half of its cores, a quarter of the way, ends near its set point.
func TestHalvedNode(t *testing.T) {
	late := 0.0 // Of the first stage, in per cent of the deadline.
	testenv.Run(t, func(e *testenv.Env) {
		e.StartPlanner()
		e.StartNode(testenv.NodeSpec{Name: "n1", Cores: 0.75})
		n2 := e.StartNode(testenv.NodeSpec{Name: "n2", Cores: 0.75})
		app := testenv.Chain("chain", 1, 60)
		app.Stages[0].Tasks = 120
		app.Deadline = e.Submit(app).Wait().Duration * 1.6
		d := e.Submit(app)
		e.Until("a quarter is done", func() bool { return progressed(e.App(d.ID())) > 0.25 })
		n2.Slow(0.5)
		ended := d.Wait()
		stage := ended.Stages[0]
		late = 100 * float64((stage.Duration-stage.Deadline)/ended.Deadline)
	})
	if late < -5 || late > 5 {
		t.Errorf("the stage ends %.2f %% of the deadline after its set point, want within 5", late)
	}
}

// progressed is the least progress of the first stage's executors, 0 until both are at work.
func progressed(a api.AppDetail) float64 {
	newest := map[api.ExecutorID]float64{}
	if len(a.Stages) > 0 {
		for _, sample := range a.Stages[0].Samples {
			newest[sample.Executor] = float64(sample.Progress)
		}
	}
	if len(newest) < 2 {
		return 0
	}
	return slices.Min(slices.Collect(maps.Values(newest)))
}
