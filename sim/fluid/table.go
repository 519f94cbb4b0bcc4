package fluid

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/assign"
)

// Box is how values are spread: what 5, 25, 50, 75 and 95 per cent of them are below.
type Box [5]float64

func boxOf(values []float64) (b Box) {
	slices.Sort(values)
	for i, q := range []float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		if len(values) > 0 {
			b[i] = values[int(math.Round(q*float64(len(values)-1)))]
		}
	}
	return b
}

// Run is what one trace gave in one case.
type Run struct {
	// Turnaround is the mean, in seconds.
	Turnaround float64 `json:"mean_turnaround_s"`
	Mean       Level   `json:"mean"`
	Refused    int     `json:"refused"`
	// Boxes are by name: turnaround, wait (seconds) and slowdown, of all jobs and, as in "wait elastic", of a kind; and
	// the parts and numbers of Level.
	Boxes map[string]Box `json:"boxes"`
}

func runOf(out Outcome) Run {
	r := Run{Mean: out.Mean, Refused: out.Refused, Boxes: map[string]Box{}}
	values := map[string][]float64{}
	add := func(name string, v float64) { values[name] = append(values[name], v) }
	for _, d := range out.Jobs {
		r.Turnaround += d.Turnaround() / float64(len(out.Jobs))
		for _, of := range []string{"", " " + string(d.Kind)} {
			add("turnaround"+of, d.Turnaround())
			add("wait"+of, d.Wait())
			add("slowdown"+of, d.Slowdown())
		}
	}
	for _, l := range out.Levels {
		add("cores", 100*l.Cores)
		add("memory", 100*l.Memory)
		add("pending", l.Pending)
		add("running", l.Running)
	}
	for name, v := range values {
		r.Boxes[name] = boxOf(v)
	}
	return r
}

// Cell is a case, which is an order and a rule, over its seeds.
type Cell struct {
	Case string `json:"case"`
	Runs []Run  `json:"runs"`
	// Source is what the source has of it (Table 3.1): mean turnaround in s, per cent of cores and of memory.
	Source *[3]float64 `json:"source,omitempty"`
	policy assign.Policy
	trace  int // Which of an experiment's traces.
}

// mean is the mean of a value of the runs.
func (c Cell) mean(of func(Run) float64) float64 {
	mean, _, _ := Measure{Values: c.each(of)}.Spread()
	return mean
}

// Measure is what the source says in a number, and what was measured for each seed.
type Measure struct {
	Name   string    `json:"name"`
	Says   string    `json:"says"`
	Unit   string    `json:"unit"`
	Source float64   `json:"source"`
	Values []float64 `json:"values"`
}

// Table is an experiment's outcome. A measure is there where its cases are.
type Table struct {
	Title    string    `json:"title"`
	Cells    []Cell    `json:"cells"`
	Measures []Measure `json:"measures"`
}

// Options say how an experiment is run.
type Options struct {
	// Seeds is how many traces are drawn, Jobs how many jobs each has: if 0, 80,000 of pace and 20,000 of the others.
	Seeds, Jobs int
	// CPUs are the clusters of ReserveTables; Full takes as many jobs as their sources have.
	CPUs []int
	Full bool
	Only string          // Picks cases whose name contains it.
	Stop <-chan struct{} // Ends it early, with ErrStopped, when it is closed.
}

// cells are the cases: each order and rule of Figs 3.3 to 3.5 and Table 3.1, then those of Fig 3.9.
func cells() (all []Cell) {
	add := func(trace int, order string, rules ...string) {
		for _, rule := range rules {
			all = append(all, Cell{Case: order + " " + rule, trace: trace,
				policy: assign.Policy{Rule: rule, Order: order, Size: assign.ByTime}})
		}
	}
	add(0, assign.FIFO, assign.Rigid, assign.Malleable, assign.Flexible)
	add(0, assign.SJF, assign.Rigid, assign.Malleable, assign.Flexible)
	add(1, assign.SRPT, assign.Flexible, assign.FlexiblePreemptive)
	return all
}

// PaceTable is the name of the source's experiments.
const PaceTable = "pace"

// RunPace runs the source's experiments on traces of that pace (sections 3.3.2, 3.3.3 and 3.3.5).
func RunPace(o Options) (Table, error) {
	t := Table{Title: "Pace 3.3: jobs on 100 machines of 32 cores and 128 GB"}
	jobs := cmp.Or(o.Jobs, 80_000)
	err := t.run(o, o.Seeds, func(seed int) [][]assign.Job {
		return [][]assign.Job{Pace{Jobs: jobs, Seed: uint64(seed) + 1, Load: batchLoad}.Trace(),
			Pace{Jobs: jobs, Seed: uint64(seed) + 1, Load: peopleLoad, Interactive: interactivePart}.Trace()}
	})
	source := map[string]*[3]float64{"fifo malleable": {3.72e5, 75, 74}, "fifo flexible": {3.36e5, 77, 76},
		"sjf malleable": {6.14e4, 74, 72}, "sjf flexible": {5.13e4, 80, 78}}
	for i := range t.Cells {
		t.Cells[i].Source = source[t.Cells[i].Case]
	}
	t.measure()
	return t, err
}

