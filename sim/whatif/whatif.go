package whatif

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Bounds of a question.
const (
	MostCores     = 4096
	MostExecutors = 256
	MostCells     = 64
	LeastInput    = 0.01
	MostInput     = 100.0
)

// Question is what is asked about a profile, which is valid.
type Question struct {
	Profile api.Profile
	// Shapes are the executors; Inputs are multiples of the profile's input, none is 1.
	Shapes []Shape
	Inputs []float64
	// Deadline is 0 for none. Certainty is how likely a promise is kept, 0 for the usual.
	Deadline  units.Seconds
	Certainty units.Fraction
	// Stages asks for the deadlines of stages.
	Stages bool
	// Any says that only the sum of a shape's cores counts: the cheapest may lie between those asked for.
	Any bool
	// Stop, when it is closed, ends it (sim.Config.Stop).
	Stop <-chan struct{}
}

// Shape is so many executors, each on a node of its own, of so many cores each.
type Shape struct {
	Executors int         `json:"executors"`
	Each      units.Cores `json:"executor_cores"`
}

// Cores is how many a shape has in all.
func (s Shape) Cores() units.Cores { return units.Cores(s.Executors) * s.Each }

// An executor has so many cores at least and at most where only their sum is asked for.
const leastExecutor, mostExecutor = 4, 16

// of is a shape of so many cores in executors of about each.
func of(cores, each units.Cores) Shape {
	most := int(max(1, min(MostExecutors, cores/each)))
	for n := most; n > 0 && cores/units.Cores(n) <= 2*each; n-- {
		if each := cores / units.Cores(n); each == each.CeilTo(1) {
			return Shape{n, each}
		}
	}
	return Shape{most, cores / units.Cores(most)}
}

// Sums are the shapes of so many cores. Executors have about the same size on all of them, and where p was recorded:
// the worth of a core hangs on the others of its executor.
func Sums(p api.Profile, cores ...units.Cores) (all []Shape) {
	each := min(mostExecutor, max(leastExecutor, min(p.Cores, slices.Min(cores))))
	for _, n := range cores {
		all = append(all, of(n, each))
	}
	return all
}

// about are the cores that are shown where none are asked for: a quarter to four times those of the profile.
func about(p api.Profile) (all []units.Cores) {
	for _, by := range []units.Cores{0.25, 0.5, 1, 2, 4} {
		all = append(all, min(MostCores, max(1, (by*p.Cores).CeilTo(1))))
	}
	return slices.Compact(all)
}

// Validate says the first fault of q, but those of its profile.
func (q Question) Validate() error {
	for _, s := range q.Shapes {
		switch {
		case s.Executors < 1 || s.Executors > MostExecutors:
			return api.Errorf(api.KindInvalid, "executors: %d, want 1 to %d", s.Executors, MostExecutors)
		case !(s.Each >= 0.1 && s.Cores() <= MostCores):
			return api.Errorf(api.KindInvalid, "cores: %v, want 0.1 of an executor at least and %d in all at most",
				float64(s.Cores()), MostCores)
		}
	}
	for _, x := range q.Inputs {
		if !(x >= LeastInput && x <= MostInput) {
			return api.Errorf(api.KindInvalid, "input: %vx, want %vx to %vx", x, LeastInput, MostInput)
		}
	}
	if n := len(q.Shapes) * len(q.Inputs); n > MostCells {
		return api.Errorf(api.KindInvalid, "cores, input: %d cells, want %d at most", n, MostCells)
	}
	if !api.ValidCertainty(q.Certainty) {
		return api.Errorf(api.KindInvalid, "certainty: %v, want %v to %v", float64(q.Certainty),
			float64(api.LeastCertainty), float64(api.MostCertainty))
	}
	return nil
}

// Answer is what a question's cells gave, in order of input and cores.
type Answer struct {
	Profile string `json:"profile"`
	Runs    int    `json:"runs"`
	// Recorded is where the profile was recorded, Replayed what its draws take there, beside its duration.
	Recorded  Shape          `json:"recorded"`
	Duration  units.Seconds  `json:"profile_duration_s"`
	Replayed  units.Seconds  `json:"replayed_s"`
	Certainty units.Fraction `json:"certainty"`
	Deadline  units.Seconds  `json:"deadline_s"`
	// Notes say what is derived or guessed, whatever the cell.
	Notes []string `json:"notes"`
	Cells []Cell   `json:"cells"`
	// Cheapest are the least cores that keep the deadline, by input; without Cores where none do.
	Cheapest []Cheapest `json:"cheapest,omitempty"`
}

// Cell is what an input takes on a shape.
type Cell struct {
	Cores units.Cores `json:"cores"`
	Shape
	Input float64 `json:"input"`
	// Finish is expected; a run ends within Half with 50 % and within Most with 90 %.
	Finish units.Seconds `json:"finish_s"`
	Half   Bounds        `json:"finish_50_s"`
	Most   Bounds        `json:"finish_90_s"`
	// Promise is the earliest deadline that is kept with the certainty asked for.
	Promise units.Seconds `json:"earliest_deadline_s"`
	Work    units.Work    `json:"core_seconds"`
	Floor   Floor         `json:"floor"`
	Path    []Step        `json:"critical_path"`
	// Keeps says that the deadline can be promised; nil without one.
	Keeps *bool `json:"keeps_deadline,omitempty"`
	// Sure is measured, derived or guessed, Why what makes it less than measured.
	Sure Sure     `json:"sure"`
	Why  []string `json:"why"`
	// Verdict and Stages are the planner's for the deadline, where stages were asked for.
	Verdict api.Verdict         `json:"verdict,omitempty"`
	Stages  []api.PlanReplyLine `json:"stages,omitempty"`
}

