package node

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Ending says what becomes of the executors when the node controller stops.
type Ending int

const (
	// Leave lets the executors run on, with all cores unless somebody else's quota
	// is yielded to: control is lost, work is not. The next incarnation takes them
	// over.
	Leave Ending = iota
	// End stops them: `pacer up` ends its applications with itself.
	End
)

// Shutdown returns the engine's last actions. Nothing may be called afterwards
// but Events.
func (e *Engine) Shutdown(now units.Instant, how Ending) []Action {
	e.begin()
	for _, x := range e.execs {
		theirs := x.conflict.yields && how == Leave
		if x.alive() && x.here && !x.handsOff && !theirs && !(x.quotaKnown && x.quota.IsUnlimited()) {
			x.quota, x.remainder = units.Unlimited, 0
			e.actions = append(e.actions, Action{Kind: ActSetQuota, Key: x.key, Cores: units.Unlimited})
		}
	}
	if how == End {
		// The next incarnation must not find executors that are not there, nor
		// take their absence for a crash.
		e.plan.Apps, e.apps = nil, nil
		for _, x := range e.execs {
			x.listed, x.started, x.controls, x.ctl = false, false, nil, nil
		}
	}
	e.save(now)
	for _, x := range e.execs {
		if how == End && (x.here || x.launching) {
			e.actions = append(e.actions, Action{Kind: ActStop, Key: x.key})
			if x.state != api.ExecutorExited {
				x.state, x.exit = api.ExecutorExited, "the node controller ended"
			}
		}
	}
	e.report(now, true)
	return e.actions
}
