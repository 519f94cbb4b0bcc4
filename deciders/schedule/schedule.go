package schedule

import (
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/pause"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Ready plans a stage that has become ready, of a paced application: Eq 1-3 with the time
// really left.
func Ready(o *estimate.Outlook, a *ledger.App, s *ledger.Stage) ledger.StageAimed {
	return ready(o, a, s, s.First)
}

// ready is Ready of a stage that has had that first deadline. Of several stages that the profile has as one each gets
// an equal part of what these have together.
func ready(o *estimate.Outlook, a *ledger.App, s *ledger.Stage, first units.Seconds) ledger.StageAimed {
	q, c := o.Aiming(a), o.Course(a)
	coming, part := c.Share(a, s)
	m := dag.Moment{Deadline: a.Promise.Deadline, Spent: a.At(o.View.Now()), Stage: s.Annotation, Unsubmitted: coming,
		Running: rests(a, s, c), Seated: estimate.Seated(a, q), Began: began(a, s, estimate.LegsBegan(a))}
	return plan(o, a, s, q, c.Graph.StageDeadline(q, m)*units.Seconds(part), within(a, s, q, c.Graph, m), first)
}

// within is how long s of a may take by the bound of its query or job; of several jobs that the profile has as one each
// stage may take that long.
func within(a *ledger.App, s *ledger.Stage, q dag.Params, g *dag.Graph, m dag.Moment) units.Seconds {
	if a.Profile.Folded(s) {
		one, _ := a.Profile.Annotated(s)
		return estimate.Limit(a).One(one.Duration)
	}
	return q.Within(g, m)
}

// began is when the leg of s began, by when legs of a did.
func began(a *ledger.App, s *ledger.Stage, legs map[int]units.Seconds) units.Seconds {
	leg, _, _ := dag.LegOf(s.Annotation, a.Profile.Graph)
	return legs[leg]
}

// rests is what is left of the running stages besides s. Stages submitted together with s whose turn is yet to come are
// not among them: the profile's match still has them as not submitted. Nor are those that come again.
func rests(a *ledger.App, s *ledger.Stage, c estimate.Course) []dag.Rest {
	var rests []dag.Rest
	for _, other := range c.Running(a) {
		if other.Annotation != s.Annotation {
			rests = append(rests, dag.Rest{Stage: other.Annotation, Left: estimate.Left(other)})
		}
	}
	return rests
}

// Anew plans running stages of a paced application once more: what is left of each running
// stage counts as a stage, those that have executors first, then the earlier ids.
func Anew(o *estimate.Outlook, a *ledger.App) []ledger.Lever {
	return anew(o, a, nil)
}

// Late plans a running stage that has waited for executors until now. While nothing of it
// is done, its first deadline is the one that it gets.
func Late(o *estimate.Outlook, a *ledger.App, s *ledger.Stage) []ledger.Lever {
	return anew(o, a, s)
}

// anew plans all running stages once more, or only the one that comes late.
func anew(o *estimate.Outlook, a *ledger.App, late *ledger.Stage) []ledger.Lever {
	q, c := o.Aiming(a), o.Course(a)
	seated := estimate.Seated(a, q)
	open := c.Running(a)
	if q.Executors > 0 {
		open = slices.Concat(filter(open, func(s *ledger.Stage) bool { return !a.Waits(s) }), filter(open, a.Waits))
	}
	g := a.Profile.GraphOf(estimate.Rest(c.Body, open))
	var earlier []dag.Rest // Of a stage in g, which is the rest of one.
	var planned []ledger.Lever
	legs := estimate.LegsBegan(a)
	for i, s := range open {
		if late == nil || s == late {
			following := slices.Clone(c.Coming)
			for _, later := range open[i+1:] {
				following = append(following, later.Annotation)
			}
			slices.Sort(following)
			m := dag.Moment{Deadline: a.Promise.Deadline, Spent: a.At(o.View.Now()), Stage: s.Annotation, Unsubmitted: following,
				Running: earlier, Seated: seated, Began: began(a, s, legs)}
			first := s.First
			if late != nil && s.Progress() == 0 {
				first = 0
			}
			planned = append(planned, plan(o, a, s, q, g.StageDeadline(q, m), within(a, s, q, g, m), first))
		}
		earlier = append(earlier, dag.Rest{Stage: s.Annotation, Left: 1})
	}
	for _, s := range a.Opened() {
		switch {
		case late != nil && s != late || !a.Profile.Folded(s):
		case late != nil && s.Progress() == 0:
			planned = append(planned, ready(o, a, s, 0))
		default:
			planned = append(planned, ready(o, a, s, s.First))
		}
	}
	return planned
}

// plan gives a stage a deadline, counted from now. It is the equations' by q unless it yields, its query or job has a
// bound, or its application's targets are paused or it is asked something: then it has none left, and all cores. Its
// executors get their targets.
func plan(o *estimate.Outlook, a *ledger.App, s *ledger.Stage, q dag.Params,
	deadline, bound, first units.Seconds) ledger.StageAimed {
	if math.IsNaN(float64(deadline)) {
		deadline = 0
	}
	last, free := estimate.Final(a, s, o.Course(a), q), pause.Paused(a) || estimate.Asked(a)
	switch {
	case free:
		deadline = 0
	case !last:
		deadline = o.Yield(a, q, deadline)
	}
	deadline = min(max(min(deadline, bound), -ledger.Farthest), ledger.Farthest)
	annotation, _ := a.Profile.Annotated(s)
	predicted := estimate.Predict(a, annotation, s)
	if first == 0 && !free {
		first = a.At(o.View.Now()) + deadline - s.ReadyAt
	}
	aim := ledger.Aim{Planned: true, Last: last, DeadlineAt: o.View.Now().Add(deadline.Duration()), Work: predicted.Work,
		Records: predicted.Records, Least: o.Least(a)}
	if !last && !s.Estimated() {
		aim.Work *= units.Work(need(a, q, deadline))
	}
	return ledger.StageAimed{App: a.ID, Stage: s.Key(), Left: deadline, Aim: aim, First: first,
		Targets: targets(o, a, s, aim),
		Cores:   dag.EstimateCores(aim.Records*needed(annotation, aim), deadline, annotation.NominalRate)}
}

// Bound makes the targets of a planned stage from its bindings. Its deadline stays.
func Bound(o *estimate.Outlook, a *ledger.App, s *ledger.Stage) ledger.StageTargeted {
	return ledger.StageTargeted{App: a.ID, Stage: s.Key(), Targets: targets(o, a, s, s.Aim)}
}

// targets are those of s's bindings, in order of executor. Eq 6 and 7 are taken for what is
// left of the stage and each executor's share of it: at the start, with equal shares, that
// is the source's equation.
func targets(o *estimate.Outlook, a *ledger.App, s *ledger.Stage, aim ledger.Aim) []ledger.Target {
	if a.Profile.Beside(s) {
		return nil // Others own its executors.
	}
	annotation, _ := a.Profile.Annotated(s)
	left := units.FromDuration(aim.DeadlineAt.Sub(o.View.Now()))
	rest := aim.Records * needed(annotation, aim) * (1 - float64(s.Progress()))
	estimated := dag.EstimateCores(rest, left, annotation.NominalRate)
	var weight float64
	for _, b := range s.Ready.Bindings {
		weight += b.Weight
	}
	var fixed units.Fraction
	if s.Ready.Weighted {
		fixed = a.Profile.FixedPart[s.Ready.Signature]
	}
	var all []ledger.Target
	for _, b := range s.Ready.Bindings {
		x := a.Executor(b.Executor)
		if x == nil || x.Gone || x.Free() || b.Tasks <= 0 || !(b.Weight > 0) {
			continue
		}
		share := b.Weight / weight
		most := a.Tenant.MostOf(x, o.View.Offered(x.Node))
		cores := min(dag.InitCores(estimated*units.Cores(share), o.Equations.Quantum, 1), most)
		if aim.Last && left < dag.Steerable && o.Equations.Aim > 0 {
			cores = most
		}
		all = append(all, ledger.Target{Node: x.Node, StageTarget: api.StageTarget{Executor: x.ID, Weight: b.Weight,
			Tasks: b.Tasks,
			Work:  aim.Work * units.Work(share), Records: aim.Records * share, LongestTask: longest(annotation, s, aim.Work),
			TaskCores: max(annotation.TaskCores, units.Cores(a.Tenant.Launch.TaskCPUs)), Reading: annotation.Reading,
			FixedPart: fixed, TaskCost: annotation.TaskCost, InitCores: cores}})
	}
	slices.SortFunc(all, func(x, y ledger.Target) int { return api.CompareExecutors(x.Executor, y.Executor) })
	return all
}

// longest is what a stage's longest task is predicted to take where all take work: the
// profile's, scaled as a mean task is.
func longest(annotation api.ProfileStage, s *ledger.Stage, work units.Work) units.Seconds {
	if annotation.CoreSeconds <= 0 || s.Ready.Tasks <= 0 {
		return annotation.LongestTask
	}
	scale := float64(work/annotation.CoreSeconds) * float64(annotation.Tasks) / float64(s.Ready.Tasks)
	return min(annotation.LongestTask*units.Seconds(scale), units.Seconds(work))
}

func filter(stages []*ledger.Stage, keep func(*ledger.Stage) bool) (kept []*ledger.Stage) {
	for _, s := range stages {
		if keep(s) {
			kept = append(kept, s)
		}
	}
	return kept
}