// RunTrace runs the same cases on a trace.
func RunTrace(name string, jobs []assign.Job, o Options) (Table, error) {
	t := Table{Title: fmt.Sprintf("%s: %d jobs on 100 machines of 32 cores and 128 GB", name, len(jobs))}
	return t, t.run(o, 1, func(int) [][]assign.Job { return [][]assign.Job{jobs, jobs} })
}

func (t *Table) run(o Options, seeds int, traces func(seed int) [][]assign.Job) error {
	t.Cells = slices.DeleteFunc(cells(), func(c Cell) bool { return !strings.Contains(c.Case, o.Only) })
	for seed := range seeds {
		of := traces(seed)
		for i := range t.Cells {
			c := &t.Cells[i]
			out, err := Simulate(Config{Total: Machines, Policy: c.policy, Stop: o.Stop}, of[c.trace])
			if err != nil {
				return fmt.Errorf("%s: %w", c.Case, err)
			}
			c.Runs = append(c.Runs, runOf(out))
		}
	}
	return nil
}

func turnaround(r Run) float64 { return r.Turnaround }
func cores(r Run) float64      { return 100 * r.Mean.Cores }
func memory(r Run) float64     { return 100 * r.Mean.Memory }

// measure compares cases as the source does: the first one over or less the second.
func (t *Table) measure() {
	median := func(r Run) float64 { return r.Boxes["turnaround"][2] }
	add := func(name, says, unit string, source float64, of func(Run) float64, first, second string) {
		m := Measure{Name: name, Says: says, Unit: unit, Source: source}
		a, b := t.runs(first), t.runs(second)
		for i := range min(len(a), len(b)) {
			v := of(a[i])
			switch unit {
			case "ratio":
				v /= of(b[i])
			case "points":
				v -= of(b[i])
			}
			m.Values = append(m.Values, v)
		}
		if len(m.Values) > 0 {
			t.Measures = append(t.Measures, m)
		}
	}
	add("fifo.malleable.cpu_pct", "cores granted (fitted)", "%", 75, cores, "fifo malleable", "fifo malleable")
	add("fifo.malleable.memory_pct", "memory granted (fitted)", "%", 74, memory, "fifo malleable", "fifo malleable")
	for _, o := range []struct {
		order         string
		ratio, points float64
	}{{assign.FIFO, 0.90, 2}, {assign.SJF, 0.84, 6}} {
		rigid, malleable, flexible := o.order+" rigid", o.order+" malleable", o.order+" flexible"
		add(o.order+".flexible_malleable.mean_ratio", "mean turnaround", "ratio", o.ratio, turnaround, flexible, malleable)
		add(o.order+".flexible_malleable.cpu_points", "cores granted", "points", o.points, cores, flexible, malleable)
		add(o.order+".flexible_malleable.memory_points", "memory granted", "points", o.points, memory, flexible, malleable)
		add(o.order+".flexible_rigid.median_ratio", "median turnaround", "ratio", 0.5, median, flexible, rigid)
		add(o.order+".flexible_rigid.cpu_ratio", "cores granted", "ratio", 1.2, cores, flexible, rigid)
		add(o.order+".flexible_rigid.memory_ratio", "memory granted", "ratio", 1.2, memory, flexible, rigid)
	}
	pending := func(r Run) float64 { return r.Mean.Pending }
	add("fifo_sjf.pending_ratio", "jobs that wait", "ratio", 10, pending, "fifo flexible", "sjf flexible")
	waits := func(r Run) float64 { return max(1, r.Boxes["wait interactive"][2]) } // Less than a second counts as one.
	add("preempted.wait_ratio", "median wait of the interactive", "ratio", 100, waits,
		"srpt flexible", "srpt flexible-preemptive")
}

// runs are those of a case, none where it is not there.
func (t *Table) runs(name string) []Run {
	for _, c := range t.Cells {
		if c.Case == name {
			return c.Runs
		}
	}
	return nil
}

// Spread is the mean of the values, their least and their greatest.
func (m Measure) Spread() (mean, least, most float64) {
	for _, v := range m.Values {
		mean += v / float64(len(m.Values))
	}
	return mean, slices.Min(m.Values), slices.Max(m.Values)
}
