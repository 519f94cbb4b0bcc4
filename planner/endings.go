package planner

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// An application ends for its caller when its driver's process has exited. The driver
// says when its context stops, and its last word as its JVM shuts down; pacer submit,
// where it runs the driver, sees the exit itself, and the exit code, which no driver
// knows: after an exception in Python Spark stops the context as if all had gone well.

// contextStops takes the driver's word that its context stops. The nodes stop the
// executors; the driver's exit and the final figures are waited for.
func (r *apps) contextStops(a *ledger.App, ev api.Event) {
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
func (r *apps) lastWord(a *ledger.App, ev api.Event) {
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
	s := r.summary(a)
	if said := report.Told(&s); said != "" {
		// The reply to this event carries it to the driver's log.
		r.record(ledger.Noticed{App: a.ID, Text: said, Passing: true})
	}
}

// exit takes in that the spark-submit of a submission has ended, and with which code.
func (r *apps) exit(q api.ControlRequest) (api.ControlReply, error) {
	switch {
	case q.Submission == "":
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "no submission is given")
	case q.ExitCode < 0 || q.ExitCode > 255:
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "exit code %d of an application: want 0 to 255", q.ExitCode)
	}
	if err := errors.Join(units.Finite("elapsed", q.Elapsed), units.Finite("suspended", q.Suspended)); err != nil {
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "%v", err)
	}
	a, d := last(r.view, q.Submission)
	switch {
	case a != nil:
		r.exited(a, q)
		s := r.summary(a)
		return api.ControlReply{Apps: []api.AppSummary{s}, Message: report.Told(&s)}, nil
	case d != nil:
		r.exitedBefore(d, q)
		d = r.view.EndedApp(d.Detail.ID)
		return api.ControlReply{Apps: []api.AppSummary{d.Detail.AppSummary}, Message: report.Told(&d.Detail.AppSummary)}, nil
	}
	return api.ControlReply{}, api.Errorf(api.KindNotFound, "no application of submission %q is known", q.Submission)
}

// exited ends a at the exit of its spark-submit; the first report counts.
func (r *apps) exited(a *ledger.App, q api.ControlRequest) {
	if a.Outcome.EndedBy == api.EndedByExit {
		return
	}
	ended := elapsed(q, a.Tenant.Owner.Before)
	if ended == 0 {
		ended = a.At(r.now)
	}
	if !a.Over() {
		// Its driver's word did not come through, or it was killed.
		r.record(ledger.RunEnded{App: a.ID, State: api.AppUnknown, At: ended, By: api.EndedByExit})
	}
	o := a.Outcome
	f := ledger.Exited{App: a.ID, At: max(ended, o.Stopped), By: api.EndedByExit, Reason: o.Reason, Clean: o.Clean,
		Code: q.ExitCode, Suspended: q.Suspended}
	if q.ExitCode != 0 && o.State != api.AppFailed && o.State != api.AppRefused {
		f.Reason = ledger.ExitReason(q.ExitCode)
	}
	r.record(f)
}

// exitedBefore is exited for an application that is history: its driver hung after its
// context's stop, or the report was held up. What the profile learnt without it stays,
// unless the run has failed.
func (r *apps) exitedBefore(d *ledger.Ended, q api.ControlRequest) {
	a, account := d.Detail, d.Account
	if a.EndedBy == api.EndedByExit || a.State == api.AppRefused {
		return
	}
	ended := elapsed(q, a.Before)
	if ended == 0 {
		ended = units.FromDuration(r.now.Sub(units.Instant(a.Submitted.UnixNano())))
	}
	account.Suspended = q.Suspended
	a.Duration, a.EndedBy, a.ExitCode = max(ended, account.Stopped), api.EndedByExit, q.ExitCode
	was := a.State
	a.State = ledger.Settled(was, a.EndedBy, false, q.ExitCode)
	failed := a.State == api.AppFailed && was != api.AppFailed
	if failed {
		account.Reason = ledger.ExitReason(q.ExitCode)
		a.Notices = append(slices.Clone(a.Notices), ledger.ExitReason(q.ExitCode))
		if owner, newest := r.view.Newest(a.User, a.Profile, a.ID); newest {
			r.record(ledger.RunTakenBack{Name: a.Profile, Owner: owner, App: a.ID})
		}
	}
	a.Predicted, a.ErrorPct = a.Duration, report.ErrorPct(a.State, a.Deadline, a.Duration)
	a.Headline, a.Risk = report.Line(account, a.State, a.Duration, a.EndedBy), report.Risk(a.State, a.Deadline, a.Duration)
	switch {
	case a.State == api.AppFailed:
		report.Untaught(&a.AppSummary, "it failed")
	case a.Unrecorded != "":
		report.Untaught(&a.AppSummary, "how it ended was told too late")
	}
	r.record(ledger.EndedAmended{Detail: a, Account: account, Failed: failed})
}

