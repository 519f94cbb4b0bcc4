package planner

import (
	"fmt"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// farthest bounds the time left that a target may say, in seconds: a year says
// as much as more would, and stays far from any clock's overflow.
const farthest units.Seconds = 365 * 24 * 3600

// match finds the annotations of stages that have become ready, in order of id.
// A stage that has none ends pacing for the whole run.
func (e *Engine) match(a *app, s *stage) bool {
	s.dirty = true
	if a.profile == nil || a.Mismatch != "" {
		return false
	}
	annotation, ok := a.profile.match.Match(s.Ready)
	if !ok {
		e.mismatch(a, s)
		return false
	}
	s.Annotation = annotation.ID
	return true
}

// mismatch lets an application go that does not do what its profile says: what
// is left of it is not known, so nothing can be planned. In a run at all cores
// it only means that the profile is out of date.
func (e *Engine) mismatch(a *app, s *stage) {
	a.Mismatch = fmt.Sprintf("stage %d (%s) is not in profile %q", s.key().Stage, s.Ready.Name, a.Profile)
	a.touch()
	if a.Mode == modePaced {
		e.release(a, a.Mismatch+": all cores from now on")
	}
}

// planReady gives the stages that have become ready, in order of id, their
// deadlines: Eq 1-3 with the time really left.
func (e *Engine) planReady(a *app, ready []*stage) {
	if len(ready) > 0 {
		e.reconsider(a)
	}
	slices.SortFunc(ready, compareStages)
	for _, s := range ready {
		if !e.match(a, s) || !a.paced() || s.Done != nil {
			continue
		}
		params, c := e.params(a), a.course()
		m := dag.Moment{Deadline: a.Deadline, Spent: a.at(e.now), Stage: s.Annotation, Unsubmitted: c.coming,
			Running: a.rests(s, c.coming), Seated: a.seated(params)}
		e.aim(a, s, c.graph.StageDeadline(params, m))
	}
}

// rests is what is left of the running stages besides s. Those submitted together
// with s whose turn is yet to come are not among them: the profile's match still
// has them as not submitted. Nor are those that come again.
func (a *app) rests(s *stage, coming []int) []dag.Rest {
	var rests []dag.Rest
	for _, other := range a.open() {
		if other.Annotation != s.Annotation && other.Annotation != unmatched && !slices.Contains(coming, other.Annotation) {
			rests = append(rests, dag.Rest{Stage: other.Annotation, Left: other.left()})
		}
	}
	return rests
}

// aim gives a stage its deadline, counted from now, and its executors their
// targets.
func (e *Engine) aim(a *app, s *stage, deadline units.Seconds) {
	if math.IsNaN(float64(deadline)) {
		deadline = 0
	}
	deadline = min(max(deadline, -farthest), farthest)
	annotation, _ := a.profile.graph.Stage(s.Annotation)
	predicted := a.predict(annotation, s)
	if s.First == 0 {
		s.First = a.at(e.now) + deadline - s.ReadyAt
	}
	s.Planned, s.Last, s.DeadlineAt = true, e.final(a, s), e.now.Add(deadline.Duration())
	s.Work, s.Records = predicted.Work, predicted.Records
	// An observed stage has all cores, whatever its target says.
	if !a.Targeted && !a.observed() {
		a.Targeted, a.dirty = true, true
	}
	s.Targets = nil
	e.bind(a, s)
	cores := dag.EstimateCores(s.Records, deadline, annotation.NominalRate)
	e.occur(StagePlanned{App: a.ID, Stage: s.key(), Deadline: deadline, Cores: cores, Executors: len(s.Targets)})
}

// bind makes the targets of a planned stage from its bindings. A target that
// stays the same keeps its Rev, so that its controller is left alone.
//
// Eq 6 and 7 are taken for what is left of the stage and each executor's share
// of it: at the start, with equal shares, that is the source's equation.
func (e *Engine) bind(a *app, s *stage) {
	annotation, _ := a.profile.graph.Stage(s.Annotation)
	left := units.FromDuration(s.DeadlineAt.Sub(e.now))
	estimate := dag.EstimateCores(s.Records*(1-float64(s.done())), left, annotation.NominalRate)
	var weight float64
	for _, b := range s.Ready.Bindings {
		weight += b.Weight
	}
	var even units.Fraction
	if s.Ready.Weighted {
		even = a.profile.even[s.Ready.Signature]
	}
	before := s.Targets
	s.Targets = nil
	for _, b := range s.Ready.Bindings {
		x := a.executor(b.Executor)
		if x == nil || x.Gone || b.Tasks <= 0 || !(b.Weight > 0) {
			continue
		}
		share := b.Weight / weight
		cores := min(dag.InitCores(estimate*units.Cores(share), e.cfg.Quantum, 1), e.offered(x.Node))
		if s.Last && left < dag.Steerable && e.cfg.Aim > 0 {
			cores = e.offered(x.Node)
		}
		t := target{Executor: x.ID, Node: x.Node, Weight: b.Weight, Tasks: b.Tasks, Work: s.Work * units.Work(share), Records: s.Records * share,
			Longest: longest(annotation, s), Reading: annotation.Reading, Even: even, Init: cores}
		s.Targets = append(s.Targets, a.revise(t, before))
	}
	slices.SortFunc(s.Targets, func(x, y target) int { return compareIDs(x.Executor, y.Executor) })
	s.dirty = true
	a.steer()
}

// longest is what a stage's longest task is predicted to take: the profile's, scaled
// as a mean task is.
func longest(annotation api.ProfileStage, s *stage) units.Seconds {
	if annotation.CoreSeconds <= 0 || s.Ready.Tasks <= 0 {
		return annotation.LongestTask
	}
	scale := float64(s.Work/annotation.CoreSeconds) * float64(annotation.Tasks) / float64(s.Ready.Tasks)
	return min(annotation.LongestTask*units.Seconds(scale), units.Seconds(s.Work))
}

// revise gives t the Rev of the target that it repeats, a new one otherwise.
func (a *app) revise(t target, before []target) target {
	for _, old := range before {
		same := t
		same.Rev, same.Init = old.Rev, old.Init
		if same == old {
			return old
		}
	}
	a.marks.Revs++
	t.Rev = a.marks.Revs
	return t
}

// rebind takes new bindings of a running stage. Its deadline stays, unless nobody
// works on it: a stage that has waited for executors, which start or are taken,
// is given its deadline when it gets one, of the time that is left then. So a
// start never counts against a stage.
func (e *Engine) rebind(a *app, s *stage, bindings []api.Binding) {
	waited := len(s.Targets) == 0
	s.Ready.Bindings = bindings
	s.dirty = true
	// Progress is told as a part of shares that have just changed.
	s.handOver = max(s.handOver, e.now.Add(resettle-handOverEvery))
	switch {
	case !a.paced() || !s.Planned || s.Done != nil:
	case waited && len(bindings) > 0:
		if s.done() == 0 {
			s.First = 0
		}
		e.redivide(a, s)
	default:
		e.bind(a, s)
	}
}

// drop takes a stage's targets away: its executors have all cores then.
func (a *app) drop(s *stage) {
	if len(s.Targets) > 0 {
		s.Targets, s.dirty = nil, true
		a.steer()
	}
}

// dropAll takes the targets of all stages away.
func (a *app) dropAll() {
	for _, s := range a.order {
		a.drop(s)
	}
}

// retarget plans the running stages anew after the application's deadline
// changed.
func (e *Engine) retarget(a *app) {
	if a.paced() {
		e.redivide(a, a.open()...)
	}
}

// redivide gives running stages new deadlines: what is left of each running stage
// counts as a stage, those that have executors first, then the earlier ids.
func (e *Engine) redivide(a *app, stages ...*stage) {
	params := e.params(a)
	c, seated := a.course(), a.seated(params)
	open := filter(a.open(), func(s *stage) bool { return s.Annotation != unmatched && !slices.Contains(c.coming, s.Annotation) })
	if params.Executors > 0 {
		open = slices.Concat(filter(open, func(s *stage) bool { return !a.waits(s) }), filter(open, a.waits))
	}
	g := a.profile.graphOf(rest(c.body, open))
	var earlier []dag.Rest // Of a stage in g, which is the rest of one.
	for i, s := range open {
		if !slices.Contains(stages, s) {
			earlier = append(earlier, dag.Rest{Stage: s.Annotation, Left: 1})
			continue
		}
		following := slices.Clone(c.coming)
		for _, later := range open[i+1:] {
			following = append(following, later.Annotation)
		}
		slices.Sort(following)
		m := dag.Moment{Deadline: a.Deadline, Spent: a.at(e.now), Stage: s.Annotation, Unsubmitted: following, Running: earlier, Seated: seated}
		earlier = append(earlier, dag.Rest{Stage: s.Annotation, Left: 1})
		e.aim(a, s, g.StageDeadline(params, m))
	}
}

// release gives an application all cores for the rest of its run: no targets,
// no gate, so that new stages may use every executor's slots.
func (e *Engine) release(a *app, why string) {
	if a.Mode == modePaced || a.Mode == modeRecording {
		a.Mode = modeReleased
	}
	e.ungate(a, why)
}

func (e *Engine) ungate(a *app, why string) {
	a.dropAll()
	a.say(why)
	a.touch()
	e.occur(PacingChanged{App: a.ID, Pacing: a.pacing(), Why: why})
}
