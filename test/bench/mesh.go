package main

import (
	"cmp"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/mesh"
	"github.com/sparkpacer/pacer/sim/mesh/hosts"
	"github.com/sparkpacer/pacer/sim/registry"
	"github.com/sparkpacer/pacer/test/benchline"
)

// meshSeeds is how often each cell is run, unless another number is asked for; the others are of meshWorld.
const (
	meshSeeds   = 5
	meshWorkers = 10_000
	meshJobs    = 5_000
	meshLoad    = 3
)

// meshRows are what one large world of each kind takes, in a process of its own, the experiments of the source, and
// nodes that sleep.
func meshRows(o trialOptions) []row {
	seeds := cmp.Or(o.runs, meshSeeds)
	// world measures one in a process of its own.
	world := func(child string) func(testing.TB, adder) {
		return func(t testing.TB, add adder) { add.all(alone(t, child)) }
	}
	rows := []row{
		{name: "hosts-world", minutes: 1, measure: world(hostsChild)},
		{name: "mesh-world", minutes: 0.5, measure: world(meshChild)},
		{name: "asleep", minutes: 1, measure: asleep},
		experiments(row{name: "glap", minutes: 15}, seeds, "glap"),
		{name: "repro-004", minutes: 30, measure: claimed(1, "004")},
	}
	for _, name := range experiment.Taking(registry.Experiments(), experiment.Jobs) {
		rows = append(rows, experiments(row{name: name, minutes: 7}, seeds, name))
	}
	return rows
}

// hostsWorld is one of 2,000 machines with 8,000 VMs.
func hostsWorld(t testing.TB) []figure {
	c := hosts.Default(2000, 4, hosts.GLAP, 1)
	c.Stop = t.Context().Done()
	return taken(t, "hosts", func() error {
		_, err := hosts.Run(c)
		return err
	})
}

// meshWorld is one of 10,000 workers.
func meshWorld(t testing.TB) []figure {
	c, jobs := mesh.Default(meshWorkers), mesh.Shapes()[0].Trace(meshJobs, 1)
	c.Seed, c.Stop = 1, t.Context().Done()
	mesh.Arrive(jobs, meshWorkers, meshLoad, mesh.ByJobs, 1)
	return taken(t, "mesh", func() error {
		_, err := mesh.Run("peacock", c, jobs)
		return err
	})
}

// taken are the CPU time of a run and the most memory that its process, which does nothing else, has had.
func taken(t testing.TB, name string, run func() error) []figure {
	t.Helper()
	began := cpuTime(t)
	if err := run(); err != nil {
		t.Fatal(err)
	}
	spent := cpuTime(t) - began
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return []figure{{name + ".run_s", benchline.One(spent.Seconds()), "s"},
		{name + ".rss_mib", benchline.One(float64(use.Maxrss) / 1024), "MiB"}}
}
