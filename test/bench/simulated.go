package main

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/paper"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/units"
)

// speed measures how fast the simulator is, and a control law's step.
func speed(t testing.TB, add adder) {
	controllerStep(t, add)
	var speeds []float64
	for range 5 {
		speeds = append(speeds, eventsPerSecond(t))
	}
	add("sim.events_per_s", benchline.Median(speeds), "1/s")
	add("sim.hour_10k_s", benchline.One(hour(t)), "s")
}

// The simulator at scale: how many paced applications run all the time, on how many
// of the nodes each, and how much of the hour is measured.
const (
	hourNodes  = 10_000
	hourApps   = 20
	hourSpread = 40
	hourSlice  = 2 * time.Minute
)

// hour is the CPU time that an hour of 10,000 nodes takes with 20 paced
// applications on 40 nodes each and the invariants on, from two minutes of it in
// which all of them run.
func hour(t testing.TB) float64 {
	t.Helper()
	app, profile := hourApp(t)
	w := hourWorld(t, hourNodes)
	if err := w.PutProfile(profile); err != nil {
		t.Fatal(err)
	}
	for range hourApps {
		if _, err := w.Submit(w.Now(), app); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Pass(30 * time.Second); err != nil { // Until all are in their first stage.
		t.Fatal(err)
	}
	began, before := cpuTime(t), w.Events()
	if err := w.Pass(hourSlice); err != nil {
		t.Fatal(err)
	}
	used := cpuTime(t) - began
	for _, a := range w.Apps() {
		if a.State != api.AppRunning || a.Pacing != "paced" {
			t.Errorf("application %s is %s and %s after the measurement, want running and paced", a.ID, a.State, a.Pacing)
		}
	}
	t.Logf("%v of %d nodes and %d applications: %v, %d events", hourSlice, hourNodes, hourApps, used, w.Events()-before)
	return float64(time.Hour/hourSlice) * used.Seconds()
}

// hourWorld has nodes of 16 cores, of which an application gets 40.
func hourWorld(t testing.TB, nodes int) *sim.World {
	t.Helper()
	c := sim.Default()
	c.Planner.MaxNodes, c.Nodes = hourSpread, nil
	for i := range nodes {
		c.Nodes = append(c.Nodes, sim.NodeSpec{Name: fmt.Sprintf("n%05d", i), Cores: 16})
	}
	w, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// hourApp is the source's group-by, with as many times the work as the applications
// here have more cores, under a deadline that lets it outlast the measurement, and
// the profile of its run at all cores.
func hourApp(t testing.TB) (plant.App, api.Profile) {
	t.Helper()
	app, err := paper.FindWorkload("group-by")
	if err != nil {
		t.Fatal(err)
	}
	app.Stages = slices.Clone(app.Stages)
	for i := range app.Stages {
		app.Stages[i].Work *= hourSpread * 16 / 64
	}
	w := hourWorld(t, hourSpread)
	if _, err := w.Submit(w.Now(), app); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(); err != nil {
		t.Fatal(err)
	}
	profile, ok := w.Profile(app.Name)
	if !ok {
		t.Fatal("the run at all cores has left no profile")
	}
	app.Deadline = 240
	return app, profile
}

// eventsPerSecond runs one workload of the paper at all cores and under a deadline,
// with the invariants on.
func eventsPerSecond(t testing.TB) float64 {
	t.Helper()
	w, err := sim.New(sim.Default())
	if err != nil {
		t.Fatal(err)
	}
	load, err := paper.FindWorkload("group-by")
	if err != nil {
		t.Fatal(err)
	}
	began := cpuTime(t)
	for _, deadline := range slices.Repeat([]float64{0, 180, 220}, 3) {
		load.Deadline = units.Seconds(deadline)
		if _, err := w.Submit(w.Now(), load); err != nil {
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
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
