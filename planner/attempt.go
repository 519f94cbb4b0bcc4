package planner

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// course is what a run still has before it: its profile with each stage as large as
// what is to be done of it, where that is not all, and the ids of the stages that are
// to be submitted, ascending.
type course struct {
	body   api.Profile
	graph  *dag.Graph
	coming []int
}

// course returns what a, which has a profile, has before it. Stages of which further
// attempts run count for the part that these repeat; so do those that have failed, or
// that read what is being repeated: they are submitted again.
func (a *app) course() course {
	parts, coming := a.parts()
	c := course{a.profile.body, a.profile.graph, coming}
	if len(parts) > 0 {
		c.body = shrink(c.body, parts)
		c.graph = a.profile.graphOf(c.body)
	}
	return c
}

// parts returns what is to be done of the stages that are tried again, by annotation,
// and the annotations that are to be submitted, ascending.
func (a *app) parts() (parts map[int]float64, coming []int) {
	coming = a.profile.match.Remaining()
	set := func(s *stage, part float64) {
		if parts == nil {
			parts = make(map[int]float64)
		}
		parts[s.Annotation] = part
	}
	for _, s := range a.retried() {
		set(s, a.part(s)*s.left())
		coming = append(coming, s.Annotation)
	}
	for _, s := range a.open() {
		if part := a.part(s); part < 1 && s.Annotation != unmatched && parts[s.Annotation] == 0 {
			set(s, part)
		}
	}
	slices.Sort(coming)
	return parts, slices.Compact(coming)
}

// retried returns the attempts whose stages will be submitted again: the newest ones
// that failed in the driver's present job, and those that run while what they read is
// being repeated, for a driver tries them again once that is there.
func (a *app) retried() (retried []*stage) {
	job := math.MinInt
	for _, s := range slices.Backward(a.order) {
		job = max(job, s.Ready.Job)
		if s.Annotation == unmatched || s.Ready.Job < job {
			continue
		}
		if s.Done != nil && s.Done.Failed && !a.superseded(s) || s.Done == nil && a.readsRepeated(s) {
			retried = append(retried, s)
		}
	}
	return retried
}

// superseded reports whether a later attempt of s's stage is known.
func (a *app) superseded(s *stage) bool {
	return slices.ContainsFunc(a.order, func(o *stage) bool { return o.key().Stage == s.key().Stage && o.key().Attempt > s.key().Attempt })
}

// readsRepeated reports whether a stage that comes before s is being tried again.
func (a *app) readsRepeated(s *stage) bool {
	return slices.ContainsFunc(a.open(), func(o *stage) bool {
		return o.again() && o.Annotation != unmatched && a.profile.graph.Precedes(o.Annotation, s.Annotation)
	})
}

// part is the share of its stage's tasks that an attempt has: a further one repeats
// those whose output was lost or that had not finished.
func (a *app) part(s *stage) float64 {
	first := a.first(s)
	if s == first || first == nil || first.Ready.Tasks <= 0 {
		return 1
	}
	return min(1, float64(s.Ready.Tasks)/float64(first.Ready.Tasks))
}

// first is the first attempt of s's stage, or of the one that it repeats; nil if it is
// forgotten.
func (a *app) first(s *stage) *stage {
	id := s.key().Stage
	for {
		first := a.stages[api.StageKey{Stage: id}]
		if first == nil || first.Ready.Repeats == nil || *first.Ready.Repeats >= id {
			return first
		}
		if id = *first.Ready.Repeats; a.stages[api.StageKey{Stage: id}] == nil {
			return first
		}
	}
}

// again reports whether s repeats what an earlier attempt or stage has done.
func (s *stage) again() bool { return s.key().Attempt > 0 || s.Ready.Repeats != nil }

// left is the share of an attempt that is not done, never nothing.
func (s *stage) left() float64 { return max(leastRest, 1-float64(s.done())) }

// predict scales a stage's annotation to what it really reads. A further attempt
// takes its part of what the first one was to take: what the driver says it reads
// may be the whole.
func (a *app) predict(annotation api.ProfileStage, s *stage) profiles.Prediction {
	first := cmp.Or(a.first(s), s)
	p, part := profiles.Predict(annotation, first.Ready), a.part(s)
	return profiles.Prediction{Ratio: part * p.Ratio, Records: part * p.Records, Work: units.Work(part) * p.Work}
}

// leastRest is the part of a running stage that is always taken to be left.
const leastRest = 0.02

// rest is body with the running stages as large as what is not done of them.
func rest(body api.Profile, open []*stage) api.Profile {
	parts := make(map[int]float64, len(open))
	for _, s := range open {
		parts[s.Annotation] = s.left()
	}
	return shrink(body, parts)
}

// shrink is p with stages that are as long as a part of them and read as much; their
// gaps have passed.
func shrink(p api.Profile, parts map[int]float64) api.Profile {
	p.Stages = slices.Clone(p.Stages)
	for i := range p.Stages {
		s := &p.Stages[i]
		if part, ok := parts[s.ID]; ok {
			s.Duration *= units.Seconds(part)
			s.Records = int64(math.Ceil(part * float64(s.Records)))
			s.Gap = 0
		}
	}
	return p
}

// graphOf is the graph of a body that was made from p's.
func (p *annotated) graphOf(body api.Profile) *dag.Graph {
	g, err := p.graph.With(body)
	if err != nil {
		// The rest of a valid profile is valid: only durations have shrunk.
		return p.graph
	}
	return g
}
