package profiles

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// aligner finds one stage of a run after another in a profile.
type aligner struct {
	*index
	// matched has the run's stages that the profile knows, by id; owner is whose each place is, of
	// those that left does not have.
	matched map[int]match
	owner   []int
	left    []uint64 // Flags of lists.
	coming  counts   // Of places that are left.
	filling filling
	who     bindings
	come    progress
	// doubtful are the newest places of which another stage may turn out to be the owner.
	doubtful []int
}

// progress is how far a run has come in the profile.
type progress struct {
	// front is the place of the last stage that was surely matched, -1 before the first.
	front int
	scale scale
	// jobs are the jobs of the profile by those of the run.
	jobs map[int]int
	// moved is by how many lines the call site of the last stage that was surely matched has moved.
	moved int
}

// match is what a stage of a run was found to be.
type match struct {
	place int
	sure  units.Fraction
	by    By
	loss  float64
	// ratio is how much more it reads than its annotation, as a logarithm, if that is sized.
	ratio float64
	sized bool
}

func newAligner(x *index) *aligner {
	a := &aligner{index: x, matched: map[int]match{}, owner: make([]int, len(x.stages)), left: make([]uint64, x.words),
		coming: newCounts(len(x.stages)), who: newBindings(), come: progress{front: -1, jobs: map[int]int{}}}
	for i := range x.stages {
		a.flag(i, true)
	}
	if x.count != nil {
		a.filling = filling{room: slices.Clone(x.count), lists: make([]int, len(x.lists))}
	}
	return a
}

func (a *aligner) clone() *aligner {
	c := *a
	c.matched, c.who = maps.Clone(a.matched), a.who.clone()
	c.owner, c.left, c.coming = slices.Clone(a.owner), slices.Clone(a.left), slices.Clone(a.coming)
	c.doubtful, c.come.jobs = slices.Clone(a.doubtful), maps.Clone(a.come.jobs)
	c.filling = a.filling.clone()
	return &c
}

// flag says on all lists of place i, and to the counts, whether it is left.
func (a *aligner) flag(i int, left bool) {
	for _, on := range a.on[i] {
		word, bit := a.lists[on.list].word+on.at/64, uint64(1)<<(on.at%64)
		if left {
			a.left[word] |= bit
		} else {
			a.left[word] &^= bit
		}
	}
	if left {
		a.coming.add(i, 1)
	} else {
		a.coming.add(i, -1)
	}
}

// only reports whether no other annotation has the key of place i: what its query writes there, or its signature.
func (a *aligner) only(i int) bool { return len(a.lists[a.on[i][0].list].places) == 1 }

// sole reports whether m is the only one that the key of s can mean. Queries that differ have stages with the same
// code, as those that read one table: in a query that the profile lacks that says enough only where the run is.
func (a *aligner) sole(s *api.ProfileStage, m match) bool {
	if !a.only(m.place) || m.by != ByQuery && m.by != BySignature {
		return false
	}
	return s.Query == nil || a.stages[m.place].Query == nil || a.shapes[s.Query.Shape] || a.lossByOrder(m.place) == 0
}

func (a *aligner) taken(i int) bool { return a.coming.between(i, i+1) == 0 }

// match finds the annotation of a stage of the run that has become ready, s, whose ID is that of the
// run. changed are the stages of the run that turned out to have another one, or none.
func (a *aligner) match(s *api.ProfileStage) (found match, changed []int, is bool) {
	return a.choose(s, params.Choice.New)
}

// settle is match for a stage that match has left, when the run is over.
func (a *aligner) settle(s *api.ProfileStage) { a.choose(s, params.Choice.AtLast) }

func (a *aligner) choose(s *api.ProfileStage, most float64) (found match, changed []int, is bool) {
	all := a.candidates(s)
	if len(all) == 0 {
		return match{}, nil, false
	}
	slices.SortFunc(all, func(x, y match) int { return cmp.Or(cmp.Compare(x.loss, y.loss), x.place-y.place) })
	best := all[0]
	if a.sole(s, best) {
		if most += params.Choice.Only; most > params.Choice.AtLast {
			most = math.Inf(1) // Nothing else is left for either.
		}
	}
	best.sure = a.sure(all, most)
	if best.loss >= most || best.by == ByQuery && best.sure < params.Choice.LeastSure && most < params.Choice.AtLast {
		return match{}, nil, false
	}
	if s.Query != nil && a.stages[best.place].Query != nil {
		best.sure, changed = a.bind(s, best, all)
	}
	if a.taken(best.place) && !a.folded(best.place) {
		freed := a.owner[best.place]
		delete(a.matched, freed)
		changed = append(changed, freed)
	}
	a.take(s, best)
	return best, changed, true
}

// certain reports whether the stage that has place i says where the run has come to.
func (a *aligner) certain(i int) bool { return a.matched[a.owner[i]].sure >= params.Choice.Surely }

