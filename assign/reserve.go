package assign

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Names of the rules that reserve units for deadlines, and of those that they are compared with.
const (
	Pythia, Justice, Oracle = "pythia", "justice", "oracle"
	FS, FSReactive          = "fs", "fs-reactive"
)

// Reading says how the source is read where it leaves something open. The zero value is how Pacer reads it.
type Reading struct {
	// Bootstrap is after how many ends what was learnt counts, 2 if 0.
	Bootstrap int
	// Recent is the weight of the last error in the mean error, 0 for equal weights.
	Recent float64
	// Violators is up to how many tasks a job runs on after its deadline.
	Violators int
	// Frozen has fs and fs-reactive give a job units once only.
	Frozen bool
	// Truncated has a job that was ended at its deadline teach the work that it has used as if it were all.
	Truncated bool
	// Several leaves jobs that can use one unit alone out of the mean error: their errors are at most 0.
	Several bool
}

func (r Reading) bootstrap() int { return cmp.Or(r.Bootstrap, 2) }

// reservation is a rule: either need or share is there.
type reservation struct {
	// fraction is the part of what a job could use that those that have ended make it need; nil learns nothing.
	fraction func(Learnt) float64
	// need is how many units a job that waits needs for its deadline, which is so many seconds away.
	need func(r *reserve, j *Job, left float64) float64
	// share gives what is free away.
	share func(*reserve)
	// late ends jobs at their deadlines.
	late bool
}

// reserving is the table of these rules, each in a file of its own.
func reserving() []entry[reservation] {
	return []entry[reservation]{{Pythia, pythia()}, {Justice, justice()}, {Oracle, oracle()}, {FS, fairShare()},
		{FSReactive, reactive()}}
}

// Reserving are the values of Policy.Rule that reserve units for deadlines, or are compared with such.
func Reserving() []string { return names(reserving()) }

// Open is the admission that reserves nothing.
const Open = "open"

// Admissions are the ways in which a planner may treat deadlines whose work nobody knows, the default first: Open, or
// by the rules of Reserving that learn what deadlines need.
func Admissions() []string {
	all := []string{Open}
	for _, e := range reserving() {
		if e.value.fraction != nil {
			all = append(all, e.name)
		}
	}
	return all
}

// The ways to treat a deadline that cannot be kept: Share has its application run on what others leave, Refuse turns it
// down.
const Share, Refuse = "share", "refuse"

// Lates are the ways in which a planner may treat deadlines that cannot be kept, the default first.
func Lates() []string { return []string{Share, Refuse} }

// reserve is one question to such a rule.
type reserve struct {
	State
	Reading
	reservation
	// part is the fraction where known says that there is one.
	part  float64
	known bool
	free  Amount
	// serving and waiting are those that are not dropped.
	serving, waiting []*Job
	drops, grants    []Grant
}

// most is how many units a job can use at once (M).
func (r *reserve) most(j *Job) int { return min(j.Tasks, r.Total.fits(j.Unit)) }

func (r *reserve) drop(j *Job) { r.drops = append(r.drops, Grant{ID: j.ID, Drop: true}) }

func (r *reserve) give(j *Job, n int) {
	r.grants = append(r.grants, Grant{ID: j.ID, Units: n})
	r.free = r.free.less(n-j.Units, j.Unit)
}

// reserve answers a question to a rule of Reserving.
func (p Policy) reserve(s State) []Grant {
	r := &reserve{State: s, Reading: p.Reading, reservation: find(reserving(), p.Rule), free: s.Total}
	if r.fraction != nil {
		r.part, _, r.known = p.Fraction(s.Learnt)
	}
	r.serving = make([]*Job, 0, len(s.Serving))
	r.keep()
	if r.share != nil {
		r.waiting = make([]*Job, 0, len(s.Waiting))
		for i := range s.Waiting {
			if j := &s.Waiting[i]; r.isLate(j) {
				r.drop(j)
			} else {
				r.waiting = append(r.waiting, j)
			}
		}
		r.share(r)
		slices.SortFunc(r.grants, byID)
	} else {
		r.pass()
	}
	slices.SortFunc(r.drops, byID)
	return append(r.drops, r.grants...)
}

func byID(a, b Grant) int { return strings.Compare(a.ID, b.ID) }

func (r *reserve) isLate(j *Job) bool {
	return r.late && j.Due > 0 && r.Now > j.Due && j.Tasks > r.Violators
}

// keep has those that are served keep what they have, but for those that are ended at their deadline. Where there is
// less than they have, the ones that are due first keep theirs.
func (r *reserve) keep() {
	for i := range r.Serving {
		j := &r.Serving[i]
		if r.isLate(j) {
			r.drop(j)
			continue
		}
		r.serving, r.free = append(r.serving, j), r.free.less(j.Units, j.Unit)
	}
	if r.free.Cores >= -rounding && r.free.Memory >= 0 {
		return
	}
	ever := func(j *Job) uint64 { return uint64(j.Due) - 1 } // Without a deadline the last.
	slices.SortFunc(r.serving, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(ever(a), ever(b)), cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
	})
	r.free = r.Total
	r.serving = slices.DeleteFunc(r.serving, func(j *Job) bool {
		if r.free.fits(j.Unit) < j.Units {
			r.drop(j)
			return true
		}
		r.free = r.free.less(j.Units, j.Unit)
		return false
	})
}

// pass gives those that wait what they need or nothing, the least need over time left first, and drops those that can
// not be in time with all that they can use. A job without a deadline has no reservation. Until the rule knows what to
// reserve, a job has what it can use, or what is free.
func (r *reserve) pass() {
	type wish struct {
		*Job
		units int
		key   float64
	}
	var wishes []wish
	for i := range r.Waiting {
		j := &r.Waiting[i]
		left, n := j.Due.Sub(r.Now).Seconds(), r.most(j)
		if r.known || r.fraction == nil {
			n = max(1, int(math.Ceil(min(r.need(r, j, left)*(1-rounding), math.MaxInt32))))
		}
		switch {
		case j.Due <= 0:
		case left <= 0 || n > r.most(j):
			r.drop(j)
		default:
			wishes = append(wishes, wish{j, n, float64(n) / left})
		}
	}
	slices.SortFunc(wishes, func(a, b wish) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
	})
	for _, w := range wishes {
		fit := r.free.fits(w.Unit)
		if !r.known && r.fraction != nil {
			w.units = min(w.units, fit)
		}
		if w.units > 0 && w.units <= fit {
			r.give(w.Job, w.units)
		}
	}
}

// learnt is what a job needs by what others have needed: less what it has had already (the source's is without that).
func (r *reserve) learnt(j *Job, left float64) float64 {
	return (r.part*float64(r.most(j))*j.Due.Sub(j.Arrival).Seconds() - j.Used) / left
}
