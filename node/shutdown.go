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
	// Keep leaves them with their quotas: the stop of a service may be a restart or an upgrade. A guard outlives it, and
	// lifts the quotas where no next incarnation comes.
	Keep
)

// Shutdown returns the engine's last actions. Nothing may be called afterwards
// but Events.
func (e *Engine) Shutdown(now units.Instant, how Ending) []Action {
	e.roster.out.begin()
	for _, x := range e.roster.execs {
		theirs := x.owner.yields && how == Leave
		if how != Keep && x.alive() && x.life.here && (!x.unmanaged || x.cap.any) && !theirs &&
			!(x.quotaKnown && x.written().IsUnlimited()) {
			x.quota, x.cap.inForce, x.remainder = units.Unlimited, units.Unlimited, 0
			e.roster.out.act(Action{Kind: ActSetQuota, Key: x.key, Cores: units.Unlimited})
		}
	}
	if how == End {
		// The next incarnation must not find executors that are not there, nor
		// take their absence for a crash.
		e.roster.plan.Apps, e.roster.apps = nil, nil
		for _, x := range e.roster.execs {
			x.life.listed, x.life.started, x.controls, x.ctl = false, false, nil, nil
		}
	}
	e.save(now)
	for _, x := range e.roster.execs {
		if how == End && (x.life.here || x.life.launching) {
			e.roster.out.act(Action{Kind: ActStop, Key: x.key})
			if x.life.state != api.ExecutorExited {
				x.life.state, x.life.exit = api.ExecutorExited, "the node controller ended"
			}
		}
	}
	e.reporter.report(&e.roster, e.division.capacity.others, now, true)
	return e.roster.out.actions
}
