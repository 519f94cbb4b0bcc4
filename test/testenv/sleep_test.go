package testenv_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/test/testenv"
	"github.com/sparkpacer/pacer/units"
)

// awake is how many nodes take executors.
func awake(e *testenv.Env) (n int) {
	e.T.Helper()
	r, err := e.Ask(api.VerbNodes, api.ControlRequest{})
	if err != nil {
		e.T.Fatal(err)
	}
	for _, node := range r.Nodes {
		if node.State == "ready" {
			n++
		}
	}
	return n
}

// Four nodes of two cores, and an application of 192 core-seconds every two minutes, which is a fifth of the cores: two nodes at most are
// awake after five minutes. A newcomer that cannot be in time there wakes others and is. None is late, and no task is lost. The row
// "asleep" of the bench reads the last line.
func TestNodesSleepAtLowLoad(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		e.Planner = func(c *daemon.PlannerConfig) { c.Engine.Consolidate = placement.ConsolidateApply }
		e.StartPlanner()
		for n := range 4 {
			e.StartNode(testenv.NodeSpec{Name: fmt.Sprint("n", n+1), Cores: 2, Memory: 16 * units.GiB})
		}
		light, tight := testenv.Chain("light", 4, 48), testenv.Chain("tight", 2, 160)
		record(e, light)
		record(e, tight)
		light.Deadline, tight.Deadline = 600, 80
		var all []*testenv.Driver
		for _, rest := range []time.Duration{2 * time.Minute, 2 * time.Minute, time.Minute} {
			all = append(all, submit(e, light))
			e.Pass(rest)
		}
		after := awake(e)
		all = append(all, submit(e, tight))
		if n := awake(e); after > 2 || n <= after {
			t.Errorf("%d nodes are awake after five minutes, %d for a newcomer that needs more", after, n)
		}
		late, lost := 0, 0
		for _, d := range all {
			a := d.Wait()
			if a.State != api.AppFinished || a.ErrorPct == nil || *a.ErrorPct < 0 {
				late++
			}
			for _, s := range a.Stages {
				if s.Attempt > 0 || s.State != "done" {
					lost += s.Tasks
				}
			}
			for _, x := range a.Executors {
				if !slices.Contains([]string{"", "stopped", "exit status 0"}, x.Exit) {
					t.Errorf("executor %s of %s on %s: %s", x.ID, a.ID, x.Node, x.Exit)
				}
			}
		}
		if late > 0 || lost > 0 {
			t.Errorf("%d applications are late, %d tasks are lost", late, lost)
		}
		t.Logf("awake %d late %d lost %d", after, late, lost)
	})
}
