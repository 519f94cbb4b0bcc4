package planner

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// outlook predicts the end of a running application: running stages from their
// progress, the others from what they will be given, the driver's gaps and tail
// from the profile. While all goes as planned it holds still.
type outlook struct {
	app *app
	// params are those of the executors that it has.
	params dag.Params
	now    units.Seconds
	// full says that every stage has all cores.
	full bool
	// starts and ends are by id of the profile's stages.
	starts, ends map[int]units.Seconds
}

// predicted returns a's duration at its end, 0 when nobody can know.
func (e *Engine) predicted(a *app) units.Seconds {
	switch {
	case !a.running():
		return a.Ended
	case a.profile == nil || a.Mismatch != "" || a.Mode == modeUnpaced:
		return 0
	}
	return e.outlook(a, !a.paced() || a.observed())
}

func (e *Engine) outlook(a *app, full bool) units.Seconds {
	o := outlook{app: a, params: e.params(a), now: a.at(e.now), full: full,
		starts: make(map[int]units.Seconds), ends: make(map[int]units.Seconds)}
	for _, s := range a.order {
		if s.Annotation != unmatched {
			o.starts[s.Annotation], o.ends[s.Annotation] = s.ReadyAt, o.end(s)
		}
	}
	return o.walk()
}

// end is when a stage ended or will end. A planned one has done p of its work in
// t and has 1-p of its time d left: t + (1-p) d, which is d as long as p = t/d.
func (o *outlook) end(s *stage) units.Seconds {
	if s.Done != nil {
		return s.DoneAt
	}
	annotation, _ := o.app.profile.graph.Stage(s.Annotation)
	t, planned := o.now-s.ReadyAt, o.least(annotation)
	switch {
	case o.full:
		planned = max(planned, annotation.Duration)
	case s.Planned:
		planned = max(planned, units.FromDuration(s.DeadlineAt.Sub(o.app.instant(s.ReadyAt))))
	}
	done := units.Seconds(s.done())
	if done == 0 {
		return s.ReadyAt + max(t, planned)
	}
	return s.ReadyAt + t + (1-done)*planned
}

// least is the shortest time that a stage can take.
func (o *outlook) least(s api.ProfileStage) units.Seconds {
	return o.app.profile.graph.Least(s.ID, o.app.Cores, o.app.Slots)
}

// walk goes through the stages in order of id, which is that of submission.
func (o *outlook) walk() units.Seconds {
	p := o.app.profile
	stages := p.body.Stages
	remaining := p.match.Remaining()
	before, end := p.body.Head, p.body.Head
	for i, s := range stages {
		if i > 0 && s.Job != stages[i-1].Job {
			before = end
		}
		if len(remaining) > 0 && remaining[0] == s.ID {
			remaining = remaining[1:]
			start := before
			for _, parent := range s.Parents {
				start = max(start, o.ends[parent])
			}
			start = max(start+s.Gap, o.now)
			o.starts[s.ID], o.ends[s.ID] = start, start+o.duration(s, start, remaining)
		}
		end = max(end, o.ends[s.ID])
	}
	return max(end+p.body.Tail, o.now)
}

func (o *outlook) duration(s api.ProfileStage, start units.Seconds, after []int) units.Seconds {
	if o.full {
		return max(o.least(s), s.Duration)
	}
	m := dag.Moment{Deadline: o.app.Deadline, Spent: start, Stage: s.ID, Unsubmitted: after, Running: o.rests(start)}
	m.Seated = o.seated(m.Running)
	return max(o.least(s), o.app.profile.graph.StageDeadline(o.params, m))
}

// rests is what will be left at a moment of the stages that run then, if each
// keeps its pace.
func (o *outlook) rests(at units.Seconds) []dag.Rest {
	var rests []dag.Rest
	for _, s := range o.app.profile.body.Stages {
		start, known := o.starts[s.ID]
		if end := o.ends[s.ID]; known && start <= at && at < end {
			rests = append(rests, dag.Rest{Stage: s.ID, Left: float64((end - at) / (end - start))})
		}
	}
	return rests
}

// seated are those of the stages that run at a moment that have executors by then:
// the ones that were ready first; nil where all have.
func (o *outlook) seated(running []dag.Rest) []int {
	if o.params.Executors <= 0 {
		return nil
	}
	var ids []int
	for _, r := range running {
		ids = append(ids, r.Stage)
	}
	slices.SortStableFunc(ids, func(x, y int) int { return cmp.Compare(o.starts[x], o.starts[y]) })
	return ids[:min(len(ids), o.params.Executors)]
}
