package assign

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// rounding is how far sums of cores may be from what they are.
const rounding = 1e-9

// less is a without n of those units.
func (a Amount) less(n int, unit Amount) Amount {
	return Amount{a.Cores - units.Cores(n)*unit.Cores, a.Memory - units.Bytes(n)*unit.Memory}
}

// fits is how many such units a holds.
func (a Amount) fits(unit Amount) int {
	n := math.MaxInt32
	if unit.Cores > 0 {
		n = min(n, int((a.Cores+rounding)/unit.Cores))
	}
	if unit.Memory > 0 {
		n = min(n, int(a.Memory/unit.Memory))
	}
	return max(0, n)
}

// holder is a job that is served, or starts in a round: units are what it has from now on.
type holder struct {
	*Job
	began units.Instant
	units int
}

// round is one question. A rule enters some that wait, and changes the units of those that are served.
type round struct {
	State
	Policy
	rank ranking
	free Amount
	// served are in order: of start, under a rule that preempts those of a higher priority first.
	served []holder
	// head is the first that waits and does not fit, nil without Pass; spare is what those may have that have started
	// since it came.
	head  *Job
	spare Amount
}

func (p Policy) newRound(s State) *round {
	if !s.Sorted {
		s.Waiting = slices.Clone(s.Waiting)
		p.Sort(&s)
	}
	r := &round{State: s, Policy: p, rank: p.ranking(), free: s.Total, served: make([]holder, 0, len(s.Serving)+4)}
	for i := range s.Serving {
		r.served = append(r.served, holder{&s.Serving[i], s.Serving[i].Began, s.Serving[i].Units})
	}
	r.order()
	for _, h := range r.served {
		r.free = r.free.less(h.units, h.Unit)
	}
	return r
}

// order brings those that are served into their order. Of some that started at once the one that came first in the
// line comes first.
func (r *round) order() {
	slices.SortFunc(r.served, func(a, b holder) int {
		if c := cmp.Compare(a.began, b.began); c != 0 && !(r.rank.prior && a.Priority != b.Priority) {
			return c
		}
		return r.rank.compare(a.began, a.Job, b.Job)
	})
}

// room is what one that began then may have more.
func (r *round) room(began units.Instant) Amount {
	if r.head == nil || began < r.head.Arrival {
		return r.free
	}
	return Amount{min(r.free.Cores, r.spare.Cores), min(r.free.Memory, r.spare.Memory)}
}

// reserve makes j, which needs so many units, the head.
func (r *round) reserve(j *Job, need int) {
	r.head, r.spare = j, r.Total.less(need, j.Unit)
	for _, h := range r.served {
		if h.began >= j.Arrival {
			r.spare = r.spare.less(h.units, h.Unit)
		}
	}
}

// give gives h n units more, or takes some.
func (r *round) give(h *holder, n int) {
	h.units += n
	r.free, r.spare = r.free.less(n, h.Unit), r.spare.less(n, h.Unit)
}

// core and all are units that a job may have.
func core(j *Job) int { return j.Core }
func all(j *Job) int  { return j.Core + j.Elastic }

// grow gives those that are served what there is room for, in their order, each up to so many units.
func (r *round) grow(to func(*Job) int) {
	for i := range r.served {
		h := &r.served[i]
		if n := min(to(h.Job)-h.units, r.room(h.began).fits(h.Unit)); n > 0 {
			r.give(h, n)
		}
	}
}

// enter starts those that wait, in their order, as long as open is true (or nil), each with the units that there is
// room for. One for whose least there is none blocks those behind it, or with Pass leaves them what is spare.
func (r *round) enter(least, most func(*Job) int, open func(*Job) bool) {
	for i := range r.Waiting {
		j := &r.Waiting[i]
		if open != nil && !open(j) {
			return
		}
		fit := r.room(r.Now).fits(j.Unit)
		switch {
		case r.Total.fits(j.Unit) < least(j): // It never starts.
		case fit >= least(j):
			r.served = append(r.served, holder{Job: j, began: r.Now})
			r.give(&r.served[len(r.served)-1], min(most(j), fit))
		case !r.Pass:
			return
		case r.head == nil:
			r.reserve(j, least(j))
		}
	}
}

// grants are the units that have changed.
func (r *round) grants() []Grant {
	var lose, gain []Grant
	for _, h := range r.served {
		switch {
		case h.units < h.Units:
			lose = append(lose, Grant{ID: h.ID, Units: h.units})
		case h.units > h.Units:
			gain = append(gain, Grant{ID: h.ID, Units: h.units})
		}
	}
	return append(lose, gain...)
}