// Bounds are the earliest and the latest end.
type Bounds struct {
	Low  units.Seconds `json:"low"`
	High units.Seconds `json:"high"`
}

// Floor is what no cores lower: of it the stages of the longest chain take Chain, the driver takes the rest.
type Floor struct {
	Finish units.Seconds `json:"finish_s"`
	Chain  units.Seconds `json:"chain_s"`
	Driver units.Seconds `json:"driver_s"`
	Path   []Step        `json:"critical_path"`
}

// Cheapest is the least cores on which an input keeps the deadline, and what it takes there under that.
type Cheapest struct {
	Input float64     `json:"input"`
	Cores units.Cores `json:"cores"`
	Shape
	// Finish and Work are of paced runs, AllCores is the work of the same at all cores.
	Finish   units.Seconds `json:"finish_s"`
	Work     units.Work    `json:"core_seconds"`
	AllCores units.Work    `json:"core_seconds_all_cores"`
}

// Sure is how sure a figure is.
type Sure string

// How sure figures are, the surest first.
const (
	Measured Sure = "measured"
	Derived  Sure = "derived"
	Guessed  Sure = "guessed"
)

// Ask answers q.
func Ask(q Question) (Answer, error) {
	q.Certainty = cmp.Or(q.Certainty, api.UsualCertainty)
	if len(q.Inputs) == 0 {
		q.Inputs = []float64{1}
	}
	if len(q.Shapes) == 0 {
		q.Shapes, q.Any = Sums(q.Profile, about(q.Profile)...), true
	}
	if err := q.Validate(); err != nil {
		return Answer{}, err
	}
	slices.SortStableFunc(q.Shapes, func(a, b Shape) int { return cmp.Compare(a.Cores(), b.Cores()) })
	slices.Sort(q.Inputs)
	q.Shapes, q.Inputs = slices.Compact(q.Shapes), slices.Compact(q.Inputs)
	t := table{Question: q, recorded: of(max(1, q.Profile.Cores), q.Shapes[0].Each)}
	if err := t.fit(); err != nil {
		return Answer{}, fmt.Errorf("what if, profile %s: %w", q.Profile.Name, err)
	}
	a := Answer{Profile: q.Profile.Name, Runs: q.Profile.Runs, Recorded: t.recorded, Duration: q.Profile.Duration,
		Certainty: q.Certainty, Deadline: q.Deadline, Notes: notes(q.Profile)}
	replayed, err := t.cells([]Shape{t.recorded}, 1)
	if err != nil {
		return Answer{}, fmt.Errorf("what if, profile %s: %w", q.Profile.Name, err)
	}
	a.Replayed = replayed[0].Finish
	for _, input := range q.Inputs {
		if err := t.row(&a, input); err != nil {
			return Answer{}, fmt.Errorf("what if, profile %s, input %vx: %w", q.Profile.Name, input, err)
		}
	}
	return a, nil
}

// row adds the cells of an input. By how many times a promise is later on a shape is found with the smallest input, for
// it is less where all takes longer.
func (t *table) row(a *Answer, input float64) error {
	var smaller []Cell // They are of the input before.
	if n := len(t.Shapes); len(a.Cells) >= n {
		smaller = a.Cells[len(a.Cells)-n:]
	}
	floor, err := t.floor(input)
	if err != nil {
		return err
	}
	cells, err := t.cells(t.Shapes, input)
	if err != nil {
		return err
	}
	for i := range cells {
		if smaller != nil && smaller[i].Finish > cells[i].Finish {
			cells[i].takes(smaller[i])
		}
		if i > 0 && cells[i-1].Finish < cells[i].Finish {
			cells[i].takes(cells[i-1])
		}
		floor.Finish = min(floor.Finish, cells[i].Finish)
	}
	if smaller == nil {
		if t.reserve, err = t.promises(cells); err != nil {
			return err
		}
	}
	floor.Chain = max(0, floor.Finish-floor.Driver)
	for i := range cells {
		cells[i].Promise *= units.Seconds(t.reserve[i])
		if i > 0 {
			cells[i].Promise = min(cells[i].Promise, cells[i-1].Promise)
		}
		cells[i].Floor = floor
		if t.Deadline > 0 {
			keeps := cells[i].Promise <= t.Deadline
			cells[i].Keeps = &keeps
		}
		if t.Stages {
			if err := t.plan(&cells[i]); err != nil {
				return err
			}
		}
	}
	a.Cells = append(a.Cells, cells...)
	if t.Deadline > 0 {
		cheapest, err := t.cheapest(cells, input, slices.Max(t.reserve))
		if err != nil {
			return err
		}
		a.Cheapest = append(a.Cheapest, cheapest)
	}
	return nil
}

// takes has c take what other takes.
func (c *Cell) takes(other Cell) {
	c.Finish, c.Half, c.Most, c.Promise = other.Finish, other.Half, other.Most, other.Promise
	c.Work, c.Path = other.Work, other.Path
}

// notes are what is derived or guessed of a profile, whatever is asked.
func notes(p api.Profile) []string {
	out := []string{}
	if p.Contended {
		out = append(out, "its times are those of a cluster that others used: ends follow from its work and chains")
	}
	switch {
	case p.Runs == 0:
		out = append(out, "it is written by hand: no run has shown how much runs differ")
	case len(p.Residuals) == 0:
		out = append(out, "one run does not show how much runs differ: the bounds are those of the plant")
	}
	if n := len(p.Variants); n > 0 {
		out = append(out, fmt.Sprintf("it has %d variants: this is the likeliest", n+1))
	}
	return out
}
