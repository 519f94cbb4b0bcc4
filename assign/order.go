package assign

import (
	"cmp"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Patience is after how long a job without a deadline comes before those that are due later, and how long before its
// latest start one with a deadline counts as due then (edf).
const Patience = time.Hour

// key is where a job comes at a moment: the least first.
type key func(r *ranking, now units.Instant, j *Job) float64

// orders is the table of the orders in which jobs wait.
func orders() []entry[key] {
	return []entry[key]{
		{EDF, func(_ *ranking, now units.Instant, j *Job) float64 { return due(now, j).Sub(now).Seconds() }},
		{FIFO, func(*ranking, units.Instant, *Job) float64 { return 0 }},
		{SJF, func(r *ranking, _ units.Instant, j *Job) float64 { return r.sizeOf(j, float64(j.Time)) }},
		{SRPT, func(r *ranking, _ units.Instant, j *Job) float64 { return r.sizeOf(j, j.Left/float64(all(j))) }},
		{HRRN, func(r *ranking, now units.Instant, j *Job) float64 {
			return -now.Sub(j.Arrival).Seconds() / r.sizeOf(j, float64(j.Time))
		}},
		{Laxity, func(_ *ranking, now units.Instant, j *Job) float64 {
			if j.Due <= 0 {
				return due(now, j).Sub(now).Seconds()
			}
			return j.Due.Sub(now).Seconds() - float64(j.Time)
		}},
	}
}

// due is when j has to have ended, or counts as having to. A job that has to start soon would otherwise be passed until
// too late by all that come and are due before it ends.
func due(now units.Instant, j *Job) units.Instant {
	latest := j.Due.Add(-j.Time.Duration())
	switch {
	case j.Due <= 0:
		return j.Arrival.Add(Patience)
	case j.Time > 0 && latest <= now.Add(Patience):
		return latest
	}
	return j.Due
}

// size is that of a job with so much time left.
type size func(j *Job, time float64) float64

// sizes is the table of what counts as the size of a job.
func sizes() []entry[size] {
	return []entry[size]{
		{ByTime, func(_ *Job, t float64) float64 { return t }},
		{ByTimeUnits, func(j *Job, t float64) float64 { return t * float64(all(j)) }},
		{ByTimeCoresMemory, func(j *Job, t float64) float64 {
			return t * float64(all(j)) * float64(j.Unit.Cores) * float64(j.Unit.Memory)
		}},
	}
}

// ranking is how jobs compare: prior has a higher priority come first, usual is a size that is not known.
type ranking struct {
	key   key
	size  size
	usual float64
	prior bool
}

func (p Policy) ranking() ranking {
	return ranking{find(orders(), p.Order), find(sizes(), p.Size), 1, p.Rule == FlexiblePreemptive}
}

// learn finds the usual size where one that waits has none.
func (r *ranking) learn(waiting, serving []Job) {
	unknown := func(j Job) bool { return j.Time <= 0 }
	if !slices.ContainsFunc(waiting, unknown) {
		return
	}
	var known []float64
	for _, j := range slices.DeleteFunc(slices.Concat(waiting, serving), unknown) {
		known = append(known, r.size(&j, float64(j.Time)))
	}
	if n := len(known); n > 0 {
		slices.Sort(known)
		r.usual = (known[(n-1)/2] + known[n/2]) / 2
	}
}

func (r *ranking) sizeOf(j *Job, time float64) float64 {
	if j.Time <= 0 {
		return r.usual
	}
	return r.size(j, time)
}

// compare says who comes first at a moment, less than 0 for a.
func (r *ranking) compare(now units.Instant, a, b *Job) int {
	if c := cmp.Compare(b.Priority, a.Priority); c != 0 && r.prior {
		return c
	}
	if c := cmp.Compare(r.key(r, now, a), r.key(r, now, b)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
}

// Compare says which of two jobs that wait comes first at a moment, less than 0 for a: for callers that keep them
// sorted (State.Sorted), and know the sizes of all. Only under edf and hrrn does it change as time passes.
func (p Policy) Compare(now units.Instant, a, b *Job) int {
	r := p.ranking()
	return r.compare(now, a, b)
}

// Sort brings those that wait in s into their order at its Now.
func (p Policy) Sort(s *State) {
	r := p.ranking()
	r.learn(s.Waiting, s.Serving)
	slices.SortFunc(s.Waiting, func(a, b Job) int { return r.compare(s.Now, &a, &b) })
	s.Sorted = true
}
