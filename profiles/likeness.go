package profiles

import (
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// Losses are nats: one annotation is exp(n) times as likely as another whose loss is n more.
const (
	// lossOfCode is of a stage of a SQL query that is planned otherwise than in the profile.
	lossOfCode    = 0.8
	lossOfLineage = 1
	lossOfPlace   = 1.5
	// lossOfQuery is of a stage that comes in a query of another shape.
	lossOfQuery = 1.5
	lossOfName  = 0.5
	// lossOfNth is of a query that is another one of its shape.
	lossOfNth = 0.2
	// lossOfParents is of one that reads what its annotation does not read.
	lossOfParents = 3
	// lossOfNewParents is of one that reads what no annotation has written.
	lossOfNewParents = 1.5
	lossOfTasks      = 0.5
	lossOfBack       = 1.5
	lossOfSkip       = 1
	mostLossOfSkip   = 3
	mostLossOfSize   = 2.8
)

// loss is how unlikely it is that s has the annotation at place i, which is on a list of that key;
// false where it cannot be.
func (a *aligner) loss(s *api.ProfileStage, i int, by By) (float64, bool) {
	p := &a.stages[i]
	loss, order := 0.0, true
	switch by {
	case BySignature:
	case ByLineage:
		loss += lossOfLineage
	case ByPlace:
		if p.Signature == s.Signature {
			return 0, false
		}
		loss += lossOfPlace
	}
	if s.Query != nil && p.Query != nil {
		mine, its := queryOf(s.Query), queryOf(p.Query)
		bound, is := a.queries[mine]
		other, begun := a.begun[its]
		switch {
		case is && bound != its, !is && begun && other != mine && !a.taken(i):
			return 0, false
		case is:
			order = false
		case mine.nth != its.nth:
			loss += lossOfNth
		}
		if s.Query.Shape != p.Query.Shape {
			if _, known := a.byExchange[exchangeID{s.Query.Shape, s.Query.Exchange}]; known {
				return 0, false
			}
			loss += lossOfQuery
		}
		if by == ByQuery && p.Signature != s.Signature {
			loss += lossOfCode
		}
	} else {
		if s.Name != p.Name {
			loss += lossOfName
		}
	}
	parents, agree := a.lossByParents(s, i)
	loss += parents + a.lossBySize(s, i)
	if order && !agree {
		loss += a.lossByOrder(i)
	}
	return loss, true
}

// mostParents is how many of a stage's parents are looked at.
const mostParents = 16

// lossByParents is that of what s reads against what place i reads; agree says that both read the same.
func (a *aligner) lossByParents(s *api.ProfileStage, i int) (loss float64, agree bool) {
	known, other := 0, 0
	for _, parent := range s.Parents[:min(len(s.Parents), mostParents)] {
		m, is := a.matched[parent]
		if !is {
			continue
		}
		if slices.Contains(a.parents[i], m.place) {
			known++
		} else {
			other++
		}
	}
	switch {
	case other > 0 && known == 0:
		return lossOfParents, false
	case other > 0:
		return lossOfParents / 2, true
	case known > 0:
		return 0, true
	case len(s.Parents) > 0 && len(a.parents[i]) > 0:
		return lossOfNewParents, false
	}
	return 0, false
}

// lossBySize is that of how much s reads against what place i reads, as the sizes of this run have
// been so far: those of its parents, those of the run, or the profile's.
func (a *aligner) lossBySize(s *api.ProfileStage, i int) float64 {
	p := &a.stages[i]
	r, known := ratio(s, p)
	if !known {
		switch {
		case s.Query == nil && s.Tasks != p.Tasks:
			return lossOfTasks
		case s.Bytes > 0 && p.Bytes == 0, s.Bytes == 0 && p.Bytes > 0:
			return 1
		}
		return 0
	}
	loss := a.scale.loss(r)
	if s.Query == nil && s.Tasks != p.Tasks {
		loss += lossOfTasks
	}
	return loss
}

// lossByOrder is that of what would be left out, or done later, if place i came now.
func (a *aligner) lossByOrder(i int) float64 {
	front := max(0, a.front)
	switch {
	case a.front >= 0 && a.begins[i] == a.begins[front]:
		return 0
	case i < a.front:
		return lossOfBack
	}
	n := a.coming.between(a.front+1, a.begins[i])
	if n <= 0 {
		return 0
	}
	return min(mostLossOfSkip, lossOfSkip+0.4*math.Log(float64(n)))
}

// ratio is the logarithm of how much more s reads than p, false where that is not known.
func ratio(s, p *api.ProfileStage) (float64, bool) {
	switch {
	case s.Bytes > 0 && p.Bytes > 0:
		return math.Log(float64(s.Bytes) / float64(p.Bytes)), true
	case s.Records > 0 && p.Records > 0 && p.Records != int64(p.Tasks):
		return math.Log(float64(s.Records) / float64(p.Records)), true
	}
	return 0, false
}

// scale is how much more a run reads than its profile says, as a logarithm.
type scale struct {
	mean float64
	n    int
}

// learn takes in what a stage has read.
func (c *scale) learn(r float64, known bool) {
	if known && math.Abs(r-c.mean) < math.Ln2*(1+1/float64(c.n+1)) {
		c.n++
		c.mean += (r - c.mean) * max(0.1, 1/float64(c.n+1))
	}
}

// Widths of what is ordinary: between a stage and its run, and before any is known.
const (
	ordinary = 0.2
	atFirst  = 0.6
)

// loss is that of a stage that reads so much more.
func (c scale) loss(r float64) float64 {
	width := ordinary + (atFirst-ordinary)/float64(c.n+1)
	d := min(math.Abs(r-c.mean), math.Abs(r)+width) / width
	return min(mostLossOfSize, math.Log1p(d*d))
}

// alike reports whether it does not matter which of two annotations a stage has.
func (a *aligner) alike(i, k int) bool {
	x, y := &a.stages[i], &a.stages[k]
	if x.Signature != y.Signature || x.Lineage != y.Lineage || (x.Query == nil) != (y.Query == nil) ||
		x.Query != nil && (x.Query.Shape != y.Query.Shape || x.Query.Exchange != y.Query.Exchange) {
		return false
	}
	r, known := ratio(x, y)
	return (!known || math.Abs(r) < ordinary/2) && math.Abs(math.Log(float64(x.CoreSeconds/y.CoreSeconds))) < ordinary
}
