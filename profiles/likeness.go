package profiles

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// loss is how unlikely it is that s has the annotation at place i, which is on a list of that key;
// false where it cannot be.
func (a *aligner) loss(s *api.ProfileStage, i int, by By) (float64, bool) {
	p := &a.stages[i]
	if a.folded(i) {
		return a.lossOfFolded(s, by)
	}
	loss, order := 0.0, true
	switch by {
	case BySignature:
	case ByLineage:
		loss += params.Losses.Lineage
		if _, known := a.bySignature[s.Signature]; known {
			loss += params.Losses.Site
		}
	case ByPlace:
		if p.Signature == s.Signature {
			return 0, false
		}
		loss += params.Losses.Place
	}
	if s.Query != nil && p.Query != nil {
		mine, its := queryOf(s.Query), queryOf(p.Query)
		bound, is := a.who.queries[mine]
		other, begun := a.who.begun[its]
		switch {
		case a.who.open(mine) && (!begun || other == mine):
			loss += a.who.lossOfOther(mine, its)
			order = false
		case is && bound != its, !is && begun && other != mine && !a.taken(i):
			return 0, false
		case is:
			order = false
		case mine.nth != its.nth:
			loss += params.Losses.Nth
		}
		switch {
		case s.Query.Shape == p.Query.Shape && s.Query.Exchange == p.Query.Exchange:
		case a.shapes[s.Query.Shape]:
			return 0, false
		case !is:
			loss += params.Losses.Query
		}
		if by == ByQuery && p.Signature != s.Signature {
			loss += params.Losses.Code
		}
	} else {
		if s.Signature != p.Signature || !a.only(i) {
			loss += a.lossByName(s.Name, p.Name)
		}
		if s.Query != nil && len(a.byExchange) > 0 || p.Query != nil && len(a.who.queries) > 0 {
			loss += params.Losses.Kind
		}
	}
	if job, known := a.come.jobs[s.Job]; known && order && job != p.Job {
		loss += params.Losses.Job
	}
	parents, agree := a.lossByParents(s, i)
	loss += parents + a.lossBySize(s, i)
	if order && !agree {
		loss += a.lossByOrder(i)
	}
	return loss, true
}

// lossOfFolded is that of a place that stands for several stages: its key alone says whether s is one of them.
func (a *aligner) lossOfFolded(s *api.ProfileStage, by By) (float64, bool) {
	switch by {
	case BySignature:
		return 0, true
	case ByLineage:
		if _, known := a.bySignature[s.Signature]; known {
			return params.Losses.Lineage + params.Losses.Site, true
		}
		return params.Losses.Lineage, true
	}
	return 0, false
}

// lossByName is that of where the action was called. Lines that were written into a program's file move the lines below
// by as many.
func (a *aligner) lossByName(seen, known string) float64 {
	site, line := callSite(seen)
	other, was := callSite(known)
	switch {
	case known == "":
		return 0
	case site != other:
		return params.Losses.Name
	}
	return min(params.Losses.Name, params.Losses.Line*math.Log1p(math.Abs(float64(line-was-a.come.moved))))
}

// callSite divides "collect at app.py:33" into where and line, 0 where there is none.
func callSite(name string) (site string, line int) {
	at := strings.LastIndexByte(name, ':')
	if at < 0 {
		return name, 0
	}
	line, err := strconv.Atoi(name[at+1:])
	if err != nil {
		return name, 0
	}
	return name[:at], line
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
		if a.reads(i, m.place) {
			known++
		} else {
			other++
		}
	}
	switch {
	case other > 0 && known == 0:
		return params.Losses.Parents, false
	case other > 0:
		return params.Losses.Parents / 2, true
	case known > 0:
		return 0, true
	case len(s.Parents) > 0 && len(a.parents[i]) > 0:
		return params.Losses.NewParents, false
	}
	return 0, false
}

// reads reports whether place i reads from place from, or did if what lies between and is left were gone.
func (a *aligner) reads(i, from int) bool {
	if slices.Contains(a.parents[i], from) {
		return true
	}
	return slices.ContainsFunc(a.parents[i][:min(len(a.parents[i]), mostParents)], func(between int) bool {
		return !a.taken(between) && slices.Contains(a.parents[between], from)
	})
}

