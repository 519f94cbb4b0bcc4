package planner

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner/access"
	"github.com/sparkpacer/pacer/units"
)

// A program may stop its SparkContext and make another. Each context is an application of its own,
// with a deadline clock that starts with it; the submission's exit is the end of the last one.

// passOn ends the applications of q's submission that were contexts before q's: a driver has one
// at a time. That it went on shows that their ends were in order. How one ended that said nothing of
// its end is not known.
func passOn(c *core, by api.Principal, q api.RegisterRequest) error {
	for _, a := range c.view.Apps() {
		if a.Tenant.Submission != q.Submission || a.Tenant.Owner.Context >= q.Context {
			continue
		}
		if err := access.Again(by, a.ID, a.Tenant.Owner.User); err != nil {
			return err
		}
		at := max(0, q.Before-a.Tenant.Owner.Before)
		if !a.Over() {
			c.record(ledger.RunEnded{App: a.ID, State: api.AppUnknown, At: at, By: api.EndedBySilence,
				Reason: "its driver has made another context, and did not say how this one ended"})
		}
		if o := a.Outcome; o.DriverEnd && !o.EndedBy.Known() {
			c.record(ledger.Exited{App: a.ID, At: max(at, o.Stopped), By: api.EndedByNext, Reason: o.Reason, Clean: true,
				Next: admission.ProfileOf(c.view, q)})
		}
	}
	return nil
}

// last is the last context of a submission, whose end the driver's exit is: those before it ended
// when the driver went on. It is one of the two, or neither where none is known.
func last(v ledger.View, submission string) (living *ledger.App, ended *ledger.Ended) {
	for _, a := range v.Apps() {
		if a.Tenant.Submission == submission && (living == nil || a.Tenant.Owner.Context > living.Tenant.Owner.Context) {
			living = a
		}
	}
	for _, d := range v.Ended() {
		if d.Detail.Submission == submission && (ended == nil || d.Detail.Context >= ended.Detail.Context) {
			ended = d
		}
	}
	if living != nil && (ended == nil || living.Tenant.Owner.Context >= ended.Detail.Context) {
		return living, nil
	}
	return nil, ended
}

// elapsed is when a spark-submit has ended on the deadline clock of its last context, 0 where it does not say.
func elapsed(q api.ControlRequest, before units.Seconds) units.Seconds {
	if q.Elapsed == 0 {
		return 0
	}
	return max(0, q.Elapsed-before)
}
