package fluid_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/fluid"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// What the twins have in common: a cluster of four nodes that hold one executor each, which is a unit.
const (
	twinNodes = 4
	twinCores = 4
	twinJobs  = 40
)

// twinTrace is 40 applications: a fifth rigid, a fifth people's, the rest elastic.
func twinTrace(seed uint64) []assign.Job {
	r := des.Random(seed, "twin")
	var at units.Instant
	jobs := make([]assign.Job, twinJobs)
	for i := range jobs {
		j := assign.Job{ID: fmt.Sprintf("app-%02d", i), Arrival: at, Unit: assign.Amount{Cores: 1}, Core: 1 + r.IntN(2)}
		j.Elastic = r.IntN(twinNodes - j.Core + 1)
		j.Time = units.Seconds(400 + 800*r.Float64())
		switch i % 5 {
		case 0:
			j.Core, j.Elastic = 1+r.IntN(3), 0
		case 1:
			// On the engines units are taken back for those that wait alone, so these ask for no elastic ones.
			j.Priority, j.Core, j.Elastic, j.Time = 2, 1, 0, j.Time/4
		}
		jobs[i] = j
		at = at.Add(units.Seconds(400 * r.ExpFloat64()).Duration())
	}
	return jobs
}

// ran is what a twin did, in seconds: when each application started, and how long it was there.
type ran struct {
	starts, turnaround map[string]float64
}

// twinEngines runs jobs on the engines of planner and nodes.
func twinEngines(t *testing.T, p assign.Policy, jobs []assign.Job) ran {
	t.Helper()
	c := sim.Default()
	c.Nodes = nil
	for i := range twinNodes {
		c.Nodes = append(c.Nodes, sim.NodeSpec{Name: fmt.Sprintf("n%d", i+1), Cores: twinCores, Memory: 3 * units.GiB})
	}
	c.Planner.Queue = api.QueuePolicy{Rule: p.Rule, Order: p.Order, Size: p.Size}
	c.Plant = plant.Config{Start: 1, Page: c.Plant.Page}
	w, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	drivers := make([]*sim.Driver, len(jobs))
	for i, j := range jobs {
		a := plant.App{Name: j.ID, Nodes: api.NodeRange{Least: j.Core, Most: j.Core + j.Elastic},
			Memory: plant.Memory{Heap: 2 * units.GiB}}
		if j.Priority == 2 {
			a.Class = api.ClassInteractive
		}
		work := units.Work(j.Time) * units.Work(j.Core+j.Elastic) * twinCores
		stages := max(1, int(work/300))
		for k := range stages {
			s := plant.Stage{Tasks: 240, Work: work / units.Work(stages), Records: 1_000_000}
			if k > 0 {
				s.Parents = []int{k - 1}
			}
			a.Stages = append(a.Stages, s)
		}
		if drivers[i], err = w.Submit(units.Seconds(j.Arrival.Sub(0).Seconds()), a); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Run(); err != nil {
		t.Fatal(err)
	}
	out := ran{make(map[string]float64), make(map[string]float64)}
	for i, d := range drivers {
		o, err := d.Outcome()
		if err != nil {
			t.Fatal(err)
		}
		out.turnaround[jobs[i].ID] = float64(o.Duration)
		out.starts[jobs[i].ID] = jobs[i].Arrival.Sub(0).Seconds() + float64(o.Waited)
	}
	return out
}

// twinFluid runs them as work.
func twinFluid(t *testing.T, p assign.Policy, jobs []assign.Job) ran {
	t.Helper()
	o, err := fluid.Simulate(fluid.Config{Total: assign.Amount{Cores: twinNodes}, Policy: p}, jobs)
	if err != nil {
		t.Fatal(err)
	}
	out := ran{make(map[string]float64), make(map[string]float64)}
	for _, d := range o.Jobs {
		out.starts[d.ID], out.turnaround[d.ID] = des.Seconds(0, d.Began), d.Turnaround()
	}
	return out
}

// The fluid simulator and the engines of planner and nodes say the same of 40 applications under each rule: the same
// order of starts, and turnarounds within 5 % in the median and 20 % each.
func TestTwins(t *testing.T) {
	for _, rule := range assign.Rules() {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			jobs, p := twinTrace(1), assign.Policy{Rule: rule, Order: assign.FIFO}
			for i := range jobs { // Under it one that waits has memory kept of one node alone.
				if rule == assign.Backfill {
					jobs[i].Core, jobs[i].Elastic = 1, jobs[i].Elastic+jobs[i].Core-1
				}
			}
			engines, work := twinEngines(t, p, jobs), twinFluid(t, p, jobs)
			slices.SortFunc(jobs, func(a, b assign.Job) int { return cmp.Compare(engines.starts[a.ID], engines.starts[b.ID]) })
			for i := 1; i < len(jobs); i++ { // Those that start at once may come in any order.
				if a, b := jobs[i-1].ID, jobs[i].ID; work.starts[a] > work.starts[b]+1e-6 {
					t.Errorf("on the engines %s starts before %s, as work %.1f s after it", a, b, work.starts[a]-work.starts[b])
				}
			}
			var off []float64
			for _, j := range jobs {
				e, f := engines.turnaround[j.ID], work.turnaround[j.ID]
				off = append(off, math.Abs(e/f-1))
				if math.Abs(e/f-1) > 0.2 {
					t.Errorf("%s: %.0f s on the engines, %.0f s as work: %v", j.ID, e, f, j)
				}
			}
			slices.Sort(off)
			if m := (off[19] + off[20]) / 2; m > 0.05 {
				t.Errorf("the median is %.1f %% off", 100*m)
			} else {
				t.Logf("the median is %.1f %% off, most %.1f %%", 100*m, 100*off[39])
			}
		})
	}
}