// lossBySize is that of how much s reads against what place i reads, as the sizes of this run have
// been so far: those of its parents, those of the run, or the profile's.
func (a *aligner) lossBySize(s *api.ProfileStage, i int) float64 {
	p := &a.stages[i]
	r, known := ratio(s, p)
	if !known {
		switch {
		case s.Query == nil && p.Tasks > 0 && s.Tasks != p.Tasks:
			return params.Losses.Tasks
		case s.Bytes > 0 && p.Bytes == 0, s.Bytes == 0 && p.Bytes > 0:
			return 1
		}
		return 0
	}
	sum, n := 0.0, 0
	for _, parent := range s.Parents[:min(len(s.Parents), mostParents)] {
		if m, is := a.matched[parent]; is && m.sized {
			sum, n = sum+m.ratio, n+1
		}
	}
	loss := a.come.scale.loss(r, sum/float64(n), n > 0)
	if a.only(i) {
		return min(loss, params.Sizes.Only)
	}
	if s.Query == nil && p.Tasks > 0 && s.Tasks != p.Tasks {
		loss += params.Losses.Tasks
	}
	return loss
}

// lossByOrder is that of what would be left out, or done later, if place i came now.
func (a *aligner) lossByOrder(i int) float64 {
	front := max(0, a.come.front)
	switch {
	case a.come.front >= 0 && a.begins[i] == a.begins[front]:
		return 0
	case i < a.come.front:
		return params.Losses.Back
	}
	n := a.coming.between(a.come.front+1, a.begins[i])
	if n <= 0 {
		return 0
	}
	return min(params.Losses.MostSkip, params.Losses.Skip+params.Losses.SkipEach*math.Log(float64(n)))
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

// scale is how much more a run reads than its profile says, as logarithms.
type scale struct {
	mean, spread float64
	n, next      int
	newest       [8]float64
}

// note takes in what a stage has read that may be another one.
func (c *scale) note(r float64, known bool) {
	if known {
		c.newest[c.next%len(c.newest)] = r
		c.next++
	}
}

// learn takes in what a stage has read.
func (c *scale) learn(r float64, known bool) {
	if !known {
		return
	}
	c.note(r, known)
	c.n++
	weight := max(params.Sizes.LeastWeight, 1/float64(c.n+1))
	if c.n == 1 {
		c.mean = r
	}
	c.spread += (min(params.Sizes.MostSpread, math.Abs(r-c.mean)) - c.spread) * weight
	c.mean += (max(-params.Sizes.MostSpread, min(params.Sizes.MostSpread, r-c.mean))) * weight
}

// loss is that of a stage that reads so much more, whose parents have read more by parents if that is known. It reads
// as much more as the run, as its parents, or as some stage of late, or no more than in the profile.
func (c *scale) loss(r, parents float64, known bool) float64 {
	narrow := max(params.Sizes.LeastSpread, c.spread)
	doubt := 1 / float64(c.n+1)
	loss := params.Sizes.Scale*doubt + far(r-c.mean, narrow+params.Sizes.AtFirst*doubt)
	loss = min(loss, params.Sizes.Scale*(1-doubt)+far(r, narrow))
	for _, other := range c.newest[:min(c.next, len(c.newest))] {
		loss = min(loss, params.Sizes.Scale+far(r-other, narrow))
	}
	if known {
		loss = min(loss, far(r-parents, narrow))
	}
	return min(params.Sizes.Most, loss)
}

// far is the loss of a distance where width is ordinary.
func far(d, width float64) float64 { return math.Log1p(d * d / (width * width)) }

// alike reports whether it does not matter which of two annotations a stage has.
func (a *aligner) alike(i, k int) bool {
	x, y := &a.stages[i], &a.stages[k]
	if x.Signature != y.Signature || x.Lineage != y.Lineage || (x.Query == nil) != (y.Query == nil) ||
		x.Query != nil && (x.Query.Shape != y.Query.Shape || x.Query.Exchange != y.Query.Exchange) {
		return false
	}
	r, known := ratio(x, y)
	return (!known || math.Abs(r) < params.Sizes.Ordinary/2) &&
		math.Abs(math.Log(float64(x.CoreSeconds/y.CoreSeconds))) < params.Sizes.Ordinary
}
