package planner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// An application ends for its caller when its driver's process has exited. The driver
// says when its context stops, and its last word as its JVM shuts down; pacer submit,
// where it runs the driver, sees the exit itself, and the exit code, which no driver
// knows: after an exception in Python Spark stops the context as if all had gone well.

// exit takes in that the spark-submit of a submission has ended, and with which code.
func (r endings) exit(q api.ControlRequest) (api.ControlReply, error) {
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
func (r endings) exited(a *ledger.App, q api.ControlRequest) {
	if a.Outcome.EndedBy == api.EndedByExit {
		return
	}
	ended := cmp.Or(elapsed(q, a.Tenant.Owner.Before), a.At(r.now))
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
// context's stop, or the report was held up. The profile keeps what it learnt without it,
// unless the run has failed.
func (r endings) exitedBefore(d *ledger.Ended, q api.ControlRequest) {
	a, account := d.Detail, d.Account
	if a.EndedBy == api.EndedByExit || a.State == api.AppRefused {
		return
	}
	ended := cmp.Or(elapsed(q, a.Before), units.FromDuration(r.now.Sub(units.Instant(a.Submitted.UnixNano()))))
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

// close makes an ended application history once its driver's exit and the last figures are there, or were waited for.
func (r endings) close(a *ledger.App) {
	if !r.estimates.Leaves(a) && (a.Clocks.EndWait >= r.cfg.FinalWait || allExited(a)) {
		r.conclude(a)
	}
}

// fail ends an application whose driver is gone.
func (r endings) fail(a *ledger.App) {
	if r.driverGone(a) {
		r.record(ledger.RunEnded{App: a.ID, State: api.AppFailed, At: a.At(r.now), By: api.EndedBySilence,
			Reason: fmt.Sprintf("driver gone: it has been silent for %v", a.Clocks.Silent.Round(time.Second))})
	}
}

// driverGone reports whether a's driver is gone, as far as can be known without its word.
// Silence alone says nothing: its connection may be away. Executors exit by themselves when
// they lose their driver; while one of them moves there is one; and what a node does that is
// away itself nobody knows. A queued application has nothing to lose, and may come back, unless
// another planner has started executors for it, or may have: a node follows one.
func (r endings) driverGone(a *ledger.App) bool {
	silent := a.Clocks.Silent
	switch {
	case silent < r.cfg.DriverSilent || component.Submitted(a):
		return false // Of a driver that a node has started that node tells.
	case (a.Elsewhere() || started(r.view, a) || a.Queued() && divided(r.view)) && silent < r.cfg.DriverAway:
		return false
	case len(a.Alive()) == 0 && !a.Queued() && deserted(a):
		return true
	case silent < r.cfg.DriverLost:
		return false
	}
	return !slices.ContainsFunc(a.Alive(), func(x *ledger.Executor) bool {
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

// allExited reports whether the nodes have said all there is about an ended
// application: every executor has exited.
func allExited(a *ledger.App) bool {
	return !slices.ContainsFunc(a.Tenant.Executors, func(x *ledger.Executor) bool { return x.State != api.ExecutorExited })
}

// killGrace is how long a driver may take to end its context after somebody asked for that;
// then the nodes stop its executors.
const killGrace = 10 * time.Second

// killed ends an application whose driver does not do as it was told.
func (r endings) killed(a *ledger.App) {
	if a.Outcome.Killed == "" || a.Clocks.EndWait < killGrace && !component.Lone(a) {
		return
	}
	reason := a.Outcome.KillReason()
	if !component.Lone(a) {
		reason += fmt.Sprintf("; its driver did not end within %v", killGrace)
	}
	r.stop(a, reason)
}

// stop has nodes stop all of a, which is killed. Its driver may have stopped its context, and go on.
func (r endings) stop(a *ledger.App, reason string) {
	if !a.Over() {
		r.record(ledger.RunEnded{App: a.ID, State: api.AppFailed, At: a.At(r.now), By: api.EndedByKill, Reason: reason})
		return
	}
	r.record(ledger.Exited{App: a.ID, At: max(a.At(r.now), a.Outcome.Stopped), By: api.EndedByKill, Failed: true,
		Reason: reason, Code: unknownCode})
}

// expel ends an application whose user's credentials were revoked RevokeGrace ago.
func (r endings) expel(a *ledger.App) {
	if since := a.Outcome.Revoked; since == 0 || !a.Running() || a.Outcome.Killed != "" ||
		r.now.Sub(since) < r.cfg.RevokeGrace {
		return
	}
	r.record(ledger.KillAsked{App: a.ID, By: "the planner: " + revocation(a)})
}

// revocation says that the credentials of a's user were revoked.
func revocation(a *ledger.App) string {
	return fmt.Sprintf("the credentials of user %s were revoked", a.Tenant.Launch.User)
}
