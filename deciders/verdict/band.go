package verdict

import (
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// LookEvery is how often it is looked whether an application that is held back should not be (Repace).
const LookEvery = 2 * time.Second

// Repace looks whether a, as far as it has come, should be held back that is not,
// or the other way round.
func (p Policy) Repace(o *estimate.Outlook, a *ledger.App) []ledger.Lever {
	switch {
	case Suspected(a) || a.Promise.Late || a.Promise.Unheard:
		return nil
	case !a.Running() || a.Promise.Mode != ledger.Paced || a.Profile == nil:
		return nil
	case a.Gated():
		return p.loosen(o, a)
	}
	return p.tighten(o, a)
}

// tighten paces an application whose deadline was infeasible by its profile, or left no room for turns, and has become
// feasible by what is done. A profile that promises too little would otherwise cost all cores to the end.
func (p Policy) tighten(o *estimate.Outlook, a *ledger.App) []ledger.Lever {
	rules := sharing.Of(o.Sharing).Again
	share := units.Seconds(rules.Alone)
	if o.Turning(a) {
		// Stages that share an executor cannot be told apart once they are held back.
		if len(a.Opened()) > 1 {
			return nil
		}
		share = units.Seconds(rules.Turning)
	}
	deadline := a.Promise.Deadline
	full, left := o.End(a, true), deadline-a.At(o.View.Now())
	if full > deadline-share*left || o.End(a, false) > deadline {
		return nil
	}
	// Asked last: few come so far, and this is looked at in each tick.
	if full > deadline-units.Seconds(rules.Beside)*left && len(o.Promised(a, a.Seats())) > 0 {
		return nil
	}
	return []ledger.Lever{ledger.Judged{App: a.ID, Judgement: p.Again(o, a, ledger.Gate{})}}
}

// loosen lets stages that take turns run side by side, with all cores, when in turns
// they would miss the deadline at all cores: turns save an executor, not time.
func (p Policy) loosen(o *estimate.Outlook, a *ledger.App) []ledger.Lever {
	if !o.Turning(a) || !estimate.Branching(a) {
		return p.follow(o, a)
	}
	if soonest := o.Soonest(a); soonest <= a.Promise.Deadline || o.End(a, true) >= soonest {
		return p.follow(o, a)
	}
	const why = "its branches in turn would miss the deadline: all cores from now on, side by side"
	gate := a.Promise.Gate
	gate.Unpaced = true
	return []ledger.Lever{ledger.GateSet{App: a.ID, Gate: gate, Why: why, Says: why}}
}

// follow has the verdict on an application follow what it has shown that its profile does not say. It stays
// held back: what is only estimated takes nobody's place.
func (p Policy) follow(o *estimate.Outlook, a *ledger.App) []ledger.Lever {
	if !estimate.Differs(a) {
		return nil
	}
	return p.held(o, a, "by what it has shown so far: ")
}

// held is another verdict on an application that stays held back; its user is told by what.
func (p Policy) held(o *estimate.Outlook, a *ledger.App, by string) []ledger.Lever {
	p.PaceInfeasible = true
	v := p.Again(o, a, a.Promise.Gate)
	if v.Verdict == a.Promise.Verdict || v.Gate != a.Promise.Gate {
		return nil
	}
	return []ledger.Lever{ledger.Judged{App: a.ID, Judgement: v, Says: by + v.Reason}}
}

// Late gives all cores to an application whose deadline has passed, and lets stages that take turns run side by side.
// An application that has been late for long shares what others leave. Another deadline may still be given.
func Late(o *estimate.Outlook, a *ledger.App) []ledger.Lever {
	f, at, due := ledger.GateSet{App: a.ID, Gate: a.Promise.Gate}, a.At(o.View.Now()), a.Promise.Deadline
	overdue := sharing.Of(o.Sharing).Doubts.Overdue
	switch {
	case (a.Paced() || Suspected(a) && f.Gate == ledger.Gate{}) && at >= due:
		f.Gate.Late, f.Gate.Overdue = true, !estimate.InOrder(o.View, a.Seats())
		f.Why = "its deadline has passed"
		f.Says = fmt.Sprintf("the deadline of %s has passed: all cores from now on", Deadline(due))
	case f.Gate.Late && !f.Gate.Overdue && at >= due*units.Seconds(1+overdue):
		f.Gate.Overdue = true
		f.Says = fmt.Sprintf("it is late by more than %.0f %% of its deadline: it shares what others leave from now on",
			100*overdue)
	default:
		return nil
	}
	return []ledger.Lever{f}
}

// Unheard gives all cores to an application whose executors run while its driver is silent: nobody tells which stages
// there are. It is paced again when its driver speaks.
func Unheard(a *ledger.App) ledger.GateSet {
	why := fmt.Sprintf("the driver was not heard for %v: all cores until it is", a.Clocks.Silent.Round(time.Second))
	f := ledger.GateSet{App: a.ID, Gate: a.Promise.Gate, Why: why, Says: why}
	f.Gate.Unheard = true
	return f
}
