package profiles

import (
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// shortened are parts of its legs that such a run leaves out, one as likely as another.
var shortened = [...]float64{0.1, 0.25, 0.5}

// leg is a part of a run that moves, or is left out, as a whole: a query of the profile with all its jobs, or
// a job that is of none. leftOut is how likely a run in order leaves it out.
type leg struct {
	leftOut float64
	query   bool
}

// divide finds the legs of the profile.
func (x *index) divide() {
	x.leg = make([]int, len(x.stages))
	queries := map[queryID]bool{} // Of the newest leg.
	for from := 0; from < len(x.stages); {
		to, same, share := from, false, 1.0
		var its []queryID
		for ; to < len(x.stages) && x.begins[to] == from; to++ {
			s := &x.stages[to]
			if share = min(share, float64(s.LeftOut)); s.Query != nil {
				its = append(its, queryOf(s.Query))
				same = same || queries[queryOf(s.Query)]
			}
		}
		if !same {
			clear(queries)
			x.legs = append(x.legs, leg{leftOut: params.Owed.Most, query: len(its) > 0})
		}
		last := len(x.legs) - 1
		x.legs[last].leftOut = min(x.legs[last].leftOut, max(share, params.Owed.LeftOut))
		for _, q := range its {
			queries[q] = true
		}
		for ; from < to; from++ {
			x.leg[from] = last
		}
	}
}

// order is in which order legs have come, of which stages have surely come.
type order struct {
	seen []bool
	// now is the leg that the run has come to, job its job there; most is the last leg that has come, next the one
	// before that. They are -1 or less for none.
	now, job, most, next int
	// came is how many have come.
	came int
	// broken says that a leg has come after a later one: order is no evidence any more.
	broken bool
	// prior is how likely the run has its legs, or one of them, at any place before one has come.
	prior float64
}

func newOrder(p api.Profile, x *index) order {
	return orderOf(len(x.legs), min(max(params.Owed.Reordered, float64(p.Reordered)), params.Owed.Most))
}

// orderOf is that of a run of which nothing has come.
func orderOf(legs int, prior float64) order {
	return order{seen: make([]bool, legs), now: -1, job: math.MinInt, most: -1, next: -1, prior: prior}
}

// come notes that a leg has come, with that job of it.
func (o *order) come(leg, job int) {
	switch {
	case o.seen[leg]:
	case leg > o.most:
		o.next, o.most = o.most, leg
	default:
		o.broken, o.next = true, max(o.next, leg)
	}
	if !o.seen[leg] {
		o.came++
	}
	o.seen[leg], o.now, o.job = true, leg, job
}

// reading is one in which the run has its legs in order: each is left out with its share of earlier runs, or with least
// where that is more. Legs that it has passed one after the other have been left out together. Otherwise they are
// behind any of those that have followed: the latter is the less likely the fewer of these are to come.
type reading struct {
	least float64
	// likely is how likely it is beside the others; as a logarithm first. owed is how likely each leg that has not come
	// still comes, asRecorded that none that was passed does.
	likely, asRecorded float64
	owed               []float64
}

// read says how likely it is that legs have come so, and what is owed then.
func (r *reading) read(o *order, legs []leg) {
	leftOut := func(i int) float64 { return max(r.least, legs[i].leftOut) }
	r.owed, r.asRecorded = make([]float64, len(legs)), 1
	coming := 1.0 // Of the places behind a leg: that behind the last one which has come, and those of legs to come.
	for i := len(legs) - 1; i >= 0; i-- {
		switch {
		case i > o.most:
			r.owed[i] = 1 - leftOut(i)
			coming += r.owed[i]
			continue
		case o.seen[i]:
			r.likely += math.Log1p(-leftOut(i))
			continue
		}
		last, out := i, leftOut(i)
		for ; i > 0 && !o.seen[i-1]; i-- {
			if next := leftOut(i - 1); r.least > 0 {
				out *= max(next, params.Owed.Section)
			} else {
				out *= next
			}
		}
		moved := o.prior * coming / float64(len(legs)-1-last)
		r.likely += math.Log(moved + out)
		r.asRecorded *= out / (moved + out)
		for k := i; k <= last; k++ {
			r.owed[k] = moved / (moved + out)
			coming += r.owed[k]
		}
	}
}

// readings are those in order, and how likely it is that the run has its legs in any order, by those that have come;
// all add up to 1.
func (o *order) readings(legs []leg) (inOrder []reading, anyOrder float64) {
	if o.broken {
		return nil, 1
	}
	inOrder = append(inOrder, reading{likely: math.Log1p(-o.prior) + math.Log1p(-params.Owed.Shortened)})
	for _, least := range shortened {
		inOrder = append(inOrder, reading{least: least,
			likely: math.Log1p(-o.prior) + math.Log(params.Owed.Shortened/float64(len(shortened)))})
	}
	anyOrder = math.Log(o.prior)
	for left := range o.came {
		anyOrder -= math.Log(float64(len(legs) - left))
	}
	most := anyOrder
	for k := range inOrder {
		inOrder[k].read(o, legs)
		most = max(most, inOrder[k].likely)
	}
	anyOrder = math.Exp(anyOrder - most)
	all := anyOrder
	for k := range inOrder {
		inOrder[k].likely = math.Exp(inOrder[k].likely - most)
		all += inOrder[k].likely
	}
	for k := range inOrder {
		inOrder[k].likely /= all
	}
	return inOrder, anyOrder / all
}

// reordered is how likely it is that the run has its legs in another order than recorded: any, or some behind others.
func (o *order) reordered(legs []leg) float64 {
	inOrder, reordered := o.readings(legs)
	for _, r := range inOrder {
		reordered += r.likely * (1 - r.asRecorded)
	}
	return reordered
}

// owed is how likely each leg that has not come still comes, and how likely it is that the run has them in any order.
func (o *order) owed(legs []leg) (owed []float64, anyOrder float64) {
	inOrder, anyOrder := o.readings(legs)
	owed = make([]float64, len(legs))
	for i := range owed {
		if o.seen[i] {
			continue
		}
		owed[i] = anyOrder
		for _, r := range inOrder {
			owed[i] += r.likely * r.owed[i]
		}
	}
	return owed, anyOrder
}

// reordered reports whether the legs of old that a run surely has come in another order in it.
func reordered(old, run api.Profile) bool {
	x := newIndex(&old)
	o := newOrder(old, x)
	for _, p := range align(&old, &run).Pairs {
		if p.Sure >= params.Choice.Surely {
			o.come(x.leg[p.Known], 0)
		}
	}
	return o.broken
}

// learnt is a share of earlier runs with a run in which it is so, or not, of that weight.
func learnt(share units.Fraction, is bool, w float64) units.Fraction {
	now := units.Fraction(0)
	if is {
		now = 1
	}
	if share = mean(share, now, w); share < params.Owed.Learnt {
		return 0
	}
	return share
}

// evidence is what the order of a run says of what comes.
type evidence struct {
	m    *Matcher
	owed []float64
	// loose says that legs may come in any order: one that has begun is not over because another one has.
	loose bool
}

func (m *Matcher) evidence() evidence {
	owed, anyOrder := m.order.owed(m.aligner.legs)
	return evidence{m, owed, anyOrder > params.Owed.From}
}

// comes reports whether the stage at place i may come by the order of the run.
func (e evidence) comes(i int) bool {
	o, at := &e.m.order, e.m.aligner.leg[i]
	switch {
	case !o.seen[at]:
		return e.owed[at] > params.Owed.From
	case at == o.now:
		return e.loose || e.m.aligner.stages[i].Job >= o.job
	}
	return e.loose
}

// passed reports whether the stage at place i would have come by now in a run in order, of which two later legs
// have come.
func (m *Matcher) passed(i int) bool {
	o, at := &m.order, m.aligner.leg[i]
	if o.seen[at] {
		return m.aligner.stages[i].Job < o.job
	}
	return at < o.next
}

// Course is in which order a run has come through its profile, and what it has left out.
type Course struct {
	// Reordered says that its legs come in another order than recorded.
	Reordered bool
	// Of is how many legs the profile has, Coming how many of them are still to come, Gone how many do not come.
	// Queries says that they are SQL queries; else they are jobs.
	Of, Coming, Gone int
	Queries          bool
}

// Reordered reports whether the run's legs come in another order than recorded, as is likelier by now.
func (m *Matcher) Reordered() bool { return m.order.reordered(m.aligner.legs) > 0.5 }

// Course says how the run has come through its profile so far.
func (m *Matcher) Course() Course {
	a, x := m.aligner, m.evidence()
	c := Course{Reordered: m.Reordered(), Of: len(a.legs)}
	began, left, queries := make([]bool, c.Of), make([]bool, c.Of), 0
	for i := range a.stages {
		began[a.leg[i]] = began[a.leg[i]] || a.taken(i)
	}
	for _, id := range m.rest(true, x.comes) {
		left[a.leg[a.place[id]]] = true
	}
	for i, l := range a.legs {
		if l.query {
			queries++
		}
		switch {
		case began[i]:
		case left[i]:
			c.Coming++
		default:
			c.Gone++
		}
	}
	c.Queries = 2*queries > c.Of
	return c
}
