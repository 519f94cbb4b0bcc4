package whatif

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// cells are those of an input on shapes.
func (t *table) cells(shapes []Shape, by float64) ([]Cell, error) {
	const runs = draws + pairs
	with := t.with(by)
	ends := make([]float64, runs*len(shapes))
	work, ran := make([]units.Work, len(ends)), make([]api.Profile, len(ends))
	err := each(len(ends), func(n int) error {
		i, a := n%runs, plant.App{}
		if i < draws {
			a = times(t.drawn[i], t.more[i])
			i += draws // Another run than the replay.
		} else {
			i = paired[i-draws]
			a = times(t.drawn[i], mean(t.more))
		}
		p, o, err := sim.Record(t.config(shapes[n/runs], i), t.grown(a, with))
		ends[n], work[n], ran[n] = t.lapse*float64(o.Duration), units.Work(t.lapse*o.CoreSeconds), p
		return err
	})
	if err != nil {
		return nil, err
	}
	var cells []Cell
	for n, s := range shapes {
		from, to := n*runs+draws, (n+1)*runs
		e := spread{draws, mean(ends[from:to]), math.Hypot(deviation(ends[n*runs:from]), with.doubt)}
		c := Cell{Cores: s.Cores(), Shape: s, Input: by, Finish: e.before(0.5), Work: mean(work[from:to]),
			Half: Bounds{e.before(0.25), e.before(0.75)}, Most: Bounds{e.before(0.05), e.before(0.95)},
			Promise: e.before(float64(t.Certainty)), Path: t.path(ran[from])}
		c.Sure, c.Why = t.sure(s, with.grows)
		cells = append(cells, c)
	}
	return cells, nil
}

// promises has by cell how many times later than an end at all cores a deadline has to be that the engines keep as
// likely. An application that is held back has less left to make up for what its profile does not say of a shape.
// The smallest, the largest and the shape nearest to the recorded one are tried. Between them it goes with the
// logarithm of the cores.
func (t *table) promises(cells []Cell) (later []float64, err error) {
	later = make([]float64, len(cells))
	size := func(i int) float64 { return math.Log(float64(cells[i].Cores)) }
	near, last := 0, len(cells)-1
	for i := range cells {
		if at := math.Log(float64(t.recorded.Cores())); math.Abs(size(i)-at) < math.Abs(size(near)-at) {
			near = i
		}
	}
	shapes := slices.Compact([]int{0, near, last})
	if err = each(len(shapes), func(k int) (err error) {
		later[shapes[k]], err = t.later(cells[shapes[k]])
		return err
	}); err != nil {
		return nil, err
	}
	for i := range cells {
		from, to := 0, near
		if i > near {
			from, to = near, last
		}
		if later[i] == 0 {
			part := (size(i) - size(from)) / (size(to) - size(from))
			later[i] = later[from] + part*(later[to]-later[from])
		}
	}
	return later, err
}

// later is how many times later than its end at all cores a cell's deadline has to be for all draws to keep it. A run
// is paced towards its deadline: a draw that keeps one may miss a later one. So each deadline is tried on all draws.
// The promise is the one that they kept, if mostTries suffice.
func (t *table) later(c Cell) (float64, error) {
	later := 1 + spare
	for range mostTries {
		deadline, latest := c.Promise*units.Seconds(later), units.Seconds(0)
		for from := 0; from < draws && latest <= deadline; from += draws / 2 { // The least bent are the latest.
			ends, _, err := t.paced(c.Shape, c.Input, deadline, from, from+draws/2)
			if err != nil {
				return 0, err
			}
			latest = slices.Max(ends)
		}
		if latest <= deadline {
			return later, nil
		}
		later *= float64(latest/deadline) + spare
	}
	return later, nil
}

// mostTries is how many deadlines are tried for a promise, spare by what part each is later than the upper bound or the
// latest end before.
const (
	mostTries = 8
	spare     = 0.05
)

// paced are the ends and the work of some draws on a shape under a deadline.
func (t *table) paced(s Shape, by float64, deadline units.Seconds, from, to int) (ends []units.Seconds,
	work []units.Work, err error) {
	ends, work = make([]units.Seconds, to-from), make([]units.Work, to-from)
	with := t.with(by)
	err = each(len(ends), func(k int) error {
		i := from + k
		c, a := t.config(s, i+draws), t.grown(times(t.drawn[i], t.more[i]), with)
		c.Certainty, a.Deadline = t.Certainty, deadline/units.Seconds(t.lapse)
		o, err := sim.Pace(c, a, t.known, 0)
		ends[k], work[k] = o.Duration*units.Seconds(t.lapse), units.Work(t.lapse*o.CoreSeconds)
		return err
	})
	return ends, work, err
}

