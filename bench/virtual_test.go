package main

import (
	"strconv"
	"testing"

	"github.com/sparkpacer/pacer/internal/testenv"
)

// TestHalvedNode is tail in virtual time; the bound is that of the real one.
func TestHalvedNode(t *testing.T) {
	late := 0.0
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
		late = stageLate(d.Wait())
	})
	if late < -5 || late > 5 {
		t.Errorf("the stage ends %.2f %% of the deadline after its set point, want within 5", late)
	}
	t.Attr(halvedAttr, strconv.FormatFloat(late, 'f', 4, 64))
}
