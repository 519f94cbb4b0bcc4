package fluid

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/experiment"
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
func (c Cell) mean(of func(Run) float64) float64 { return experiment.Over(c.Runs, of) }

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

// atOpen are the first cases again at a load that all rules grant.
func atOpen() (all []Cell) {
	for _, c := range cells()[:6] {
		c.Case, c.trace = c.Case+fmt.Sprintf(", load %g", openLoad), 2
		all = append(all, c)
	}
	return all
}

// PaceTable is the name of the source's experiments.
const (
	PaceTable = "pace"
	paceTitle = "Pace 3.3: jobs on 100 machines of 32 cores and 128 GB"
)

// Experiments are those of the rules of the queue and of the rules that reserve.
func Experiments() []experiment.Experiment {
	all := []experiment.Experiment{{Name: PaceTable, Title: paceTitle, Source: "000",
		Takes: []string{experiment.Only, experiment.Seeds}, Cases: paceNames, Run: RunPace, Claims: paceClaims}, sizes()}
	for _, made := range []Made{TR1, TR2} {
		all = append(all, made.experiment())
	}
	return all
}

// OfTrace has the cases of pace be run on a trace.
func OfTrace(name string, jobs []assign.Job) experiment.Experiment {
	title := fmt.Sprintf("%s: %d jobs on 100 machines of 32 cores and 128 GB", name, len(jobs))
	return experiment.Experiment{Name: name, Title: title, Takes: []string{experiment.Only}, Cases: caseNames,
		Run: func(o experiment.Options) (experiment.Table, error) {
			o.Seeds = 1
			return run(title, o, cells(), func(int, int) []assign.Job { return jobs })
		}}
}

// caseNames are those of cells.
func caseNames(experiment.Options) (names []string, err error) {
	for _, c := range cells() {
		names = append(names, c.Case)
	}
	return names, nil
}

// paceNames are those of the cases of pace.
func paceNames(experiment.Options) (names []string, err error) {
	for _, c := range append(cells(), atOpen()...) {
		names = append(names, c.Case)
	}
	return names, nil
}

// RunPace runs the source's experiments on traces of that pace (sections 3.3.2, 3.3.3 and 3.3.5).
func RunPace(o experiment.Options) (experiment.Table, error) {
	t, err := run(paceTitle, o, append(cells(), atOpen()...), paceTrace(o))
	source := map[string]*[3]float64{"fifo malleable": {3.72e5, 75, 74}, "fifo flexible": {3.36e5, 77, 76},
		"sjf malleable": {6.14e4, 74, 72}, "sjf flexible": {5.13e4, 80, 78}}
	cells := t.Cells.([]Cell)
	for i := range cells {
		cells[i].Source = source[cells[i].Case]
	}
	t.Figures = measures(cells)
	t.Rows = [][][]string{rows(cells), measureRows(t.Figures)}
	return t, err
}

// paceTrace makes the traces of a seed: of batch alone, with interactive applications, and of batch at the open load.
func paceTrace(o experiment.Options) func(seed, trace int) []assign.Job {
	return func(seed, trace int) []assign.Job {
		p := Pace{Jobs: cmp.Or(o.Jobs, 80_000), Seed: uint64(seed) + 1, Load: batchLoad, Sizes: saturating}
		switch trace {
		case 1:
			p.Load, p.Interactive, p.Sizes = peopleLoad, interactivePart, open
		case 2:
			p.Load, p.Sizes = openLoad, open
		}
		return p.Trace()
	}
}

// run runs cells on traces, of which each cell has one.
func run(title string, o experiment.Options, all []Cell, trace func(seed, number int) []assign.Job) (
	experiment.Table, error) {
	var cases []experiment.Case[Cell, Run]
	for _, c := range all {
		cases = append(cases, experiment.Case[Cell, Run]{Name: c.Case, Of: c, Run: func(seed int) (Run, error) {
			out, err := Simulate(Config{Total: Machines, Policy: c.policy, Stop: o.Stop}, trace(seed, c.trace))
			return runOf(out), err
		}})
	}
	cases, err := experiment.Run(o, cases)
	var cells []Cell
	for _, c := range cases {
		c.Of.Runs = c.Runs
		cells = append(cells, c.Of)
	}
	return experiment.Table{Title: title, Cells: cells, Rows: [][][]string{rows(cells)},
		Draw: func(files ...string) error { return draw(title, cells, files) }}, err
}

func turnaround(r Run) float64 { return r.Turnaround }
func cores(r Run) float64      { return 100 * r.Mean.Cores }
func memory(r Run) float64     { return 100 * r.Mean.Memory }

// measures compare cases as the source does: the first one over or less the second. A measure is there where its cases
// are.
func measures(cells []Cell) (all []experiment.Figure) {
	runs := func(name string) []Run {
		for _, c := range cells {
			if c.Case == name {
				return c.Runs
			}
		}
		return nil
	}
	median := func(r Run) float64 { return r.Boxes["turnaround"][2] }
	add := func(name, says, unit string, source float64, of func(Run) float64, first, second string) {
		var values []float64
		a, b := runs(first), runs(second)
		for i := range min(len(a), len(b)) {
			v := of(a[i])
			switch unit {
			case "ratio":
				v /= of(b[i])
			case "points":
				v -= of(b[i])
			}
			values = append(values, v)
		}
		if a != nil && b != nil {
			c := claimOf(name)
			c.Measure, c.Theirs = says+", "+unit, source
			all = append(all, experiment.NewFigure("fluid.pace."+name, unit, values, c))
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
	return all
}
