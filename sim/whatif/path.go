package whatif

import (
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Step is a stage of a critical path: Gap is the driver's time before it.
type Step struct {
	ID   int           `json:"id"`
	Name string        `json:"name"`
	Gap  units.Seconds `json:"gap_s"`
	Took units.Seconds `json:"duration_s"`
}

// path are the stages that the end of a run hung on: from the one that ended last, each with what it waited for.
func (t *table) path(ran api.Profile) []Step {
	all, last := trace(ran), 0
	for i := range all {
		if all[i].to > all[last].to {
			last = i
		}
	}
	steps := []Step{}
	for i := last; i >= 0; i = all[i].after {
		s := ran.Stages[i]
		place, _ := strconv.Atoi(s.Name)
		of := t.stages[place]
		steps = append(steps, Step{ID: of.ID, Name: of.Name, Gap: s.Gap * units.Seconds(t.lapse),
			Took: s.Duration * units.Seconds(t.lapse)})
	}
	slices.Reverse(steps)
	return steps
}

// runs are by place when stages run.
type runs []struct {
	// from and to count from the first stage's beginning.
	from, to units.Seconds
	// after is the place of the one after which it began, -1 for none.
	after int
}

// beside reports whether i and k ran side by side, alone whether i had nobody beside it.
func (r runs) beside(i, k int) bool { return i != k && r[i].from < r[k].to && r[k].from < r[i].to }

func (r runs) alone(i int) bool {
	for k := range r {
		if r.beside(i, k) {
			return false
		}
	}
	return r != nil
}

func (r runs) picked(order []int) runs {
	out := make(runs, len(r))
	for i, from := range order {
		out[i] = r[from]
	}
	return out
}

// trace is when the stages of a profile ran.
func trace(p api.Profile) runs {
	all, place := make(runs, len(p.Stages)), make(map[int]int, len(p.Stages))
	last, before := -1, -1 // The ones that end last, in all and of the jobs before.
	for i, s := range p.Stages {
		if i > 0 && s.Job != p.Stages[i-1].Job {
			before = last
		}
		r := &all[i]
		r.after, r.from = before, s.Gap
		for _, parent := range s.Parents {
			if k := place[parent]; r.after < 0 || all[k].to > all[r.after].to {
				r.after = k
			}
		}
		if r.after >= 0 {
			r.from += all[r.after].to
		}
		r.to = r.from + s.Duration
		place[s.ID] = i
		if last < 0 || r.to > all[last].to {
			last = i
		}
	}
	return all
}
