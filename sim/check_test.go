package sim

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

// A node drains for its planner though `pacer nodes` shows first that another planner's
// executors run there.
func TestANodeDrainsThatShowsSomethingElse(t *testing.T) {
	w := must(t, trialConfig(1))
	a := w.byName["n1"]
	if w.check.drains(a) {
		t.Error("it drains from the beginning")
	}
	w.control.query(api.VerbDrain, api.ControlRequest{Node: "n1"})
	s := a.engine.Status(a.clock())
	s.Seq, s.Planner = s.Seq+1, "another"
	s.Executors = []api.ExecutorStatus{{App: "theirs", ID: "1", State: api.ExecutorRunning, Quota: api.Unknown}}
	w.control.step(planner.Status{Status: &s})
	r, _ := w.control.query(api.VerbNodes, api.ControlRequest{})
	if r.Nodes[0].State != "another's" || !w.check.drains(a) {
		t.Errorf("it is shown as %q, it drains: %v", r.Nodes[0].State, w.check.drains(a))
	}
}
