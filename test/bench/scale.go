package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/daemon"
)

// scaled measures a planner of 10,000 nodes and 1,000 applications on 40 nodes each
// (cluster), and registrations beside them, in a process of its own: a figure is resident memory.
func scaled(t testing.TB, add adder) {
	add.all(alone(t, scaleChild))
}

// alone runs a hidden command of this binary and returns the figures that it prints.
func alone(t testing.TB, command string) []figure {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, command)
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	var figures []figure
	if err := json.Unmarshal(out, &figures); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return figures
}

// scaleCluster is what alone runs for scaled.
func scaleCluster(t testing.TB) []figure {
	daemon.LimitPlannerMemory() // As the planner's daemon does.
	c := newCluster(t, clusterSize{scaleNodes, scaleApps, scaleSpread})
	c.join()
	for range scaleSeconds {
		c.second()
	}
	out := append(c.figures(), c.arrivals("register.scale", assign.Backfill)...)
	return append(out, c.arrivals("register.scale.flexible", assign.Flexible)...)
}
