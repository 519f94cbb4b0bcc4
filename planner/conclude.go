package planner

import (
	"errors"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/heap"
	"github.com/sparkpacer/pacer/deciders/recording"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
)

// endings see to applications that end.
type endings struct{ *core }

// concludeRuns finishes what the ended applications of a profile have left to do, so
// that whoever asks for it next finds their runs in it. It is not known yet
// whether a run whose driver has not exited is to be recorded.
func (r endings) concludeRuns(profile string) {
	for _, a := range r.view.Apps() {
		if a.Over() && a.Promise.Profile == profile && !r.estimates.Leaves(a) {
			r.conclude(a)
		}
	}
}

// conclude makes an ended application history: its run goes into its profile if
// it may, its record into the history.
func (r endings) conclude(a *ledger.App) {
	d := report.Detail(r.view, r.estimates, a)
	if r.teach(a, a.ID, &d.AppSummary) {
		if f, ok := heap.Learn(r.view, a); ok {
			r.record(f)
		}
	}
	if key, state, ok := r.line.Learn(r.view, a); ok {
		r.record(ledger.QueueLearnt{Key: key, State: state})
	}
	if state, ok := r.cfg.reserves(r.view).Learn(r.view, a); ok {
		r.record(ledger.QueueLearnt{Key: ledger.DeadlinesKey, State: state})
	}
	r.record(ledger.Archived{App: a.ID, Detail: d, Account: report.Account(r.estimates, r.view, a),
		Run: report.Run(r.estimates, r.view, a, &d.AppSummary)})
}

// teach has the run of a, which has ended, go into its profile if it may, as that of id, and says in s what came of
// that. It reports whether such runs teach at all.
func (r endings) teach(a *ledger.App, id api.AppID, s *api.AppSummary) bool {
	if !teaching(a) {
		return false
	}
	how, learnt, err := recording.Record(r.view, a)
	switch {
	case err == nil:
		// Without the name of the fact.
		err = errors.Unwrap(r.ledger.Record(ledger.ProfileSaved{Body: learnt, By: id, How: how}))
	case how != "":
		r.record(ledger.ProfileSaved{Body: learnt, How: how})
	}
	if err != nil {
		r.record(ledger.RunNotRecorded{App: id, Err: err})
	}
	r.taught(a, s, how, learnt, err)
	return true
}

// teaching reports whether the run of a, which has ended, is to go into a profile.
func teaching(a *ledger.App) bool {
	m := a.Promise.Mode
	return a.Outcome.State != api.AppRefused && m != ledger.Unpaced && m != ledger.Off
}

// summary is that of a, which has ended, with what its run teaches a profile as far as that is known before the
// nodes' last figures.
func (r endings) summary(a *ledger.App) api.AppSummary {
	s := report.Summary(r.view, r.estimates, a)
	if teaching(a) {
		how, learnt, err := recording.Record(r.view, a)
		r.taught(a, &s, how, learnt, err)
	}
	return s
}

// taught says in s what a's run has taught its profile, or why it does not.
func (r endings) taught(a *ledger.App, s *api.AppSummary, how string, learnt api.Profile, err error) {
	report.Tried(a, s, how, learnt)
	if err != nil {
		report.Untaught(s, err.Error())
		return
	}
	report.Taught(r.estimates, a, s, learnt)
}
