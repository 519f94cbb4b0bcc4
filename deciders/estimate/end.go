package estimate

import (
	"slices"

	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Predicted returns a's duration at its end, 0 when nobody can know.
func (o *Outlook) Predicted(a *ledger.App) units.Seconds {
	switch {
	case o.Leaves(a) && a.Profile != nil:
		return max(a.Outcome.Stopped+a.Profile.Body.Exit, a.At(o.View.Now()))
	case a.Over():
		return a.Outcome.Ended
	case a.Queued():
		return 0
	case a.Profile == nil || a.Promise.Mode == ledger.Unpaced:
		return 0
	}
	return o.End(a, !a.Paced() || a.Observed())
}

// End predicts the end of a running application with a profile from where it stands. It takes running stages from their
// progress, the others from what they will be given, the driver's gaps and tail from the profile. full says that every
// stage has all cores. While all goes as planned it holds still.
func (o *Outlook) End(a *ledger.App, full bool) units.Seconds {
	end, _ := o.resume(a, full)
	return end
}

// Ahead forecasts the stages of a that its profile has and that are still to come, of an application that runs, in
// order of id. It says when each is ready, and its deadline and cores where it is paced.
func (o *Outlook) Ahead(a *ledger.App) []dag.StageForecast {
	remaining := a.Profile.Match.Remaining()
	_, stages := o.resume(a, !a.Paced() || a.Observed())
	return slices.DeleteFunc(stages, func(s dag.StageForecast) bool { return !slices.Contains(remaining, s.ID) })
}

func (o *Outlook) resume(a *ledger.App, full bool) (end units.Seconds, stages []dag.StageForecast) {
	s := o.supply(a)
	loads := loads(a, o, a.Seats(), false)
	s.Least = moves(a, o, loads).floor(loads)
	return resumeOn(a, o, full, s)
}

// resumeOn is resume with a supply.
func resumeOn(a *ledger.App, o *Outlook, full bool, s dag.Supply) (end units.Seconds, stages []dag.StageForecast) {
	q := o.Of(a)
	if q.Open = full; full {
		q.Executors = 0
	}
	c := o.Course(a)
	return c.Graph.Resume(q, a.Promise.Deadline, s, standing(o.View.Now(), a, c, full))
}

// Without predicts the end of a, which runs and has a profile, if it had no executors on that node: with all cores of
// its other nodes that nobody has been promised.
func Without(a *ledger.App, o *Outlook, node string) units.Seconds {
	n := o.View.Node(node)
	rest := slices.DeleteFunc(slices.Clone(a.Seats()), func(name string) bool { return name == node })
	here := 0
	for _, x := range a.Alive() {
		if x.Node == node && !x.Leaving {
			here++
		}
	}
	s := dag.Supply{Cores: a.Tenant.Cores - n.Offered, Slots: a.Tenant.Slots - n.StageSlots(a.Tenant.Launch, here),
		Taken: taken(o.Promised(a, rest))}
	if a.Tenant.Cap > 0 {
		s.Cores = min(s.Cores, a.Tenant.Cap*units.Cores(len(rest)))
	}
	if len(rest) == 0 || s.Cores <= 0 || s.Slots <= 0 {
		return forever
	}
	q, c := o.Of(a), o.Course(a)
	q.Open, q.Executors = true, 0
	end, _ := c.Graph.Resume(q, a.Promise.Deadline, s, standing(o.View.Now(), a, c, true))
	return end
}

// Soonest is the earliest end of an application in the shape that it has, with all
// cores for every stage.
func (o *Outlook) Soonest(a *ledger.App) units.Seconds {
	c := o.Course(a)
	s := o.supply(a)
	loads := loads(a, o, a.Seats(), false)
	s.Least = moves(a, o, loads).floor(loads)
	end, _ := c.Graph.Resume(o.Of(a), 0, s, standing(o.View.Now(), a, c, true))
	return end
}

// standing is how far a has come on its course. Stages that are neither open nor yet to
// come have ended.
func standing(now units.Instant, a *ledger.App, c Course, full bool) dag.Standing {
	from := dag.Standing{Now: a.At(now), Began: LegsBegan(a)}
	known := make(map[int]bool)
	for _, id := range c.Coming {
		known[id] = true
	}
	for _, s := range c.Running(a) {
		if known[s.Annotation] {
			continue // An earlier attempt of it runs, too.
		}
		known[s.Annotation] = true
		from.Underway = append(from.Underway, dag.Underway{Stage: s.Annotation, Left: share(now, a, c, s, full),
			Aim: expected(now, a, s), Waits: a.Waits(s)})
	}
	ended := ends(a)
	for _, s := range a.Profile.Body.Stages {
		if !known[s.ID] {
			from.Ended = append(from.Ended, dag.Ended{Stage: s.ID, At: ended[s.ID]})
		}
	}
	return from
}

// expected is when a planned stage ends if it keeps its pace. A stage that has done p of its work in t has 1-p of its
// time d left: t + (1-p) d, which is d as long as p = t/d.
func expected(now units.Instant, a *ledger.App, s *ledger.Stage) units.Seconds {
	due := units.FromDuration(s.DeadlineAt.Sub(a.Promise.Start))
	if done := float64(s.Progress()); s.Planned && done > 0 {
		return a.At(now) + units.Seconds(1-done)*(due-s.ReadyAt)
	}
	return due
}

// share is what is left of a running stage, as a share of its annotation on the course.
// A stage of which no progress is known is taken to be on time.
func share(now units.Instant, a *ledger.App, c Course, s *ledger.Stage, full bool) float64 {
	annotation, _ := c.Graph.Stage(s.Annotation)
	whole, _ := a.Profile.Annotated(s)
	scale := float64(Predict(a, whole, s).Work) * float64(annotation.NominalRate) / float64(annotation.Records)
	if done := float64(s.Progress()); done > 0 || a.Waits(s) {
		return scale * (1 - done)
	}
	planned := annotation.Duration
	if s.Planned && !full {
		planned = units.FromDuration(s.DeadlineAt.Sub(a.Instant(s.ReadyAt)))
	}
	if !(planned > 0) {
		return scale
	}
	return scale * max(leastRest, 1-float64((a.At(now)-s.ReadyAt)/planned))
}
