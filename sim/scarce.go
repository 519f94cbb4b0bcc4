package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/memory/forecast"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// scarceMishaps are what happens where memory is short: all of mishaps, and what moves memory.
func scarceMishaps() []mishap {
	return append(mishaps(),
		mishap{fault: "wishes-unread", mend: "wishes-read", least: 1, most: leastOutage},
		mishap{fault: "memory", mend: "memory", least: 1, most: leastOutage,
			size: func(r *rand.Rand, a *agent) float64 { return float64(a.cfg.Memory) * (0.3 + 0.7*r.Float64()) },
			back: func(_ *rand.Rand, a *agent) float64 { return float64(a.cfg.Memory) }},
		mishap{fault: "planner-down", mend: "planner-up", least: 0.01, most: 10},
		mishap{fault: "planner-lost", mend: "planner-up", least: 0.01, most: 10})
}

// What there is of memory where it is short: each node holds one executor of any application,
// and few hold more than three.
const (
	leastScarce = 4608 * units.MiB
	mostScarce  = 10 * units.GiB
)

// scarceApp is an application whose executors have a heap, and what they keep off it. It takes
// a fourth of what trialApp does, under the names of others.
func scarceApp(r *rand.Rand) plant.App {
	a := trialApp([]string{"small", "new", "other"}[r.IntN(3)])
	for i := range a.Stages {
		a.Stages[i].Work /= 4
		a.Stages[i].Tasks /= 2
	}
	of := func(least, most units.Bytes) units.Bytes { return least + units.Bytes(r.Int64N(int64(most-least))) }
	a.Memory = plant.Memory{Heap: of(units.GiB/2, 5*units.GiB/2), Floor: of(0, units.GiB), Blocks: of(0, 4*units.GiB),
		Task: of(0, units.GiB/8), Weight: float64(r.IntN(4))}
	switch r.IntN(6) {
	case 0:
		a.Memory.Foreign = true
	case 1:
		a.Memory.Floor, a.Memory.OffHeap = 0, of(units.GiB/8, units.GiB)
	}
	return a
}

// givesLess reports whether a node gives less memory now than at the beginning.
func givesLess(agents []*agent) bool {
	return slices.ContainsFunc(agents, func(a *agent) bool { return a.cfg.Memory < a.full })
}

// scarceTrial is Trial where more applications come than the nodes' memory holds, what is off
// their heaps moves, users end some of them, and a node may lose its power for good. rule, where it is not
// nil, draws how the queue is served, and what applications ask for by which the rules differ; admission and late go by
// the seed. lend, where it is not nil, draws by which forecast memory is lent, which applications are batch work, and
// what all use of their heaps.
func scarceTrial(seed uint64, rule, lend *rand.Rand) error {
	r := des.Random(seed, "scarce")
	c := trialConfig(seed)
	if rule != nil {
		of := func(names []string) string { return names[rule.IntN(len(names))] }
		c.Planner.Queue = api.QueuePolicy{Rule: of(assign.Rules()), Order: of(assign.Orders()), Size: of(assign.Sizes()),
			Admission: assign.Admissions()[seed/4%3], Late: assign.Lates()[seed/2%2]}
	}
	if lend != nil {
		c.Planner.Lend.By = forecast.Names()[lend.IntN(len(forecast.Names()))]
		c.Planner.Lend.Every = 2*time.Second + time.Duration(lend.Int64N(int64(10*time.Second)))
	}
	for i := range c.Nodes {
		c.Nodes[i].Memory = leastScarce + units.Bytes(r.Int64N(int64(mostScarce-leastScarce)))
	}
	w, err := trialWorld(c)
	if err != nil {
		return err
	}
	start := w.Now()
	until := start + 1200
	for range 6 + r.IntN(6) {
		a := scarceApp(r)
		if r.IntN(4) > 0 {
			a.Deadline = units.Seconds(200 + 1500*r.Float64())
		}
		if rule != nil {
			a.Nodes.Most = rule.IntN(len(c.Nodes) + 1)
			a.Nodes.Least = rule.IntN(min(a.Nodes.Most, 2) + 1)
			a.Class = []api.Class{api.ClassInteractive, api.ClassDeadline, api.ClassBatch}[rule.IntN(3)]
		}
		if lend != nil {
			if a.Memory.Touched = units.Bytes(float64(a.Memory.Heap) * lend.Float64()); lend.IntN(2) == 0 {
				a.Class, a.Deadline = api.ClassBatch, 0
			}
		}
		at := start + units.Seconds(400*r.Float64())
		d, err := w.Submit(at, a)
		if err != nil {
			return err
		}
		if r.IntN(8) == 0 {
			w.Kill(at+units.Seconds(400*r.Float64()), d)
		}
	}
	if r.IntN(3) == 0 {
		err := w.Fault(start+units.Seconds(900*r.Float64()), "node-lost", fmt.Sprintf("n%d", 1+r.IntN(len(c.Nodes))), 0)
		if err != nil {
			return err
		}
	}
	if err := w.rain(scarceMishaps(), units.Seconds(15+30*r.Float64()), until); err != nil {
		return err
	}
	for _, n := range c.Nodes { // A planner that was down has not heard it.
		if err := w.Fault(until+mostOutage+1, "undrain", n.Name, 0); err != nil {
			return err
		}
	}
	return w.toTheEnd()
}
