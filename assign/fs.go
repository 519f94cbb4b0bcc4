package assign

import (
	"cmp"
	"container/heap"
	"slices"
)

// fairShare gives each unit that is free to the job that has the fewest; no deadline counts, nothing is taken back.
func fairShare() reservation { return reservation{share: (*reserve).fill} }

// reactive is fairShare, but ends jobs at their deadlines.
func reactive() reservation { return reservation{share: (*reserve).fill, late: true} }

// share is a job that can use more than it has.
type share struct {
	*Job
	units, most int
}

// before says who gets a unit first.
func (s share) before(o share) bool {
	if c := cmp.Or(cmp.Compare(s.units, o.units), cmp.Compare(s.Arrival, o.Arrival)); c != 0 {
		return c < 0
	}
	return s.ID < o.ID
}

// shares are a heap, the least first.
type shares []share

// Len implements heap.Interface.
func (s shares) Len() int { return len(s) }

// Less implements heap.Interface.
func (s shares) Less(i, j int) bool { return s[i].before(s[j]) }

// Swap implements heap.Interface.
func (s shares) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

// Push implements heap.Interface.
func (s *shares) Push(x any) { *s = append(*s, x.(share)) }

// Pop implements heap.Interface.
func (s *shares) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// fill gives what is free in parts; one that has got less than it can use may get more later, unless it is Frozen.
func (r *reserve) fill() {
	open, done := make(shares, 0, len(r.waiting)+len(r.serving)), shares(nil)
	for _, jobs := range [][]*Job{r.waiting, r.serving} {
		for _, j := range jobs {
			if most := r.most(j); j.Units < most && r.free.fits(j.Unit) > 0 && !(r.Frozen && j.Units > 0) {
				open = append(open, share{j, j.Units, most})
			}
		}
	}
	heap.Init(&open)
	leave := func(s share) {
		if s.units > s.Units {
			done = append(done, s)
		}
	}
	for len(open) > 0 {
		s := &open[0]
		if r.free.fits(s.Unit) == 0 {
			rest := open[:0]
			for _, s := range open {
				if r.free.fits(s.Unit) > 0 {
					rest = append(rest, s)
				} else {
					leave(s)
				}
			}
			open = rest
			heap.Init(&open)
			continue
		}
		r.free = r.free.less(1, s.Unit)
		if s.units++; s.units < s.most {
			heap.Fix(&open, 0)
		} else {
			leave(heap.Pop(&open).(share))
		}
	}
	slices.SortFunc(done, func(a, b share) int {
		return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
	})
	for _, s := range done {
		r.grants = append(r.grants, Grant{ID: s.ID, Units: s.units})
	}
}
