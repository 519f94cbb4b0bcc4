package estimate

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// Extra is what is made of a stage of a that its profile lacks: its work by profiles.Estimate, and its place in
// the course. That is in the job of the profile that its own job has stages of, else in the one that has begun last,
// while a part of that is left. It is beside what runs of it and before what comes. Else it is a job by itself after
// that. Its readers are not known: as if all that comes did it gets less time rather than too much.
func Extra(a *ledger.App, s *ledger.Stage) ledger.Extra {
	var ended []profiles.Ended
	near, mate := noStage, noStage // The last in the course that was submitted, and of those of its job.
	place := make(map[int]int, len(a.Profile.Body.Stages))
	for i := range a.Profile.Body.Stages {
		place[a.Profile.Body.Stages[i].ID] = i
	}
	later := func(id, than int) int {
		if than == noStage || place[id] > place[than] {
			return id
		}
		return than
	}
	for _, o := range a.Order {
		if o.Annotation == ledger.Unmatched {
			continue
		}
		near = later(o.Annotation, near)
		if o.Ready.Job == s.Ready.Job {
			mate = later(o.Annotation, mate)
		}
		if o.Done != nil && !o.Done.Failed && !again(o) {
			ended = append(ended, profiles.Ended{Ready: o.Ready, Work: o.CPU()})
		}
	}
	annotation, by := profiles.Estimate(a.Profile.Recorded, ended, s.Ready)
	annotation.ID, annotation.Parents = a.Profile.Next(), parentsOf(a, s)
	x := dag.Extra{Stage: annotation, After: near, Job: true}
	if mate != noStage {
		x.After, x.Job = mate, false
	}
	heads, open := leftOf(a, x.After)
	if open || len(heads) > 0 {
		x.Job, x.Before, x.Beside = false, heads, open
	}
	return ledger.Extra{Extra: x, By: by}
}

// noStage is no annotation.
const noStage = ledger.Unmatched

// parentsOf are the annotations of what s reads from.
func parentsOf(a *ledger.App, s *ledger.Stage) []int {
	parents := []int{}
	for _, id := range s.Ready.Parents {
		for _, o := range a.Order {
			if o.Key().Stage == id && o.Annotation != ledger.Unmatched {
				parents = append(parents, o.Annotation)
				break
			}
		}
	}
	slices.Sort(parents)
	return slices.Compact(parents)
}

// leftOf returns what is left of the job that has the stage with that annotation: the stages to come that wait
// for none to come, and whether one runs.
func leftOf(a *ledger.App, id int) (heads []int, open bool) {
	body := a.Profile.Body.Stages
	at := slices.IndexFunc(body, func(s api.ProfileStage) bool { return s.ID == id })
	if at < 0 {
		return nil, false
	}
	inside, ahead := make(map[int]bool), make(map[int]bool)
	for i := range body {
		inside[body[i].ID] = body[i].Job == body[at].Job
	}
	for _, s := range a.Opened() {
		open = open || s.Annotation != ledger.Unmatched && inside[s.Annotation]
	}
	for _, id := range a.Profile.Match.Remaining() {
		ahead[id] = true
	}
	for i := range body {
		s := &body[i]
		if ahead[s.ID] && inside[s.ID] && !slices.ContainsFunc(s.Parents, func(parent int) bool { return ahead[parent] }) {
			heads = append(heads, s.ID)
		}
	}
	return heads, open
}

// toldTasks is how many finished tasks tell what a stage takes.
const toldTasks = 2

// Told is the work of a stage that its run's profile lacks as its own tasks tell it: what it has used over how
// much of it is done. It is false until two of them have finished, and of other stages.
func Told(s *ledger.Stage) (units.Work, bool) {
	switch used := s.CPU(); {
	case !s.Estimated() || !(used > 0):
		return 0, false
	case s.Done != nil && !s.Done.Failed:
		return used, true
	case s.Finished() >= toldTasks && s.Progress() > 0:
		return used / units.Work(s.Progress()), true
	}
	return 0, false
}

// drift is by how much, as a part of it, what a stage was planned to take may differ from what it tells.
const drift = 0.1

// Drifted reports whether s, which its run's profile lacks, tells of other work than it was planned for.
func Drifted(a *ledger.App, s *ledger.Stage) bool {
	if _, told := Told(s); !told || !s.Planned {
		return false
	}
	annotation, _ := a.Profile.Annotated(s)
	work := Predict(a, annotation, s).Work
	return work > (1+drift)*s.Aim.Work || s.Aim.Work > (1+drift)*work
}

// Differs reports whether a's course is not that of its profile: it has stages that this lacks, its
// input is larger or smaller, or it comes in another order.
func Differs(a *ledger.App) bool {
	shown, _ := shownSizes(a)
	return len(shown) > 0 || slices.ContainsFunc(a.Order, (*ledger.Stage).Estimated) || a.Profile.Match.Reordered()
}

// guessed reports whether s is extra and its own tasks do not tell yet what it takes.
func guessed(s *ledger.Stage) bool {
	_, told := Told(s)
	return s.Estimated() && !told
}

// Known is the part of what is left of a's work, which is on that course, that is known. It is known by its profile, by
// stages of its kind there, or by what a stage has shown itself. It is 1 where nothing is left.
func Known(a *ledger.App, c Course) units.Fraction {
	known, all := 0.0, 0.0
	c.eachLeft(a, func(s *ledger.Stage, left float64, _ units.Seconds) {
		all += left
		if s == nil || !guessed(s) || s.Extra.By == profiles.ByKind {
			known += left
		}
	})
	if !(all > 0) {
		return 1
	}
	return units.Fraction(known / all)
}