// restore is take for a stage that was matched before, by whatever it was.
func (a *aligner) restore(s *api.ProfileStage, i int) {
	m := match{place: i, sure: 1, by: ByPlace}
	p := &a.stages[i]
	switch {
	case s.Query != nil && p.Query != nil && s.Query.Shape == p.Query.Shape && s.Query.Exchange == p.Query.Exchange:
		m.by = ByQuery
	case s.Signature == p.Signature:
		m.by = BySignature
	case s.Lineage != "" && s.Lineage == p.Lineage:
		m.by = ByLineage
	}
	if s.Query != nil && p.Query != nil {
		a.bind(s, m, nil)
	}
	a.take(s, m)
}

// sure is how likely the first of all is, which are in order: beside none, and beside those of which it
// matters which it is.
func (a *aligner) sure(all []match, most float64) units.Fraction {
	doubt := math.Exp(all[0].loss - most)
	for i, c := range all {
		if !slices.ContainsFunc(all[:i], func(other match) bool { return a.alike(c.place, other.place) }) {
			doubt += math.Exp(all[0].loss - c.loss)
		}
	}
	return units.Fraction(1 / doubt)
}

// most that doubtful has.
const mostDoubtful = 32

// take makes m the match of s, and learns from it.
func (a *aligner) take(s *api.ProfileStage, m match) {
	if !a.taken(m.place) {
		a.flag(m.place, false)
	}
	p := &a.stages[m.place]
	if m.ratio, m.sized = ratio(s, p); a.folded(m.place) {
		m.sized = false
		a.filling.take(m.place, a.on[m.place], s.ID)
	}
	a.matched[s.ID], a.owner[m.place] = m, s.ID
	if m.sure < params.Choice.Surely || m.loss > 1 {
		if len(a.doubtful) == mostDoubtful {
			a.doubtful = slices.Delete(a.doubtful, 0, 1)
		}
		a.doubtful = append(a.doubtful, m.place)
	}
	if m.sure >= params.Choice.Surely {
		a.come.front = m.place
		a.come.jobs[s.Job] = p.Job
		if site, line := callSite(s.Name); s.Query == nil {
			if was, before := callSite(p.Name); was == site {
				a.come.moved = line - before
			}
		}
		a.come.scale.learn(m.ratio, m.sized)
	}
}

// candidates are the annotations that s may have, each with its loss and sure not set.
func (a *aligner) candidates(s *api.ProfileStage) []match {
	c := search{a: a, s: s}
	if q := s.Query; q != nil {
		its, bound := a.who.queries[queryOf(q)]
		if bound {
			for _, i := range a.inQuery[inQuery{its, q.Exchange}] {
				c.consider(i, ByQuery)
			}
		}
		if l, known := a.byExchange[exchangeID{q.Shape, q.Exchange}]; known && (!bound || a.who.open(queryOf(q))) {
			c.key(l, ByQuery)
		}
	}
	if l, known := a.bySignature[s.Signature]; known {
		c.key(l, BySignature)
	}
	if l, known := a.byLineage[s.Lineage]; known {
		c.key(l, ByLineage)
	}
	if !slices.ContainsFunc(c.found, func(m match) bool { return m.loss < params.Choice.New || a.sole(c.s, m) }) {
		c.place()
	}
	return c.found
}

// search is the search for the annotation of one stage.
type search struct {
	a     *aligner
	s     *api.ProfileStage
	found []match
}

// consider adds place i to what was found, unless it cannot be, or has an owner that is as likely.
func (c *search) consider(i int, by By) {
	if slices.ContainsFunc(c.found, func(m match) bool { return m.place == i }) {
		return
	}
	loss, may := c.a.loss(c.s, i, by)
	if c.a.folded(i) {
		may = may && c.a.filling.room[i] > 0
	} else if c.a.taken(i) {
		loss += params.Choice.Change
		may = may && loss < c.a.matched[c.a.owner[i]].loss
	}
	if !may {
		return
	}
	c.found = append(c.found, match{place: i, by: by, loss: loss})
}

// key considers what is left on list l near to where the run is, and what of it is doubtful.
func (c *search) key(l int, by By) {
	if i, is := c.a.folds(l); is {
		c.consider(i, by)
	}
	c.a.eachNear(c.a.left, l, c.a.come.front, func(i int) {
		if !c.a.folded(i) {
			c.consider(i, by)
		}
	})
	for _, i := range c.a.doubtful {
		if c.a.taken(i) && slices.ContainsFunc(c.a.on[i], func(on spot) bool { return on.list == l }) {
			c.consider(i, by)
		}
	}
}

// place considers what is left and reads from what the stage reads from.
func (c *search) place() {
	for _, parent := range c.s.Parents[:min(len(c.s.Parents), mostParents)] {
		m, known := c.a.matched[parent]
		if !known {
			continue
		}
		children := c.a.children[m.place]
		for _, i := range children[:min(len(children), 2*near)] {
			if !c.a.taken(i) {
				c.consider(i, ByPlace)
			}
		}
		return
	}
}

// counts is a Fenwick tree: how many of a range of places are left.
type counts []int

func newCounts(n int) counts { return make(counts, n+1) }

func (c counts) add(i, n int) {
	for i++; i < len(c); i += i & -i {
		c[i] += n
	}
}

// between is how many of [from, to) are left.
func (c counts) between(from, to int) int { return c.before(to) - c.before(from) }

func (c counts) before(i int) int {
	n := 0
	for ; i > 0; i -= i & -i {
		n += c[i]
	}
	return n
}
