package assign

import "cmp"

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
func (s *share) before(o *share) bool {
	if c := cmp.Or(cmp.Compare(s.units, o.units), cmp.Compare(s.Arrival, o.Arrival)); c != 0 {
		return c < 0
	}
	return s.ID < o.ID
}

// fill gives what is free in parts; one that has got less than it can use may get more later, unless it is Frozen.
func (r *reserve) fill() {
	open := make([]share, 0, len(r.waiting)+len(r.serving))
	for _, jobs := range [][]*Job{r.waiting, r.serving} {
		for _, j := range jobs {
			if most := r.most(j); j.Units < most && !(r.Frozen && j.Units > 0) {
				open = append(open, share{j, j.Units, most})
			}
		}
	}
	for next := r.next(open); next != nil; next = r.next(open) {
		next.units++
		r.free = r.free.less(1, next.Unit)
	}
	for _, s := range open {
		if s.units > s.Units {
			r.grants = append(r.grants, Grant{ID: s.ID, Units: s.units})
		}
	}
}

// next is who gets a unit, nil where none is free that somebody can use.
func (r *reserve) next(open []share) (next *share) {
	for i := range open {
		if s := &open[i]; s.units < s.most && (next == nil || s.before(next)) && r.free.fits(s.Unit) > 0 {
			next = s
		}
	}
	return next
}
