package profiles

import (
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
	// queries are the profile's queries by the run's, begun the run's by the profile's.
	queries, begun map[queryID]queryID
	// front is the place of the last stage that was surely matched, -1 before the first.
	front int
	scale scale
	// doubtful are the newest places of which another stage may turn out to be the owner.
	doubtful []int
}

// match is what a stage of a run was found to be.
type match struct {
	place int
	sure  units.Fraction
	by    By
	loss  float64
}

func newAligner(x *index) *aligner {
	a := &aligner{index: x, matched: map[int]match{}, owner: make([]int, len(x.stages)), left: make([]uint64, x.words),
		coming: newCounts(len(x.stages)), queries: map[queryID]queryID{}, begun: map[queryID]queryID{}, front: -1}
	for i := range x.stages {
		a.flag(i, true)
	}
	return a
}

func (a *aligner) clone() *aligner {
	c := *a
	c.matched, c.queries, c.begun = maps.Clone(a.matched), maps.Clone(a.queries), maps.Clone(a.begun)
	c.owner, c.left, c.coming = slices.Clone(a.owner), slices.Clone(a.left), slices.Clone(a.coming)
	c.doubtful = slices.Clone(a.doubtful)
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

func (a *aligner) taken(i int) bool { return a.coming.between(i, i+1) == 0 }

// The losses, in nats, below which an annotation is likelier than none: while the run goes on, and
// when it is over.
const (
	lossOfNew  = 4
	lossAtLast = 7
)

// match finds the annotation of a stage of the run that has become ready, s, whose ID is that of the
// run. freed is the stage of the run that turned out not to be what it was taken for, if one did.
func (a *aligner) match(s *api.ProfileStage) (found match, freed int, is bool) {
	return a.choose(s, lossOfNew)
}

// settle is match for a stage that match has left, when the run is over.
func (a *aligner) settle(s *api.ProfileStage) { a.choose(s, lossAtLast) }

func (a *aligner) choose(s *api.ProfileStage, most float64) (found match, freed int, is bool) {
	all := a.candidates(s)
	if len(all) == 0 {
		return match{}, none, false
	}
	best := slices.MinFunc(all, func(x, y match) int {
		switch {
		case x.loss != y.loss:
			return int(math.Copysign(1, x.loss-y.loss))
		}
		return x.place - y.place
	})
	if best.loss >= most {
		return match{}, none, false
	}
	doubt := math.Exp(best.loss - most)
	for _, c := range all {
		if c.place != best.place && !a.alike(c.place, best.place) {
			doubt += math.Exp(best.loss - c.loss)
		}
	}
	best.sure = units.Fraction(1 / (1 + doubt))
	freed = none
	if a.taken(best.place) {
		freed = a.owner[best.place]
		delete(a.matched, freed)
	}
	a.take(s, best)
	return best, freed, true
}

// certain reports whether the stage that has place i says where the run has come to.
func (a *aligner) certain(i int) bool { return a.matched[a.owner[i]].sure >= surely }

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
	a.take(s, m)
}

// none is no stage.
const none = math.MinInt

// surely is how sure a match is that says where the run has come to.
const surely = 0.8

// most that doubtful has.
const mostDoubtful = 32

// take makes m the match of s, and learns from it.
func (a *aligner) take(s *api.ProfileStage, m match) {
	if !a.taken(m.place) {
		a.flag(m.place, false)
	}
	a.matched[s.ID], a.owner[m.place] = m, s.ID
	p := &a.stages[m.place]
	if s.Query != nil && p.Query != nil {
		mine, its := queryOf(s.Query), queryOf(p.Query)
		if _, bound := a.queries[mine]; !bound {
			if other, begun := a.begun[its]; begun {
				delete(a.queries, other)
			}
			a.queries[mine], a.begun[its] = its, mine
		}
	}
	if m.sure < surely || m.loss > 1 {
		if len(a.doubtful) == mostDoubtful {
			a.doubtful = slices.Delete(a.doubtful, 0, 1)
		}
		a.doubtful = append(a.doubtful, m.place)
	}
	if m.sure >= surely {
		a.front = m.place
		a.scale.learn(ratio(s, p))
	}
}

// candidates are the annotations that s may have, each with its loss and sure not set.
func (a *aligner) candidates(s *api.ProfileStage) []match {
	c := search{aligner: a, s: s}
	if q := s.Query; q != nil {
		if its, bound := a.queries[queryOf(q)]; bound {
			for _, i := range a.inQuery[inQuery{its, q.Exchange}] {
				c.consider(i, ByQuery)
			}
		} else if l, known := a.byExchange[exchangeID{q.Shape, q.Exchange}]; known {
			c.key(l, ByQuery)
		}
	}
	if l, known := a.bySignature[s.Signature]; known {
		c.key(l, BySignature)
	}
	if l, known := a.byLineage[s.Lineage]; known {
		c.key(l, ByLineage)
	}
	if len(c.found) == 0 {
		c.place()
	}
	return c.found
}

// search is the search for the annotation of one stage.
type search struct {
	*aligner
	s     *api.ProfileStage
	found []match
}

// consider adds place i to what was found, unless it cannot be, or has an owner that is as likely.
func (c *search) consider(i int, by By) {
	if slices.ContainsFunc(c.found, func(m match) bool { return m.place == i }) {
		return
	}
	loss, may := c.loss(c.s, i, by)
	if !may || c.taken(i) && loss+lossOfChange > c.matched[c.owner[i]].loss {
		return
	}
	c.found = append(c.found, match{place: i, by: by, loss: loss})
}

// key considers what is left on list l near to where the run is, and what of it is doubtful.
func (c *search) key(l int, by By) {
	c.eachNear(c.left, l, c.front, func(i int) { c.consider(i, by) })
	for _, i := range c.doubtful {
		if c.taken(i) && slices.ContainsFunc(c.on[i], func(on spot) bool { return on.list == l }) {
			c.consider(i, by)
		}
	}
}

// place considers what is left and reads from what the stage reads from.
func (c *search) place() {
	for _, parent := range c.s.Parents[:min(len(c.s.Parents), mostParents)] {
		m, known := c.matched[parent]
		if !known {
			continue
		}
		children := c.children[m.place]
		for _, i := range children[:min(len(children), 2*near)] {
			if !c.taken(i) {
				c.consider(i, ByPlace)
			}
		}
		return
	}
}

// lossOfChange is how much likelier another owner must be than the one that is there.
const lossOfChange = 1.5

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