// sure is how sure a cell is, and why not more.
func (t *table) sure(s Shape, doubt float64) (sure Sure, why []string) {
	sure, why = Measured, []string{}
	if t.Profile.Contended || s.Cores() != t.Profile.Cores {
		sure = Derived
		why = append(why, fmt.Sprintf("recorded at %v cores", float64(t.Profile.Cores)))
	}
	if t.Profile.Runs == 0 {
		sure, why = Guessed, append(why, "no run has been recorded")
	}
	if derived, guessed := t.unmeasured(); guessed > 0 {
		sure, why = Guessed, append(why, fmt.Sprintf("of its work %.0f %% is guessed from its threads' time", 100*guessed))
	} else if derived > 0 && sure == Measured {
		sure = Derived
		why = append(why, "its work is derived from the time of its threads")
	}
	if doubt > 0 {
		sure, why = Guessed, append(why, fmt.Sprintf("with this input its work may well be %.0f %% other", 100*doubt))
	}
	return sure, why
}

// spread is what the ends of draws come to: their mean, and the standard deviation of their logarithms.
type spread struct{ n, mean, deviation float64 }

func mean[T ~float64](all []T) (m T) {
	for _, v := range all {
		m += v / T(len(all))
	}
	return m
}

// deviation is the standard deviation of the logarithms.
func deviation(all []float64) float64 {
	logs := make([]float64, len(all))
	for i, v := range all {
		logs[i] = math.Log(v)
	}
	return stat.StdDev(logs, nil)
}

// before is when a further run has ended with that probability.
func (s spread) before(p float64) units.Seconds {
	t := distuv.StudentsT{Sigma: 1, Nu: s.n - 1}.Quantile(p)
	return units.Seconds(s.mean * math.Exp(t*s.deviation*math.Sqrt(1+1/s.n)))
}

// floor is what an input takes where every task has a core.
func (t *table) floor(by float64) (Floor, error) {
	widest, tasks, job, with := 1, 0, 0, t.with(by)
	for _, s := range t.stages {
		if s.Job != job {
			job, tasks = s.Job, 0
		}
		tasks += with.stages[s.ID].Tasks
		widest = max(widest, tasks)
	}
	largest := t.recorded
	for _, s := range t.Shapes {
		if s.Cores() > largest.Cores() {
			largest = s
		}
	}
	largest.Executors = max(largest.Executors, min(mostFloor, int(math.Ceil(float64(widest)/float64(largest.Each)))))
	p, o, err := sim.Record(t.config(largest, paired[0]), t.grown(times(t.drawn[paired[0]], mean(t.more)), with))
	f := Floor{Finish: o.Duration * units.Seconds(t.lapse), Path: t.path(p)}
	f.Driver = f.Finish
	for _, s := range f.Path {
		f.Driver -= s.Took
	}
	return f, err
}

// mostFloor is on how many executors a floor is looked for at most.
const mostFloor = 64

// cheapest is the least cores on which an input keeps the deadline: of cells or, where any will do, between them.
func (t *table) cheapest(cells []Cell, input, later float64) (Cheapest, error) {
	low, best := units.Cores(0), -1
	for i, c := range cells {
		if *c.Keeps {
			best = i
			break
		}
		low = c.Cores
	}
	out := Cheapest{Input: input}
	if best < 0 {
		return out, nil
	}
	cell := cells[best]
	for t.Any && cell.Cores.CeilTo(1)-low > 1 {
		middle := ((low + cell.Cores) / 2).CeilTo(1)
		if middle >= cell.Cores {
			break
		}
		tried, err := t.cells([]Shape{of(middle, t.Shapes[0].Each)}, input)
		switch {
		case err != nil:
			return out, err
		case tried[0].Promise*units.Seconds(later) <= t.Deadline:
			cell = tried[0]
		default:
			low = middle
		}
	}
	out.Cores, out.Shape, out.AllCores = cell.Cores, cell.Shape, cell.Work
	ends, work, err := t.paced(cell.Shape, input, t.Deadline, 0, draws)
	out.Finish, out.Work = mean(ends), mean(work)
	return out, err
}

// plan has the planner of a world of a cell's shape say what the deadline means for each stage.
func (t *table) plan(c *Cell) error {
	w, err := sim.New(t.config(c.Shape, 0))
	if err != nil {
		return err
	}
	p, _ := profiles.Scaled(t.whole, c.Input)
	p.Variants = nil
	r, err := w.Plan(api.PlanRequest{Profile: p.Name, Body: &p, Deadline: t.Deadline, Certainty: t.Certainty})
	c.Verdict, c.Stages = r.Verdict, r.Stages
	return err
}
