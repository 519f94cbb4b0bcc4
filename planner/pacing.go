package planner

import (
	"slices"

	"github.com/sparkpacer/pacer/deciders/handover"
	"github.com/sparkpacer/pacer/deciders/schedule"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// apps is the part of an engine that sees to applications.
type apps struct {
	*core
	levers   *levers
	nodes    *nodes
	starter  *starter
	attached *attached
	course   *course
	tails    handover.Decider
}

// plan gives the stages that have become ready their deadlines, in order of id.
func (r *apps) plan(a *ledger.App, ready []*ledger.Stage) {
	if len(ready) > 0 {
		r.repace(a)
	}
	slices.SortFunc(ready, ledger.CompareStages)
	extra := false // What runs beside them has other times.
	for _, s := range ready {
		known, moved := r.course.match(a, s)
		if extra = extra || moved; !known || !a.Paced() || s.Done != nil {
			continue
		}
		extra = extra || s.Estimated() || a.Profile.Beside(s)
		if extra || a.Promise.Paused {
			r.levers.apply(verdict.Weigh(r.outlook, a)...)
		}
		r.levers.apply(schedule.Ready(r.outlook, a, s))
	}
	if extra && len(a.Opened()) > 1 {
		r.levers.retarget(a) // Those that run beside it share the time with it.
	}
}

// repace looks whether a, as far as it has come, should be held back that is not,
// or the other way round. It is called at each boundary and tick.
func (r *apps) repace(a *ledger.App) { r.levers.apply(r.verdicts.Repace(r.outlook, a)...) }

// redeadline gives an application another deadline, or the same on a clock that was set, and a
// new verdict.
func (r *apps) redeadline(a *ledger.App, deadline units.Seconds) {
	released := a.Promise.Mode == ledger.Paced && !a.Gated()
	given := ledger.DeadlineGiven{App: a.ID, Deadline: deadline}
	r.record(given)
	if !a.Queued() {
		r.judgeAgain(a, released, given)
		r.starter.reserved = reserving{}
		r.starter.reserve("")
		return
	}
	r.moved = append(r.moved, given)
}

// settle asks the queue, once for all deadlines that were given since.
func (r *apps) settle() {
	if len(r.moved) == 0 {
		return
	}
	r.starter.askNow()
	for _, given := range r.moved {
		if a := r.view.App(given.App); a != nil {
			r.levers.apply(ledger.Judged{App: a.ID, Judgement: a.Promise.Judgement, After: given})
		}
	}
	r.replies = append(r.replies, r.settled...)
	r.moved, r.settled = nil, nil
}

// limit gives an application a most of cores on a node, 0 for none, and a new verdict.
func (r *apps) limit(a *ledger.App, cores units.Cores) {
	released := a.Promise.Mode == ledger.Paced && !a.Gated()
	given := ledger.Capped{App: a.ID, Cores: cores}
	r.levers.apply(given)
	if a.Promise.Deadline > 0 && a.Running() {
		r.judgeAgain(a, released, given)
		return
	}
	r.levers.apply(ledger.Judged{App: a.ID, Judgement: a.Promise.Judgement, After: given})
}

// judgeAgain makes a's targets anew, and its verdict, after a fact that was asked for, or nil;
// released says that it was paced, and let go.
func (r *apps) judgeAgain(a *ledger.App, released bool, after ledger.Fact) {
	r.levers.retarget(a)
	r.levers.apply(ledger.Judged{App: a.ID, Judgement: r.verdicts.Again(r.outlook, a, a.Promise.Gate), After: after})
	if !a.Gated() {
		r.levers.apply(ledger.TargetsDropped{App: a.ID})
	}
	if released && a.Paced() {
		r.levers.pacedAgain(a)
	}
}
