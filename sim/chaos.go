package sim

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// RunChaos runs seven applications, six of them with deadlines and some at once, in a world
// with a bad network on which faults rain (World.Chaos), all by a seed; where cores are reserved for
// new ones three of them are new. Its error names what has broken: an invariant (World.Run), or an
// application that does not end. history, where it is not nil, gets what package replay reads.
// Worlds may run side by side.
func RunChaos(seed uint64, history io.Writer) error {
	_, err := rained(seed, history)
	return err
}

// rained is the world that RunChaos runs, at its end. also is told of it when faults are about to rain.
func rained(seed uint64, history io.Writer, also ...func(*World)) (*World, error) {
	c := Default()
	c.Seed, c.Restarts, c.Limit, c.History = seed, true, 2*time.Hour, history
	if seed%2 == 1 {
		var err error
		if c, err = WithLaw(c, "pi"); err != nil {
			return nil, err
		}
	}
	if some := assign.Admissions()[1:]; seed%5 < uint64(len(some)) {
		c.Planner.Queue.Admission = some[seed%5]
	}
	c.Net = des.Delays{Delay: time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05, Duplicate: 0.05, Reorder: true}
	if seed%3 == 1 {
		c.Nodes = narrow(c.Nodes)
	}
	w, err := New(c)
	if err != nil {
		return nil, err
	}
	recorded := plant.App{Name: "app", Head: 3, Tail: 0.3}
	for i := range 3 {
		s := plant.Stage{Tasks: 200, Work: 1000, Records: 1_000_000, Written: 1_000_000, Gap: 0.1}
		if i > 0 {
			s.Parents = []int{i - 1}
		}
		recorded.Stages = append(recorded.Stages, s)
	}
	if seed%3 == 1 {
		recorded.Memory = crowded()
	}
	d, err := w.Submit(w.Now(), recorded)
	if err == nil {
		err = w.Run()
	}
	if err != nil {
		return nil, fmt.Errorf("seed %d: the run that is recorded: %w", seed, err)
	}
	alone := d.Result().Duration
	for i := range 3 {
		for _, factor := range []units.Seconds{1.4, 3} {
			a := recorded
			a.Deadline = alone * factor
			if factor > 2 && c.Planner.Queue.Admission != assign.Open {
				a.Name = fmt.Sprintf("new-%d", i) // Nobody can foresee whether it is in time.
			}
			if _, err := w.Submit(w.Now()+units.Seconds(10*i), a); err != nil {
				return nil, fmt.Errorf("seed %d: %w", seed, err)
			}
		}
	}
	if err := w.Chaos(8, w.Now()+300); err != nil {
		return nil, fmt.Errorf("seed %d: %w", seed, err)
	}
	for _, tell := range also {
		tell(w)
	}
	if err := w.Run(); err != nil {
		return nil, fmt.Errorf("seed %d: %w", seed, err)
	}
	return w, nil
}

// Chaos has faults happen at random, on average one every so often, each mended
// after a while: what deadlines have to survive. At least one node stays
// untouched by what cannot be mended.
func (w *World) Chaos(mean, until units.Seconds) error {
	r := des.Random(w.cfg.Seed, "chaos")
	pairs := [][2]string{{"planner-down", "planner-up"}, {"controller-down", "controller-up"}, {"executor-lost", ""},
		{"link-cut", "link-up"},
		{"quotas-refused", "quotas-taken"}, {faultOthers, faultOthers}, {"pages-frozen", "pages-thawed"},
		{"samples-garbled", "samples-mended"}, {"speed", "speed"}, {"drain", "undrain"}}
	if slices.ContainsFunc(w.drivers, func(d *Driver) bool { return d.spark.App.Memory.Heap > 0 }) {
		pairs = append(pairs, [2]string{"wishes-unread", "wishes-read"}, [2]string{"memory", "memory"})
	}
	for at := float64(w.Now()); ; {
		at += r.ExpFloat64() * float64(mean)
		if at > float64(until) {
			return nil
		}
		p := pairs[r.IntN(len(pairs))]
		a := w.agents[r.IntN(len(w.agents))]
		size, back := r.Float64()*a.m.Cores/2, float64(0)
		switch p[0] {
		case "speed":
			size, back = 0.5+r.Float64(), a.m.Speed
		case "memory":
			size, back = float64(a.cfg.Memory)*(0.4+0.6*r.Float64()), float64(a.cfg.Memory)
		}
		if err := w.Fault(units.Seconds(at), p[0], a.m.Name, size); err != nil {
			return err
		}
		if p[1] == "" {
			continue
		}
		if err := w.Fault(units.Seconds(at+1+10*r.Float64()), p[1], a.m.Name, back); err != nil {
			return err
		}
	}
}

// crowded is the memory of applications of which nodes that are narrow hold three at most.
func crowded() plant.Memory {
	return plant.Memory{Heap: 2 * units.GiB, Floor: 512 * units.MiB, Blocks: 2 * units.GiB, Task: 48 * units.MiB}
}

// narrow are the nodes with little memory.
func narrow(nodes []NodeSpec) []NodeSpec {
	nodes = slices.Clone(nodes)
	for i := range nodes {
		nodes[i].Memory = 12 * units.GiB
	}
	return nodes
}
