package dag

import (
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Bound is how long the legs of a graph may take (docs/decisions/060): no longer than Most, and no longer than Factor
// times what they take at all cores as recorded, nor any of their stages. 0 is no bound.
type Bound struct {
	Most   units.Seconds
	Factor float64
}

// of is the bound of what takes so long at all cores, +Inf for none.
func (b Bound) of(takes units.Seconds) units.Seconds {
	bound := units.Seconds(math.Inf(1))
	if b.Most > 0 {
		bound = b.Most
	}
	if b.Factor > 0 {
		bound = min(bound, units.Seconds(b.Factor)*takes)
	}
	return bound
}

// A leg is aimed so long before its bound, as a part of that, but no more than boundSeconds and boundMore of it. The
// waiting program counts what comes before its first stage, too, and a stage may end a little after its aim.
const (
	boundRoom                  = 0.2
	boundSeconds units.Seconds = 5
	boundMore                  = 0.05
)

// aimed is what a leg with such a bound is aimed at.
func aimed(bound units.Seconds) units.Seconds {
	if math.IsInf(float64(bound), 1) {
		return bound
	}
	return bound - min(boundRoom*bound, boundSeconds+boundMore*bound)
}

// leg is a part of a run that its program waits for as one: a SQL query of the profile with all its jobs, or a job
// that is of none. Queries that interleave are one leg.
type leg struct {
	// Its nodes are from first to last, the barriers between them included.
	first, last int
	// takes is how long it takes at all cores as recorded.
	takes units.Seconds
}

// legKey is what the stages of a leg have in common.
type legKey struct {
	query    bool
	shape    string
	nth, job int
}

func legOf(s *api.ProfileStage) legKey {
	if q := s.Query; q != nil {
		return legKey{query: true, shape: q.Shape, nth: q.Nth}
	}
	return legKey{job: s.Job}
}

// findLegs returns the legs of nodes in order, and by node which one it is of.
func findLegs(nodes []node) (legs []leg, of []int) {
	last := make(map[legKey]int)
	for i := range nodes {
		if s := nodes[i].stage; s != nil {
			last[legOf(s)] = i
		}
	}
	of = make([]int, len(nodes))
	for i := 0; i < len(nodes); i++ {
		if nodes[i].stage == nil {
			of[i] = noNode // Between two legs.
			continue
		}
		l := leg{first: i, last: i}
		for ; i <= l.last; i++ {
			if s := nodes[i].stage; s != nil {
				l.last = max(l.last, last[legOf(s)])
			}
			of[i] = len(legs)
		}
		i = l.last
		l.takes = l.longest(nodes)
		legs = append(legs, l)
	}
	return legs, of
}

// longest is how long l takes from its first stage on.
func (l leg) longest(nodes []node) (takes units.Seconds) {
	ends := make([]units.Seconds, l.last+1-l.first)
	for i := range ends {
		n, inside := &nodes[l.first+i], false
		for _, before := range n.before {
			if before >= l.first {
				inside = true
				ends[i] = max(ends[i], ends[before-l.first])
			}
		}
		if s := n.stage; s != nil {
			gap := s.Gap
			if !inside {
				gap = max(0, gap-nodes[l.first].stage.Gap)
			}
			ends[i] += gap + s.Duration
		}
		takes = max(takes, ends[i])
	}
	return takes
}

// rest is what follows a stage in its leg: how long stages take at all cores, and the driver's gaps between them.
type rest struct{ stages, gaps units.Seconds }

// rests are what follows each node of l on its longest path; in turn all stages that come later follow one another.
func (l leg) rests(nodes []node, inTurn bool) []rest {
	all, later := make([]rest, l.last+1-l.first), rest{}
	for i := len(all) - 1; i >= 0; i-- {
		n := &nodes[l.first+i]
		if inTurn {
			all[i] = later
		}
		for _, next := range n.after {
			if next > l.last {
				continue
			}
			r := all[next-l.first]
			if s := nodes[next].stage; s != nil {
				r = rest{r.stages + s.Duration, r.gaps + s.Gap}
			}
			if r.stages+r.gaps > all[i].stages+all[i].gaps {
				all[i] = r
			}
		}
		if n.stage != nil {
			later.stages += n.stage.Duration
		}
	}
	return all
}

// within is how long stage s may take from now on, which r follows, where so much is left of its leg's time.
func (b Bound) within(s *api.ProfileStage, r rest, left units.Seconds) units.Seconds {
	part := (left - r.gaps) * s.Duration / (s.Duration + r.stages)
	if b.Factor > 0 {
		part = min(part, aimed(units.Seconds(b.Factor)*s.Duration))
	}
	return part
}

// One is how long a stage of one of several jobs that a profile has as one may take, which takes so long at all cores.
func (b Bound) One(takes units.Seconds) units.Seconds { return aimed(b.of(takes)) }

// Within is how long stage m.Stage of g may take from now on by p.Legs, where its leg has begun at m.Began. That is as
// long as the stages that follow it in its leg can have their part. It is +Inf where nothing is bound, and <= 0 where
// the time has passed: all cores.
func (p Params) Within(g *Graph, m Moment) units.Seconds {
	i, known := g.index[m.Stage]
	if !known || p.Legs == (Bound{}) {
		return units.Seconds(math.Inf(1))
	}
	l := g.legs[g.leg[i]]
	return p.Legs.within(g.nodes[i].stage, l.rests(g.nodes, p.Executors > 0)[i-l.first],
		m.Began+aimed(p.Legs.of(l.takes))-m.Spent)
}

// LegOf says which leg of g a stage is of, from 0 in order, and how long that takes at all cores as recorded; false of
// stages that g has not.
func LegOf(stage int, g *Graph) (leg int, takes units.Seconds, known bool) {
	i, known := g.index[stage]
	if !known {
		return 0, 0, false
	}
	return g.leg[i], g.legs[g.leg[i]].takes, true
}

// legWalk is what a walk knows of the legs that it goes through; nil where they have no bound.
type legWalk struct {
	bound Bound
	// began is when each leg began, +Inf before.
	began []units.Seconds
	// rests are by node.
	rests []rest
}

// legWalk returns that of a walk of s, before which legs have begun so.
func (s scene) legWalk(began map[int]units.Seconds) *legWalk {
	if s.params.Legs == (Bound{}) {
		return nil
	}
	w := &legWalk{bound: s.params.Legs}
	for k, l := range s.graph.legs {
		at, has := began[k]
		if !has {
			at = units.Seconds(math.Inf(1))
		}
		w.began = append(w.began, at)
		for len(w.rests) < l.first {
			w.rests = append(w.rests, rest{}) // Barriers.
		}
		w.rests = append(w.rests, l.rests(s.graph.nodes, s.params.Executors > 0)...)
	}
	return w
}

// submit says that the stage at node i is ready.
func (w *legWalk) submit(g *Graph, i int, now units.Seconds) {
	if w != nil {
		w.began[g.leg[i]] = min(w.began[g.leg[i]], now)
	}
}

// within is Params.Within of the stage at node i.
func (w *legWalk) within(g *Graph, i int, now units.Seconds) units.Seconds {
	if w == nil {
		return units.Seconds(math.Inf(1))
	}
	k := g.leg[i]
	return w.bound.within(g.nodes[i].stage, w.rests[i], min(w.began[k], now)+aimed(w.bound.of(g.legs[k].takes))-now)
}
