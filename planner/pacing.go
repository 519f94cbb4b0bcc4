package planner

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/handover"
	"github.com/sparkpacer/pacer/deciders/schedule"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// apps is the part of an engine that sees to applications.
type apps struct {
	*core
	nodes   *nodes
	starter *starter
	course  *course
	tails   handover.Decider
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
		extra = extra || s.Estimated()
		if extra || a.Promise.Paused {
			r.course.weigh(a)
		}
		r.nodes.apply(schedule.Ready(r.outlook, a, s))
	}
	if extra && len(a.Opened()) > 1 {
		r.course.retarget(a) // Those that run beside it share the time with it.
	}
}

// release gives an application all cores for the rest of its run: no targets,
// no gate, so that new stages may use every executor's slots.
func (r *apps) release(a *ledger.App, why string) {
	if m := a.Promise.Mode; m == ledger.Paced || m == ledger.Recording {
		r.record(ledger.ModeSet{App: a.ID, Mode: ledger.Released})
	}
	r.ungate(a, why)
}

// ungate takes all targets away and says why.
func (r *apps) ungate(a *ledger.App, why string) {
	r.record(ledger.PacingChanged{App: a.ID, Pacing: a.Pacing(), Why: why})
	r.say(a, why)
}

// say tells the application's user a line.
func (r *apps) say(a *ledger.App, text string) { r.course.say(a, text) }

// late gives all cores to an application whose deadline has passed, and lets stages
// that take turns run side by side. Another deadline may still be given.
func (r *apps) late(a *ledger.App) {
	gate := a.Promise.Gate
	gate.Late, gate.Overdue = true, !estimate.InOrder(r.view, a.Seats())
	r.record(ledger.GateSet{App: a.ID, Gate: gate})
	r.record(ledger.PacingChanged{App: a.ID, Pacing: a.Pacing(), Why: "its deadline has passed"})
	r.say(a, fmt.Sprintf("the deadline of %s has passed: all cores from now on", verdict.Deadline(a.Promise.Deadline)))
}

// lost has an application that has been late for long share what others leave.
func (r *apps) lost(a *ledger.App) {
	gate := a.Promise.Gate
	gate.Overdue = true
	r.record(ledger.GateSet{App: a.ID, Gate: gate})
	r.say(a, fmt.Sprintf("it is late by more than %.0f %% of its deadline: it shares what others leave from now on",
		100*sharing.Of(r.cfg.Sharing).Doubts.Overdue))
}

// repace looks whether a, as far as it has come, should be held back that is not,
// or the other way round. It is called at each boundary and tick.
func (r *apps) repace(a *ledger.App) {
	what, v := r.verdicts.Repace(r.outlook, a)
	switch what {
	case verdict.Tightened:
		r.record(ledger.Judged{App: a.ID, Judgement: v})
		r.course.retarget(a)
		r.pacedAgain(a)
	case verdict.LookedAt:
		r.record(ledger.Looked{App: a.ID})
	case verdict.Followed:
		r.record(ledger.Looked{App: a.ID})
		r.record(ledger.Judged{App: a.ID, Judgement: v})
		r.say(a, "by what it has shown so far: "+v.Reason)
	case verdict.Loosened:
		r.record(ledger.Looked{App: a.ID})
		gate := a.Promise.Gate
		gate.Unpaced = true
		r.record(ledger.GateSet{App: a.ID, Gate: gate})
		r.ungate(a, "its branches in turn would miss the deadline: all cores from now on, side by side")
	}
}

// pacedAgain says that a, which was released, is held back from now on.
func (r *apps) pacedAgain(a *ledger.App) {
	r.say(a, "paced again: "+a.Promise.Reason)
	r.record(ledger.PacingChanged{App: a.ID, Pacing: a.Pacing(), Why: a.Promise.Reason})
}

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
	r.starter.askNow()
	r.record(ledger.Judged{App: a.ID, Judgement: a.Promise.Judgement, After: given})
}

// limit gives an application a most of cores on a node, 0 for none, and a new verdict.
func (r *apps) limit(a *ledger.App, cores units.Cores) {
	released := a.Promise.Mode == ledger.Paced && !a.Gated()
	given := ledger.Capped{App: a.ID, Cores: cores}
	r.record(given)
	if a.Promise.Deadline > 0 && a.Running() {
		r.judgeAgain(a, released, given)
		return
	}
	r.record(ledger.Judged{App: a.ID, Judgement: a.Promise.Judgement, After: given})
}

// judgeAgain makes a's targets anew, and its verdict, after a fact that was asked for, or nil;
// released says that it was paced, and let go.
func (r *apps) judgeAgain(a *ledger.App, released bool, after ledger.Fact) {
	r.course.retarget(a)
	r.record(ledger.Judged{App: a.ID, Judgement: r.verdicts.Again(r.outlook, a, a.Promise.Gate), After: after})
	if !a.Gated() {
		r.record(ledger.TargetsDropped{App: a.ID})
	}
	if released && a.Paced() {
		r.pacedAgain(a)
	}
}
