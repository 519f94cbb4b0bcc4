package planner

import (
	"errors"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/recording"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
)

// concludeRuns finishes what the ended applications of a profile have left to do, so
// that whoever asks for it next finds their runs in it. Of one whose driver has not
// exited nobody knows yet whether it is to be recorded.
func (r *apps) concludeRuns(profile string) {
	for _, a := range r.view.Apps() {
		if a.Over() && a.Promise.Profile == profile && !r.leaves(a) {
			r.conclude(a)
		}
	}
}

// conclude makes an ended application history: its run goes into its profile if
// it may, its record into the history.
func (r *apps) conclude(a *ledger.App) {
	unrecorded := ""
	if teaching(a) {
		if err := r.learn(a); err != nil {
			unrecorded = err.Error()
		}
	}
	if key, state, ok := r.line.Learn(r.view, a); ok {
		r.record(ledger.QueueLearnt{Key: key, State: state})
	}
	if state, ok := r.reserves().Learn(r.view, a); ok {
		r.record(ledger.QueueLearnt{Key: ledger.DeadlinesKey, State: state})
	}
	d := report.Detail(r.view, r.estimates, a)
	report.Untaught(&d.AppSummary, unrecorded)
	r.record(ledger.Archived{App: a.ID, Detail: d, Account: report.Account(r.now, a),
		Run: report.Run(a, &d.AppSummary)})
}

// teaching reports whether the run of a, which has ended, is to go into a profile.
func teaching(a *ledger.App) bool {
	m := a.Promise.Mode
	return a.Outcome.State != api.AppRefused && m != ledger.Unpaced && m != ledger.Off
}

// unrecorded says why the run of a, which has ended, goes into no profile, as far as is known
// before the nodes' last figures; "" where it goes into one or is not to.
func unrecorded(v ledger.View, a *ledger.App) string {
	if !teaching(a) {
		return ""
	}
	if _, _, err := recording.Record(v, a); err != nil {
		return err.Error()
	}
	return ""
}

// learn folds a's run into its profile; the error says why it does not.
func (r *apps) learn(a *ledger.App) error {
	how, learnt, err := recording.Record(r.view, a)
	if err == nil {
		// Without the name of the fact.
		err = errors.Unwrap(r.ledger.Record(ledger.ProfileSaved{Body: learnt, By: a.ID, How: how}))
	}
	if err != nil {
		r.record(ledger.RunNotRecorded{App: a.ID, Err: err})
	}
	return err
}
