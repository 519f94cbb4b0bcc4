package estimate

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// Course is what a run still has before it. That is its profile with each stage as large as what is to be done of it,
// where that is not all, and the ids of the stages that are to be submitted, ascending.
type Course struct {
	Body   api.Profile
	Graph  *dag.Graph
	Coming []int
}

// leastRest is the part of a running stage that is always taken to be left.
const leastRest = 0.02

// courseOf returns what a, which has a profile, has before it. A stage is as large as what is known of it
// says: its own size or, of one to come, what those before it show of today's input (carried). Stages of
// which further attempts run count for the part that these repeat; so do those that have failed, or
// that read what is being repeated: they are submitted again.
func courseOf(a *ledger.App) Course {
	parts, coming := parts(a)
	c := Course{a.Profile.Body, a.Profile.Graph, coming}
	sizes := carried(a, coming)
	if len(parts)+len(sizes) > 0 {
		c.Body = resize(c.Body, parts, sizes)
		c.Graph = a.Profile.GraphOf(c.Body)
	}
	return c
}

// Running returns a's running stages that the profile knows and that are not to be
// submitted again, in order.
func (c Course) Running(a *ledger.App) []*ledger.Stage {
	var running []*ledger.Stage
	for _, s := range a.Opened() {
		if s.Annotation != ledger.Unmatched && !slices.Contains(c.Coming, s.Annotation) {
			running = append(running, s)
		}
	}
	return running
}

// eachLeft calls f with the work that is left of each stage of a on c, in core-seconds: of the running ones
// first, then with nil of those to come, and the gaps before these.
func (c Course) eachLeft(a *ledger.App, f func(running *ledger.Stage, work float64, gap units.Seconds)) {
	for _, s := range c.Running(a) {
		annotation, _ := a.Profile.Annotated(s)
		f(s, float64(Predict(a, annotation, s).Work)*Left(s), 0)
	}
	for _, id := range c.Coming {
		if s, ok := c.Graph.Stage(id); ok && s.NominalRate > 0 {
			f(nil, float64(s.Records)/float64(s.NominalRate), s.Gap)
		}
	}
}

// parts returns what is to be done of running stages, and of those that are tried again, as a part of their
// annotations, where that is not all. It also returns the annotations that are to be submitted, ascending.
func parts(a *ledger.App) (parts map[int]float64, coming []int) {
	coming = a.Profile.Match.Remaining()
	set := func(s *ledger.Stage, part float64) {
		if parts == nil {
			parts = make(map[int]float64)
		}
		parts[s.Annotation] = part
	}
	for _, s := range retried(a) {
		annotation, _ := a.Profile.Annotated(s)
		set(s, ratio(a, annotation, s)*Left(s))
		coming = append(coming, s.Annotation)
	}
	for _, s := range a.Opened() {
		if s.Annotation == ledger.Unmatched || parts[s.Annotation] != 0 {
			continue
		}
		annotation, _ := a.Profile.Annotated(s)
		if r := ratio(a, annotation, s); r != 1 {
			set(s, r)
		}
	}
	for id, left := range folds(a) {
		if parts == nil {
			parts = make(map[int]float64)
		}
		parts[id] = float64(left) / float64(a.Profile.Recorded.Count(id))
		coming = append(coming, id)
	}
	slices.Sort(coming)
	return parts, slices.Compact(coming)
}

// folds is how many stages have not ended, by annotation, of those that a's profile has as one and that have begun.
// They are all to be submitted: of those that run nothing is done yet.
func folds(a *ledger.App) map[int]int {
	left := a.Profile.Match.Filling()
	for _, s := range a.Opened() {
		if a.Profile.Folded(s) {
			left[s.Annotation]++
		}
	}
	return left
}

// Share is what counts as coming where s of a gets its part of the time, and which part of what its annotation gets
// that is. Each of several has an equal part. Others that come before these, and have begun, take turns with them: they
// do not come beside them, and the time is less by their part of the work.
func (c Course) Share(a *ledger.App, s *ledger.Stage) (coming []int, part float64) {
	left := folds(a)
	if left[s.Annotation] == 0 {
		return c.Coming, 1
	}
	turns, all := 0.0, 0.0
	for _, id := range c.Coming {
		stage, known := c.Graph.Stage(id)
		if !known || !(stage.NominalRate > 0) {
			continue
		}
		work := float64(stage.Records) / float64(stage.NominalRate)
		all += work
		if id < s.Annotation && left[id] > 0 && c.Graph.After([]int{id})(s.Annotation) {
			turns += work
			continue
		}
		coming = append(coming, id)
	}
	return coming, (1 - turns/all) / float64(left[s.Annotation])
}

