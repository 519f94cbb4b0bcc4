package planner

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/deciders/session"
	"github.com/sparkpacer/pacer/ledger"
)

// parts see to the parts of sessions that have deadlines of their own.
type parts struct{ *core }

// begin has a be in a part, which its driver tells of, from the moment on that it says: a run of its own by the profile
// of the part's name.
func (r parts) begin(a *ledger.App, told api.SessionPart) {
	r.end(a) // Another one, of which the driver has not said that it is over.
	if why := r.unfit(a); why != "" {
		r.say(a.ID, fmt.Sprintf("the deadline of group %q is set aside: %s", told.Name, why))
		return
	}
	user, owner, serial := a.Tenant.Owner.User, a.Tenant.Owner, r.view.Serial()+1
	promise := ledger.Promise{Profile: admission.ProfileOf(r.view, api.RegisterRequest{Name: told.Name, User: user}),
		Deadline: told.Deadline, ByMoment: told.ByMoment, Mode: ledger.Recording, Reclaimed: a.Promise.Reclaimed}
	endings{r.core}.concludeRuns(promise.Profile)
	known := r.view.Judged(user, promise.Profile) != nil
	if known {
		promise.Mode = ledger.Paced
	}
	before := a.Promise
	// Stages of a session beside its parts are no run.
	before.Mode = ledger.Unpaced
	before.Judgement = ledger.Judgement{Verdict: api.VerdictNone, Reason: "all cores, but for groups with a deadline"}
	s := session.State{ID: api.NewAppID(time.Unix(0, int64(r.now)), serial, r.view.Identity(),
		api.ContextOf(a.Tenant.Submission, owner.Context)), Name: told.Name, At: told.At, Session: before}
	r.record(ledger.SerialTaken{Serial: serial})
	if !r.record(ledger.RunBegan{App: a.ID, By: s.At, Promise: promise, Matched: known}) {
		return
	}
	r.record(session.Entered{OfApp: ledger.OfApp{App: a.ID}, State: s})
	judgement := r.verdicts.Again(r.outlook, a, ledger.Gate{})
	if !known {
		judgement = r.verdicts.Judge(r.outlook, a, placement.Seating{}, r.now)
	}
	r.apply(ledger.Judged{App: a.ID, Judgement: judgement})
	ungated(r.core, a.ID, a.Promise.Reason, fmt.Sprintf("group %q: %s", s.Name, a.Promise.Reason))
}

// unfit is why a has no parts, "" if it may.
func (r parts) unfit(a *ledger.App) string {
	switch {
	case !a.Running():
		return "its session is " + string(a.Outcome.State)
	case a.Promise.Mode == ledger.Off:
		return "its session is in mode off"
	case a.Promise.Deadline > 0:
		return "its session has a deadline itself"
	}
	return ""
}

// over takes in that the jobs of the part that a is in are over, since the moment that its driver says.
func (r parts) over(a *ledger.App, told api.SessionPart, failed bool) {
	if s := session.Of(a); session.In(a) && !s.Over {
		s.Over, s.Failed, s.Ended = true, failed, told.At-s.At
		r.record(session.Entered{OfApp: ledger.OfApp{App: a.ID}, State: s})
	}
}

// close ends a part that is over when the nodes' last figures are there.
func (r parts) close(a *ledger.App) {
	if s := session.Of(a); s.Over && (a.At(r.now)-s.Ended).Duration() >= r.cfg.FinalWait {
		r.end(a)
	}
}

// end makes the part that a is in, if it is in one, a run of the history, and of its profile if it may. The session
// goes on as before.
func (r parts) end(a *ledger.App) {
	if !session.In(a) {
		return
	}
	s, run := session.Of(a), session.Run(r.view, a)
	d := report.Detail(r.view, r.estimates, run)
	account, kept := report.Account(r.estimates, r.view, run), report.Run(r.estimates, r.view, run, &d.AppSummary)
	endings{r.core}.teach(run, s.ID, &d.AppSummary)
	// A submission is known by its application.
	d.ID, kept.App, d.Submission = s.ID, s.ID, ""
	r.record(ledger.RunArchived{App: a.ID, Detail: d, Account: account, Run: kept})
	r.record(ledger.RunBegan{App: a.ID, By: -s.At, Promise: s.Session})
	r.record(session.Entered{OfApp: ledger.OfApp{App: a.ID}})
	ungated(r.core, a.ID, s.Session.Reason, fmt.Sprintf("group %q %s", s.Name,
		cmp.Or(report.Told(&d.AppSummary), "is over")))
}
