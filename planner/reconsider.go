package planner

import "github.com/sparkpacer/pacer/units"

// spareShare of the time left has to be spare at all cores before an application
// that was judged infeasible is paced: what showed it to be faster than its
// profile may have been noise.
const spareShare units.Seconds = 0.03

// reconsider paces an application whose deadline was infeasible by its profile and
// has become feasible by what is done: a profile that promises too little would
// otherwise cost all cores to the end. It is called at each boundary and tick; an
// application that is paced again stays so.
func (e *Engine) reconsider(a *app) {
	if !a.Infeasible || a.Late || !a.running() || a.Mode != modePaced || a.profile == nil || a.Mismatch != "" {
		return
	}
	spare := spareShare * (a.Deadline - a.at(e.now))
	if e.outlook(a, true) > a.Deadline-spare || e.outlook(a, false) > a.Deadline {
		return
	}
	a.Infeasible = false
	e.judgeAgain(a)
	if a.Infeasible {
		return
	}
	e.retarget(a)
	a.say("paced again: " + a.Reason)
	a.touch()
	e.occur(PacingChanged{App: a.ID, Pacing: a.pacing(), Why: a.Reason})
}