// retried returns the attempts whose stages will be submitted again. These are the newest ones that failed in the
// driver's present job, and those that run while what they read is being repeated, for a driver tries them again once
// that is there.
func retried(a *ledger.App) (retried []*ledger.Stage) {
	var repeated []int
	for _, o := range a.Opened() {
		if again(o) && o.Annotation != ledger.Unmatched {
			repeated = append(repeated, o.Annotation)
		}
	}
	after := func(int) bool { return false }
	if repeated != nil {
		after = a.Profile.Graph.After(repeated)
	}
	job, newest := math.MinInt, make(map[int]int) // The newest attempts, by stage.
	for _, s := range a.Order {
		newest[s.Key().Stage] = max(newest[s.Key().Stage], s.Key().Attempt)
	}
	for _, s := range slices.Backward(a.Order) {
		job = max(job, s.Ready.Job)
		if s.Annotation == ledger.Unmatched || s.Ready.Job < job {
			continue
		}
		superseded := newest[s.Key().Stage] > s.Key().Attempt
		if s.Done != nil && s.Done.Failed && !superseded || s.Done == nil && after(s.Annotation) {
			retried = append(retried, s)
		}
	}
	return retried
}

// part is the share of its stage's tasks that an attempt has: a further one repeats
// those whose output was lost or that had not finished.
func part(a *ledger.App, s *ledger.Stage) float64 {
	whole := first(a, s)
	if s == whole || whole == nil || whole.Ready.Tasks <= 0 {
		return 1
	}
	return min(1, float64(s.Ready.Tasks)/float64(whole.Ready.Tasks))
}

// first is the first attempt of s's stage, or of the one that it repeats; nil if it is
// forgotten.
func first(a *ledger.App, s *ledger.Stage) *ledger.Stage {
	id := s.Key().Stage
	for {
		first := a.Stages[api.StageKey{Stage: id}]
		if first == nil || first.Ready.Repeats == nil || *first.Ready.Repeats >= id {
			return first
		}
		if id = *first.Ready.Repeats; a.Stages[api.StageKey{Stage: id}] == nil {
			return first
		}
	}
}

// again reports whether s repeats what an earlier attempt or stage has done.
func again(s *ledger.Stage) bool { return s.Key().Attempt > 0 || s.Ready.Repeats != nil }

// ends is when the newest attempt of each of a's stages has ended, by annotation; a stage of which
// none has is not in it.
func ends(a *ledger.App) map[int]units.Seconds {
	ended := make(map[int]units.Seconds)
	for _, s := range a.Order {
		if s.Done != nil {
			ended[s.Annotation] = max(ended[s.Annotation], s.DoneAt)
		}
	}
	return ended
}

// Asked reports whether a runs a stage of another pool than its deadline hangs on. Until that has ended all have the
// cores that they would have in Spark, or it waits for tasks that are held back.
func Asked(a *ledger.App) bool { return slices.ContainsFunc(a.Opened(), a.Profile.Beside) }

// Left is the share of an attempt that is not done, never nothing.
func Left(s *ledger.Stage) float64 { return max(leastRest, 1-float64(s.Progress())) }

// Prediction is what a stage attempt is expected to take: Records in the unit of its annotation's nominal rate (the
// inputRecords of Eq 6), and Work, which is these over that rate.
type Prediction struct {
	Records float64
	Work    units.Work
}

// Predict scales a stage's annotation to what it really reads, one that the profile lacks to what it shows
// itself (Told). A further attempt takes its part of what the first one was to take: what the driver says it
// reads may be the whole.
func Predict(a *ledger.App, annotation api.ProfileStage, s *ledger.Stage) Prediction {
	records := ratio(a, annotation, s) * float64(annotation.Records)
	return Prediction{records, units.Work(records / float64(annotation.NominalRate))}
}

// ratio is how much an attempt has to do, as a part of its annotation: what it reads, as far as nothing has shown that
// its work grows otherwise.
func ratio(a *ledger.App, annotation api.ProfileStage, s *ledger.Stage) float64 {
	of := cmp.Or(first(a, s), s)
	if own, ok := Told(of); ok {
		return part(a, s) * float64(own/annotation.CoreSeconds)
	}
	r, _ := profiles.Ratio(annotation, of.Ready.Records, of.Ready.Bytes)
	return part(a, s) * profiles.Grown(a.Profile.Growth(annotation.ID), r)
}

// Rest is body with the running stages as large as what is not done of them.
func Rest(body api.Profile, open []*ledger.Stage) api.Profile {
	parts := make(map[int]float64, len(open))
	for _, s := range open {
		parts[s.Annotation] = Left(s)
	}
	return resize(body, parts, nil)
}

// resize is p with stages that are as long as a part of them and read as much. The gaps of those of parts
// have passed, but for that part of several that p has as one; those of sizes are to come.
func resize(p api.Profile, parts, sizes map[int]float64) api.Profile {
	p.Stages = slices.Clone(p.Stages)
	for i := range p.Stages {
		s := &p.Stages[i]
		part, begun := parts[s.ID]
		size, known := sizes[s.ID]
		switch {
		case begun && p.Count(s.ID) > 1:
			s.Gap *= units.Seconds(part)
		case begun:
			s.Gap = 0
		case known:
			part = size
		default:
			continue
		}
		s.Duration *= units.Seconds(part)
		s.Records = int64(math.Ceil(part * float64(s.Records)))
	}
	return p
}
