package assign

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// amount is an Amount in whole numbers, so that sums do not depend on the order: millionths of a core, and bytes.
type amount struct{ cores, memory int64 }

// less is a without n of those units.
func (a amount) less(n int, unit amount) amount {
	return amount{a.cores - int64(n)*unit.cores, a.memory - int64(n)*unit.memory}
}

// fits is how many such units a holds.
func (a amount) fits(unit amount) int {
	n := int64(math.MaxInt32)
	if unit.cores > 0 {
		n = min(n, a.cores/unit.cores)
	}
	if unit.memory > 0 {
		n = min(n, a.memory/unit.memory)
	}
	return int(max(0, n))
}

// holder is a job that is served, or starts in a round.
type holder struct {
	*Job
	unit  amount
	began units.Instant
	// most is all that it asks for, as far as the whole holds it, units what it has from now on.
	most, units int
}

// round is one question. A rule enters some that wait, and changes the units of those that are served.
type round struct {
	State
	Policy
	rank        ranking
	total, free amount
	// served are in order: of start, under a rule that preempts those of a higher priority first.
	served []holder
	// head is the first that waits and does not fit, nil without Pass; spare is what those may have that have started
	// since it came.
	head  *Job
	spare amount
}

func (p Policy) newRound(s State) *round {
	r := &round{State: s, Policy: p, rank: p.ranking(),
		total:  amount{int64(math.Round(float64(s.Total.Cores) * 1e6)), int64(s.Total.Memory)},
		served: make([]holder, 0, len(s.Serving)+4)}
	if !s.Sorted {
		r.rank.learn(s.Waiting, s.Serving)
		r.Waiting = slices.Clone(s.Waiting)
	}
	if !s.Sorted && p.Pass { // All of them are looked at.
		slices.SortFunc(r.Waiting, func(a, b Job) int { return r.rank.compare(r.Now, &a, &b) })
		r.Sorted = true
	}
	for i := range s.Serving {
		j := &s.Serving[i]
		r.served = append(r.served, r.hold(j, j.Began, j.Units))
	}
	r.order()
	r.count()
	return r
}

// hold is j as one that is served.
func (r *round) hold(j *Job, began units.Instant, n int) holder {
	unit := amount{int64(float64(j.Unit.Cores) * 1e6), int64(j.Unit.Memory)}
	return holder{j, unit, began, j.Core + min(j.Elastic, r.total.fits(unit)), n}
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

// count counts what is free.
func (r *round) count() {
	r.free = r.total
	for i := range r.served {
		r.free = r.free.less(r.served[i].units, r.served[i].unit)
	}
}

// squeeze leaves those that are served their core units alone.
func (r *round) squeeze() {
	for i := range r.served {
		r.served[i].units = min(r.served[i].units, r.served[i].Core)
	}
	r.count()
}

// saturated reports whether those that are served can fill the whole in one dimension.
func (r *round) saturated() bool {
	left := r.total
	for i := range r.served {
		left = left.less(r.served[i].most, r.served[i].unit)
		if r.total.cores > 0 && left.cores <= 0 || r.total.memory > 0 && left.memory <= 0 {
			return true
		}
	}
	return false
}

// room is what one that began then may have more.
func (r *round) room(began units.Instant) amount {
	if r.head == nil || began < r.head.Arrival {
		return r.free
	}
	return amount{min(r.free.cores, r.spare.cores), min(r.free.memory, r.spare.memory)}
}

// give gives h n units more.
func (r *round) give(h *holder, n int) {
	h.units += n
	r.free = r.free.less(n, h.unit)
	r.spare = r.spare.less(n, h.unit)
}

// reserve makes j, which needs so many units, the head.
func (r *round) reserve(j *Job, need int) {
	h := r.hold(j, r.Now, 0)
	r.head, r.spare = j, r.total.less(need, h.unit)
	for i := range r.served {
		if r.served[i].began >= j.Arrival {
			r.spare = r.spare.less(r.served[i].units, r.served[i].unit)
		}
	}
}

// all and core are units that a holder may have.
func all(h *holder) int  { return h.most }
func core(h *holder) int { return h.Core }

// grow gives those that are served what there is room for, in their order, each up to so many units.
func (r *round) grow(to func(*holder) int) {
	for i := range r.served {
		h := &r.served[i]
		if n := min(to(h)-h.units, r.room(h.began).fits(h.unit)); n > 0 {
			r.give(h, n)
		}
	}
}

// enter starts those that wait, in their order, as long as open is true, each with the units that there is room for.
// One for whose least there is none blocks those behind it, or with Pass leaves them what is spare.
func (r *round) enter(least, most func(*holder) int, open func(*Job) bool) {
	for len(r.Waiting) > 0 {
		if !r.Sorted {
			first := 0
			for i := range r.Waiting {
				if r.rank.compare(r.Now, &r.Waiting[i], &r.Waiting[first]) < 0 {
					first = i
				}
			}
			r.Waiting[0], r.Waiting[first] = r.Waiting[first], r.Waiting[0]
		}
		j := &r.Waiting[0]
		if !open(j) {
			return
		}
		h := r.hold(j, r.Now, 0)
		need, fit := least(&h), r.room(r.Now).fits(h.unit)
		switch {
		case r.total.fits(h.unit) < need: // It never starts.
		case fit >= need:
			r.give(&h, min(most(&h), fit))
			r.served = append(r.served, h)
		case !r.Pass:
			return
		case r.head == nil:
			r.reserve(j, need)
		}
		r.Waiting = r.Waiting[1:]
	}
}

// always lets any job start.
func always(*Job) bool { return true }

// grants are the units that have changed.
func (r *round) grants() []Grant {
	var lose, gain []Grant
	for i := range r.served {
		switch h := &r.served[i]; {
		case h.units < h.Units:
			lose = append(lose, Grant{h.ID, h.units})
		case h.units > h.Units:
			gain = append(gain, Grant{h.ID, h.units})
		}
	}
	return append(lose, gain...)
}