// tick looks at a driver's silence and at the deadline; of an ended application it waits
// for the driver's exit and the last figures.
func (r *apps) tick(a *ledger.App) {
	if a.Over() {
		if !r.leaves(a) && (a.Clocks.EndWait >= r.cfg.FinalWait || allExited(a)) {
			r.conclude(a)
		}
		return
	}
	if r.driverGone(a) {
		r.record(ledger.RunEnded{App: a.ID, State: api.AppFailed, At: a.At(r.now), By: api.EndedBySilence,
			Reason: fmt.Sprintf("driver gone: it has been silent for %v", a.Clocks.Silent.Round(time.Second))})
		return
	}
	if a.Gated() && a.Clocks.Silent >= r.cfg.DriverLost {
		r.levers.apply(verdict.Unheard(a))
	}
	if a.Queued() || r.killed(a) {
		return
	}
	r.repace(a)
	r.course.estimated(a)
	r.stepTick(a)
	r.levers.apply(verdict.Late(r.outlook, a)...)
}

// driverGone reports whether a's driver is gone, as far as can be known without its word.
// Silence alone says nothing: its connection may be away. Executors exit by themselves when
// they lose their driver; while one of them moves there is one; and what a node does that is
// away itself nobody knows. One that is queued has nothing to lose, and may come back, unless
// another planner has started executors for it, or may have: a node follows one.
func (r *apps) driverGone(a *ledger.App) bool {
	silent, alive := a.Clocks.Silent, a.Alive()
	switch {
	case silent < r.cfg.DriverSilent:
		return false
	case (a.Elsewhere() || started(r.view, a) || a.Queued() && divided(r.view)) && silent < r.cfg.DriverAway:
		return false
	case len(alive) == 0 && !a.Queued() && deserted(a):
		return true
	case silent < r.cfg.DriverLost:
		return false
	}
	return !slices.ContainsFunc(alive, func(x *ledger.Executor) bool {
		if n := r.view.Node(x.Node); n == nil || !n.Here() {
			return silent < r.cfg.DriverAway
		}
		return r.view.Uptime()-x.Moved < r.cfg.DriverLost
	})
}

// started reports whether a node runs executors of a that another planner has started.
func started(v ledger.View, a *ledger.App) bool {
	return slices.ContainsFunc(v.Nodes(), func(n *ledger.Node) bool {
		o := n.UnknownExecutors(a.ID)
		return o != nil && o.Owner == a.Tenant.Launch.Owner
	})
}

// divided reports whether a node follows another planner, which serves, too.
func divided(v ledger.View) bool {
	return slices.ContainsFunc(v.Nodes(), func(n *ledger.Node) bool { return n.Allegiance.Follows != "" })
}

// deserted reports whether an executor of a has exited by itself, as they do without a
// driver: no signal ended it.
func deserted(a *ledger.App) bool {
	return slices.ContainsFunc(a.Tenant.Executors, func(x *ledger.Executor) bool {
		code := -1
		if _, err := fmt.Sscanf(x.Exit, "exit status %d", &code); err != nil {
			return false
		}
		return code >= 0 && code < api.Signalled
	})
}

// heardAgain paces an application again whose driver was not heard for long.
func (r *apps) heardAgain(a *ledger.App) {
	if !a.Promise.Gate.Unheard {
		return
	}
	gate := a.Promise.Gate
	gate.Unheard = false
	r.levers.apply(ledger.GateSet{App: a.ID, Gate: gate})
	if !a.Running() {
		return
	}
	r.judgeAgain(a, true, nil)
}

// allExited reports whether the nodes have said all there is about an ended
// application: every executor has exited.
func allExited(a *ledger.App) bool {
	for _, x := range a.Tenant.Executors {
		if x.State != api.ExecutorExited {
			return false
		}
	}
	return true
}
