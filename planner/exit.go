package planner

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
)

// exit takes in with which code the spark-submit of a submission has ended, as
// pacer submit sees it. A driver does not know: after an exception in Python
// Spark stops the context from its shutdown hook as if all had gone well. So an
// application that was taken for finished has failed, and its run does not count
// for its profile.
func (e *Engine) exit(q api.ControlRequest) (api.ControlReply, error) {
	switch {
	case q.Submission == "":
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "no submission is given")
	case q.ExitCode < 1 || q.ExitCode > 255:
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "exit code %d of a failed application: want 1 to 255", q.ExitCode)
	}
	for _, a := range e.applications() {
		if a.Submission == q.Submission {
			e.exited(a, q.ExitCode)
			return api.ControlReply{Apps: []api.AppSummary{e.summary(a)}}, nil
		}
	}
	for i := len(e.ended) - 1; i >= 0; i-- {
		if d := e.ended[i]; d.Detail.Submission == q.Submission {
			e.exitedBefore(d, q.ExitCode)
			return api.ControlReply{Apps: []api.AppSummary{d.Detail.AppSummary}}, nil
		}
	}
	return api.ControlReply{}, api.Errorf(api.KindNotFound, "no application of submission %q is known", q.Submission)
}

func sayExit(code int) string { return fmt.Sprintf("spark-submit ended with exit code %d", code) }

// exited ends a as failed, or says so of one that is not history yet.
func (e *Engine) exited(a *app, code int) {
	if a.ExitCode != 0 {
		return
	}
	a.ExitCode, a.dirty = code, true
	switch a.State {
	case api.AppRunning:
		e.end(a, api.AppFailed, a.at(e.now), sayExit(code))
	case api.AppFinished:
		a.State, a.EndReason = api.AppFailed, sayExit(code)
		e.occur(ExitReported{App: a.ID, Code: code})
	}
}

// exitedBefore is exited for an application that is history.
func (e *Engine) exitedBefore(d *endedApp, code int) {
	a := &d.Detail
	if a.ExitCode != 0 || a.State == api.AppRefused {
		return
	}
	a.ExitCode = code
	if a.State == api.AppFinished {
		a.State, a.Notices = api.AppFailed, append(a.Notices, sayExit(code))
		e.occur(ExitReported{App: a.ID, Code: code})
		e.unrecord(a.ID, a.Profile)
	}
	e.put(historyKey(a.ID), d)
}

// recorded is what the newest run that went into a profile made of it.
type recorded struct {
	app           api.AppID
	before, after *annotated // before is nil for a new profile.
}

// unrecord takes the run of an application back out of its profile, if nothing
// has changed that since.
func (e *Engine) unrecord(id api.AppID, profile string) {
	r := e.newest[profile]
	if r.app != id || e.profiles[profile] != r.after {
		return
	}
	delete(e.newest, profile)
	if r.before == nil {
		delete(e.profiles, profile)
		e.remove(profileKey(profile))
	} else {
		e.profiles[profile] = r.before
		e.put(profileKey(profile), r.before.body)
	}
	e.occur(ProfileChanged{Profile: profile, How: "put back", App: id})
}
