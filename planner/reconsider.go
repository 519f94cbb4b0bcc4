package planner

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// spareShare of the time left has to be spare at all cores before an application
// that was judged infeasible is paced: what showed it to be faster than its
// profile may have been noise. turnShare is the same for one whose stages will take
// turns, which costs what tails and gaps leave unused (dag.Graph.Choose).
const (
	spareShare units.Seconds = 0.03
	turnShare  units.Seconds = 0.05
)

// lookEvery is how often the predicted end of an application whose stages take turns
// is looked at between their boundaries.
const lookEvery = 2 * time.Second

// reconsider looks whether a, as far as it has come, should be held back that is not,
// or the other way round. It is called at each boundary and tick.
func (e *Engine) reconsider(a *app) {
	switch {
	case a.Late || !a.running() || a.Mode != modePaced || a.profile == nil || a.Mismatch != "":
	case a.gated():
		e.loosen(a)
	default:
		e.tighten(a)
	}
}

// tighten paces an application whose deadline was infeasible by its profile, or left
// no room for turns, and has become feasible by what is done: a profile that promises
// too little would otherwise cost all cores to the end.
func (e *Engine) tighten(a *app) {
	share := spareShare
	if e.turning(a) {
		// Stages that share an executor cannot be told apart once they are held back.
		if len(a.open()) > 1 {
			return
		}
		share = turnShare
	}
	spare := share * (a.Deadline - a.at(e.now))
	if e.outlook(a, true) > a.Deadline-spare || e.outlook(a, false) > a.Deadline {
		return
	}
	a.Infeasible, a.Open = false, false
	e.judgeAgain(a)
	if !a.gated() {
		return
	}
	e.retarget(a)
	a.say("paced again: " + a.Reason)
	a.touch()
	e.occur(PacingChanged{App: a.ID, Pacing: a.pacing(), Why: a.Reason})
}

// loosen lets stages that take turns run side by side, with all cores, when in turns
// they would miss the deadline at all cores: turns save an executor, not time.
func (e *Engine) loosen(a *app) {
	if e.now < a.looked.Add(lookEvery) {
		return
	}
	a.looked = e.now
	if !e.turning(a) || !e.branching(a) {
		return
	}
	if soonest := e.soonest(a); soonest <= a.Deadline || e.outlook(a, true) >= soonest {
		return
	}
	a.Open = true
	e.ungate(a, "its branches in turn would miss the deadline: all cores from now on, side by side")
}

// turning reports whether a's stages take turns because that is cheaper.
func (e *Engine) turning(a *app) bool {
	return e.cfg.opens() && !a.observed() && e.params(a).Executors > 0
}

// branching reports whether stages that could run side by side are still to come, or
// wait for each other.
func (e *Engine) branching(a *app) bool {
	if slices.ContainsFunc(a.open(), a.waits) {
		return true
	}
	return slices.ContainsFunc(a.profile.match.Remaining(), func(id int) bool { return !a.profile.graph.Alone(id) })
}
