package planner

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
)

// contextStops takes the driver's word that its context stops. The nodes stop the
// executors; the driver's exit and the final figures are waited for.
func (r drivers) contextStops(a *ledger.App, ev api.Event) {
	at := max(0, ev.At)
	f := ledger.ContextStopped{App: a.ID, At: at, Deadline: a.Promise.Deadline, Failed: ev.Failed, Reason: ev.Reason}
	if a.Outcome.Killed != "" {
		f.Failed, f.Reason = true, a.Outcome.KillReason()
	}
	r.record(f)
	if observed := report.Observed(a, r.now); observed != "" {
		r.say(a.ID, observed) // The reply to this event carries it.
	}
}

// lastWord takes the last word of a driver's shutdown hook.
func (r drivers) lastWord(a *ledger.App, ev api.Event) {
	o := a.Outcome
	if !o.DriverEnd || o.EndedBy == api.EndedByExit {
		return
	}
	f := ledger.Exited{App: a.ID, At: max(o.Stopped, ev.At), By: api.EndedByLastWord, Failed: ev.Failed, Reason: o.Reason,
		Clean: ev.Clean && !ev.Failed, Code: o.ExitCode, Suspended: o.Suspended}
	if ev.Failed && o.State != api.AppFailed {
		f.Reason = ev.Reason
	}
	r.record(f)
	if a.Tenant.Watched {
		return // pacer submit says how it ended.
	}
	s := endings{r.core}.summary(a)
	if said := report.Told(&s); said != "" {
		// The reply to this event carries it to the driver's log.
		r.record(ledger.Noticed{App: a.ID, Text: said, Passing: true})
	}
}
