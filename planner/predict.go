package planner

import (
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// predicted returns a's duration at its end, 0 when nobody can know.
func (e *Engine) predicted(a *app) units.Seconds {
	switch {
	case e.leaves(a) && a.profile != nil:
		return max(a.Stopped+a.profile.body.Exit, a.at(e.now))
	case !a.running():
		return a.Ended
	case a.profile == nil || a.Mismatch != "" || a.Mode == modeUnpaced:
		return 0
	}
	return e.outlook(a, !a.paced() || a.observed())
}

// outlook predicts the end of a running application from where it stands: running
// stages from their progress, the others from what they will be given, the driver's
// gaps and tail from the profile. full says that every stage has all cores. While all
// goes as planned it holds still.
func (e *Engine) outlook(a *app, full bool) units.Seconds {
	params := e.params(a)
	if params.Open = full; full {
		params.Executors = 0
	}
	c := a.course()
	return c.graph.Finish(params, a.Deadline, a.Cores, a.Slots, e.standing(a, c, full))
}

// soonest is the earliest end of an application in the shape that it has, with all
// cores for every stage.
func (e *Engine) soonest(a *app) units.Seconds {
	c := a.course()
	return c.graph.Finish(e.params(a), 0, a.Cores, a.Slots, e.standing(a, c, true))
}

// standing is how far a has come on its course. Stages that are neither open nor yet to
// come have ended.
func (e *Engine) standing(a *app, c course, full bool) dag.Standing {
	from := dag.Standing{Now: a.at(e.now)}
	known := make(map[int]bool)
	for _, id := range c.coming {
		known[id] = true
	}
	for _, s := range a.open() {
		if s.Annotation == unmatched || known[s.Annotation] {
			continue
		}
		known[s.Annotation] = true
		from.Underway = append(from.Underway, dag.Underway{Stage: s.Annotation, Left: e.rest(a, c, s, full),
			Aim: e.expected(a, s), Waits: a.waits(s)})
	}
	ends := make(map[int]units.Seconds)
	for _, s := range a.order {
		ends[s.Annotation] = max(ends[s.Annotation], s.DoneAt)
	}
	for _, s := range a.profile.body.Stages {
		if !known[s.ID] {
			from.Ended = append(from.Ended, dag.Ended{Stage: s.ID, At: ends[s.ID]})
		}
	}
	return from
}

// expected is when a planned stage ends if it keeps its pace. One that has done p of
// its work in t has 1-p of its time d left: t + (1-p) d, which is d as long as p = t/d.
func (e *Engine) expected(a *app, s *stage) units.Seconds {
	if done := float64(s.done()); s.Planned && done > 0 {
		return a.at(e.now) + units.Seconds(1-done)*(units.FromDuration(s.DeadlineAt.Sub(a.Start))-s.ReadyAt)
	}
	return units.FromDuration(s.DeadlineAt.Sub(a.Start))
}

// rest is what is left of a running stage, as a share of its annotation on the course.
// One of which no progress is known is taken to be on time.
func (e *Engine) rest(a *app, c course, s *stage, full bool) float64 {
	annotation, _ := c.graph.Stage(s.Annotation)
	whole, _ := a.profile.graph.Stage(s.Annotation)
	scale := float64(a.predict(whole, s).Work) * float64(annotation.NominalRate) / float64(annotation.Records)
	if done := float64(s.done()); done > 0 || a.waits(s) {
		return scale * (1 - done)
	}
	planned := annotation.Duration
	if s.Planned && !full {
		planned = units.FromDuration(s.DeadlineAt.Sub(a.instant(s.ReadyAt)))
	}
	if !(planned > 0) {
		return scale
	}
	return scale * max(leastRest, 1-float64((a.at(e.now)-s.ReadyAt)/planned))
}
