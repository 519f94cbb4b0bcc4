package planner

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// endedApp is an application that is over, under history/APP.
type endedApp struct {
	V  int           `json:"v"`
	At units.Instant `json:"at"`
	// DriverLost says that it failed without a word of its driver, which may
	// therefore come back.
	DriverLost bool          `json:"driver_lost,omitempty"`
	Detail     api.AppDetail `json:"detail"`
	// Account is what the line about its end is made of, if its exit becomes known later.
	Account account `json:"account,omitzero"`
	// Thinned says that its samples have been cut down.
	Thinned bool `json:"thinned,omitempty"`
}

// Bounds of the samples kept of one ended application: while it is recent, and
// after. A sample takes some 64 bytes of memory.
const (
	recentSamples = 20000
	oldSamples    = 200
)

// bury moves an application from the running ones to the history.
func (e *Engine) bury(a *app) {
	detail := e.detail(a)
	limitSamples(&detail, recentSamples)
	d := &endedApp{V: stateVersion, At: e.now, DriverLost: a.State == api.AppFailed && !a.DriverEnd, Detail: detail, Account: e.account(a)}
	e.ended = append(e.ended, d)
	e.put(historyKey(a.ID), d)
	if _, stored := e.apps[a.ID]; stored {
		delete(e.apps, a.ID)
		e.lineup = nil
		for _, x := range a.alive() {
			e.moveOut(a, x)
		}
		e.removeApp(a)
	}
	e.trimHistory()
}

// trimHistory drops the oldest applications, and most samples of those that are
// not among the newest.
func (e *Engine) trimHistory() {
	for len(e.ended) > e.cfg.History {
		e.remove(historyKey(e.ended[0].Detail.ID))
		e.ended = slices.Delete(e.ended, 0, 1)
	}
	for i := 0; i < len(e.ended)-e.cfg.DetailHistory; i++ {
		if d := e.ended[i]; !d.Thinned {
			limitSamples(&d.Detail, oldSamples)
			d.Thinned = true
			e.put(historyKey(d.Detail.ID), d)
		}
	}
}

// limitSamples halves the density of the stage with the most samples until all
// of them together are at most limit. Two of each executor always remain.
func limitSamples(d *api.AppDetail, limit int) {
	sum := 0
	for i := range d.Stages {
		sum += len(d.Stages[i].Samples)
	}
	for sum > limit {
		most := &d.Stages[0]
		for i := range d.Stages {
			if len(d.Stages[i].Samples) > len(most.Samples) {
				most = &d.Stages[i]
			}
		}
		before := len(most.Samples)
		most.Samples = slices.Clip(thin(slices.Clone(most.Samples), func(s api.AppSample) api.ExecutorID { return s.Executor }))
		if len(most.Samples) == before {
			return
		}
		sum -= before - len(most.Samples)
	}
}

// summary is a's row of `pacer apps`.
func (e *Engine) summary(a *app) api.AppSummary {
	work := a.coreSeconds()
	s := api.AppSummary{
		ID: a.ID, Name: a.Name, Profile: a.Profile, User: a.User, State: a.State, Pacing: a.pacing(), Verdict: a.Verdict,
		Deadline: a.Deadline, Duration: a.elapsed(e.now), Submitted: time.Unix(0, int64(a.Start)).UTC(), FirstLaunch: a.First, Predicted: e.predicted(a), CoreSeconds: work, MeanCores: a.meanCores(work, e.now),
		Submission: a.Submission, ExitCode: a.ExitCode,
	}
	for _, st := range a.order {
		s.QuotaChanges += st.quotaChanges()
	}
	if a.observed() {
		s.Observed, s.WouldCores = true, a.wouldCores(e.now)
	}
	switch {
	case a.running():
	case e.leaves(a):
		s.Duration = max(a.Stopped, a.at(e.now))
		if s.State == api.AppFinished {
			s.State = api.AppEnding
		}
	default:
		s.EndedBy, s.Outcome = a.EndedBy, e.account(a).say(a.State, a.Ended, a.EndedBy)
		s.ErrorPct = errorPct(a.State, a.Deadline, a.Ended)
	}
	return s
}

// errorPct is Eq 4 of an application that has finished; nil where there is none: one
// that failed before its deadline was not early.
func errorPct(state api.AppState, deadline, ended units.Seconds) *float64 {
	if state != api.AppFinished || deadline <= 0 {
		return nil
	}
	pct := dag.AppError(deadline, ended)
	return &pct
}

// detail is what `pacer apps show` prints of a.
func (e *Engine) detail(a *app) api.AppDetail {
	d := api.AppDetail{
		AppSummary: e.summary(a), Reason: a.Reason, Notices: slices.Clone(a.Notices), Earliest: a.Earliest,
		Executors: []api.AppExecutor{}, Stages: []api.AppStage{}, LastFinish: a.marks.LastTask,
	}
	if d.Notices == nil {
		d.Notices = []string{}
	}
	if a.EndReason != "" && a.State == api.AppFailed {
		d.Notices = append(d.Notices, a.EndReason)
	}
	for _, x := range a.Executors {
		d.Executors = append(d.Executors, api.AppExecutor{ID: x.ID, Node: x.Node, State: x.state(), Registered: x.Registered, Exit: x.Exit})
	}
	for _, s := range a.order {
		d.Stages = append(d.Stages, e.stageDetail(a, s))
	}
	return d
}

// state is x's state as far as it is known: an executor that the driver lost
// counts as exited, whatever its node said last.
func (x *executor) state() api.ExecutorState {
	switch {
	case x.Gone:
		return api.ExecutorExited
	case x.State == api.ExecutorStarting && x.Registered:
		return api.ExecutorRunning // In mode off it has no page to show.
	}
	return x.State
}

func (e *Engine) stageDetail(a *app, s *stage) api.AppStage {
	d := api.AppStage{
		StageKey: s.key(), Name: s.Ready.Name, State: "running", Tasks: s.Ready.Tasks, Start: s.ReadyAt, Deadline: s.First,
		Duration: max(0, a.elapsed(e.now)-s.ReadyAt), Records: max(0, s.Ready.Records), CoreSeconds: s.work(),
		Executors: []api.ExecutorID{}, QuotaChanges: s.quotaChanges(), Samples: tellAll(s.samples.list),
	}
	for _, b := range s.Ready.Bindings {
		d.Executors = append(d.Executors, b.Executor)
	}
	if s.Done == nil {
		if !a.running() {
			d.State = "failed"
		}
		return d
	}
	d.State, d.Duration, d.FirstLaunch = "done", s.DoneAt-s.ReadyAt, s.Done.FirstLaunch
	if s.Done.Failed {
		d.State = "failed"
	}
	if s.Done.RecordsRead > 0 {
		d.Records = s.Done.RecordsRead
	}
	d.RecordsWritten = s.Done.RecordsWritten
	if s.First != 0 {
		pct := dag.StageError(s.First, d.Duration, a.Deadline)
		d.ErrorPct = &pct
	}
	return d
}
