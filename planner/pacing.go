package planner

import (
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// pacing sees to whether applications are held back.
type pacing struct{ *core }

// given reports whether an application was given another deadline or a most of cores, boundary whether it is at a
// boundary of stages, or time has passed.
func (r pacing) given() bool    { return r.said.given != nil }
func (r pacing) boundary() bool { return r.said.on == onTick || len(r.said.ready) > 0 }

// again looks whether a, as far as it has come, should be held back that is not,
// or the other way round: at each boundary and tick.
func (r pacing) again(a *ledger.App) {
	if !a.Gated() {
		later(r.core) // It may be at any time.
	}
	r.apply(r.verdicts.Repace(r.outlook, a)...)
}

// unheard lets an application go whose driver has been silent for long.
func (r pacing) unheard(a *ledger.App) {
	if a.Gated() && a.Clocks.Silent >= r.cfg.DriverLost {
		r.apply(verdict.Unheard(a))
	}
}

// granted tells an attached application's user what it has been given.
func (r pacing) granted(a *ledger.App) { r.apply(r.verdicts.Granted(r.outlook, a)...) }

// behind says which applications come after the others.
func (r pacing) behind() {
	r.apply(r.memory.behind.Decide(r.outlook, &markOf(r.core, matter{row: "behind"}).since)...)
}

// tails hands the tails of stages over that threaten to be late.
func (r pacing) tails() { r.apply(r.memory.tails.All(r.view)...) }

// heardAgain paces an application again whose driver was not heard for long.
func (r pacing) heardAgain(a *ledger.App) {
	gate := a.Promise.Gate
	gate.Unheard = false
	r.apply(ledger.GateSet{App: a.ID, Gate: gate})
	if !a.Running() {
		return
	}
	r.judgeAgain(a, true, nil)
}

// judge gives an application a new verdict that was given another deadline or a most of cores on a node.
func (r pacing) judge(a *ledger.App) {
	if a.Promise.Deadline > 0 && a.Running() {
		r.judgeAgain(a, r.said.released, r.said.given)
		return
	}
	r.apply(ledger.Judged{App: a.ID, Judgement: a.Promise.Judgement, After: r.said.given})
}

// judgeAgain makes a's targets anew, and its verdict, after a fact that was asked for, or nil;
// released says that it was paced, and let go.
func (r pacing) judgeAgain(a *ledger.App, released bool, after ledger.Fact) {
	r.retarget(a)
	r.apply(ledger.Judged{App: a.ID, Judgement: r.verdicts.Again(r.outlook, a, a.Promise.Gate), After: after})
	if !a.Gated() {
		r.apply(ledger.TargetsDropped{App: a.ID})
	}
	if released && a.Paced() {
		pacedAgain(r.core, a)
	}
}

// redeadline takes in another deadline of a, or the same on a clock that was set. For an application that waits the
// queue is asked.
func redeadline(c *core, a *ledger.App, deadline units.Seconds) {
	released := a.Promise.Mode == ledger.Paced && !a.Gated()
	given := ledger.DeadlineGiven{App: a.ID, Deadline: deadline}
	c.record(given)
	if a.Queued() {
		c.moved = append(c.moved, given)
		return
	}
	c.said.given, c.said.released, c.said.redue = given, released, true
}

// limit takes in a most of cores of a on a node, 0 for none.
func limit(c *core, a *ledger.App, cores units.Cores) {
	released := a.Promise.Mode == ledger.Paced && !a.Gated()
	given := ledger.Capped{App: a.ID, Cores: cores}
	c.apply(given)
	c.said.given, c.said.released = given, released
}
