package bench

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/units"
)

// simulated measures what the simulator gives: the paper's tables under every law
// with five seeds, and how fast it is.
func simulated(t *testing.T, add adder) {
	for _, name := range []string{"table4", "skew", "profile"} {
		table, err := sim.Run(name, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range table.Cells {
			t.Logf("%s %s: %+.2f %% (%+.2f to %+.2f, %d of %d late), stages %.2f %%, %.1f cores, core-seconds %.2fx", c.Law, c.Case, c.Error,
				c.Least, c.Most, c.Late, len(c.Runs), c.StageError, c.MeanCores, c.CoreRatio)
			add(t, c.Figure, c.Error, "%")
		}
	}
	var speeds []float64
	for range 5 {
		speeds = append(speeds, eventsPerSecond(t))
	}
	t.Logf("events per second of CPU time: %s", spread(speeds))
	add(t, "sim.events_per_s", median(speeds), "1/s")
	add(t, "sim.hour_10k_s", hour(t), "s")
}

// hour is the CPU time that an hour of 10,000 nodes without applications takes,
// from two minutes of it.
func hour(t *testing.T) float64 {
	t.Helper()
	c := sim.Default()
	c.Nodes = nil
	for i := range 10_000 {
		c.Nodes = append(c.Nodes, sim.NodeSpec{Name: fmt.Sprintf("n%05d", i), Cores: 16})
	}
	w, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	began := cpuTime(t)
	if err := w.Pass(2 * time.Minute); err != nil {
		t.Fatal(err)
	}
	return 30 * (cpuTime(t) - began).Seconds()
}

// eventsPerSecond runs one workload of the paper at all cores and under a deadline,
// with the invariants on.
func eventsPerSecond(t *testing.T) float64 {
	t.Helper()
	w, err := sim.New(sim.Default())
	if err != nil {
		t.Fatal(err)
	}
	load, err := sim.FindWorkload("group-by")
	if err != nil {
		t.Fatal(err)
	}
	began := cpuTime(t)
	for _, deadline := range slices.Repeat([]float64{0, 180, 220}, 3) {
		load.App.Deadline = units.Seconds(deadline)
		if _, err := w.Submit(w.Now(), load.App); err != nil {
			t.Fatal(err)
		}
		if err := w.Run(); err != nil {
			t.Fatal(err)
		}
	}
	return float64(w.Events()) / (cpuTime(t) - began).Seconds()
}

// cpuTime is what this process has used of all cores: other programs of the
// machine have no part in it.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
