package planner_test

import (
	"testing"
	"time"
)

// What an application says of its tasks' cores goes into its profile, and to the nodes with each target.
func TestTheCoresOfATaskAreToldAndKept(t *testing.T) {
	for cpus, want := range map[float64]float64{0: 0, 1: 0, 2: 2} {
		w := newWorld(t, "a")
		r := registration("p", 0)
		r.Launch.TaskCPUs = cpus
		w.run(r, "read", "map", "sum")
		w.pass(2 * time.Second)
		if p := w.stored("p"); p == nil || float64(p.Stages[1].TaskCores) != want {
			t.Errorf("%v cores for each task: profile %+v", cpus, p)
		}
		next := registration("p", 100)
		next.Submission = "the next"
		id := w.mustRegister(next).AppID
		w.tell(id, next.Submission, ready(4, 0, "read", 1000, "1"))
		if got := float64(w.target(id, 0, "1").TaskCores); got != want {
			t.Errorf("%v cores for each task: the target has %v", cpus, got)
		}
		if got := w.plans["a"].Apps[0].Launch.TaskCPUs; got != 0 {
			t.Errorf("a run that says nothing has %v", got)
		}
	}
}
