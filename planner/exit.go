package planner

import (
	"errors"
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// An application ends for its caller when its driver's process has exited. The driver
// says when its context stops, and its last word as its JVM shuts down; pacer submit,
// where it runs the driver, sees the exit itself, and the exit code, which no driver
// knows: after an exception in Python Spark stops the context as if all had gone well.

// leaves reports whether the exit of a driver whose context has stopped is still waited
// for.
func (e *Engine) leaves(a *app) bool {
	switch {
	case a.running() || !a.DriverEnd || a.EndedBy == api.EndedByExit || a.EndedBy == api.EndedByLastWord && !a.Watched:
		return false
	}
	return a.silent < e.cfg.ExitSilent && a.endWait < e.cfg.ExitWait
}

// lastWord takes the last word of a driver's shutdown hook.
func (e *Engine) lastWord(a *app, ev api.Event) {
	if !a.DriverEnd || a.EndedBy == api.EndedByExit {
		return
	}
	a.Ended, a.EndedBy, a.Clean, a.dirty = max(a.Stopped, ev.At), api.EndedByLastWord, ev.Clean && !ev.Failed, true
	if ev.Failed && a.State == api.AppFinished {
		a.State, a.EndReason = api.AppFailed, ev.Reason
	}
	if a.Watched {
		return // pacer submit says how it ended.
	}
	if outcome := e.account(a).say(a.State, a.Ended, a.EndedBy); outcome != "" {
		// The reply to this event carries it to the driver's log.
		a.Notice, a.noticeSent = outcome, false
		a.touch()
	}
}

// exit takes in that the spark-submit of a submission has ended, and with which code.
func (e *Engine) exit(q api.ControlRequest) (api.ControlReply, error) {
	switch {
	case q.Submission == "":
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "no submission is given")
	case q.ExitCode < 0 || q.ExitCode > 255:
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "exit code %d of an application: want 0 to 255", q.ExitCode)
	}
	if err := errors.Join(units.Finite("elapsed", q.Elapsed), units.Finite("suspended", q.Suspended)); err != nil {
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "%v", err)
	}
	for _, a := range e.applications() {
		if a.Submission == q.Submission {
			e.exited(a, q)
			s := e.summary(a)
			return api.ControlReply{Apps: []api.AppSummary{s}, Message: s.Outcome}, nil
		}
	}
	for i := len(e.ended) - 1; i >= 0; i-- {
		if d := e.ended[i]; d.Detail.Submission == q.Submission {
			e.exitedBefore(d, q)
			return api.ControlReply{Apps: []api.AppSummary{d.Detail.AppSummary}, Message: d.Detail.Outcome}, nil
		}
	}
	return api.ControlReply{}, api.Errorf(api.KindNotFound, "no application of submission %q is known", q.Submission)
}

func sayExit(code int) string { return fmt.Sprintf("spark-submit ended with exit code %d", code) }

// exited ends a at the exit of its spark-submit; the first report counts.
func (e *Engine) exited(a *app, q api.ControlRequest) {
	if a.EndedBy == api.EndedByExit {
		return
	}
	ended := q.Elapsed
	if ended == 0 {
		ended = a.at(e.now)
	}
	if a.running() {
		// Its driver's word did not come through, or it was killed.
		e.end(a, api.AppFinished, ended, api.EndedByExit, "")
	}
	a.Suspended = q.Suspended
	a.Ended, a.EndedBy, a.ExitCode, a.dirty = max(ended, a.Stopped), api.EndedByExit, q.ExitCode, true
	if q.ExitCode != 0 && a.State == api.AppFinished {
		a.State, a.EndReason = api.AppFailed, sayExit(q.ExitCode)
	}
}

// exitedBefore is exited for an application that is history: its driver hung after its
// context's stop, or the report was held up. What the profile learnt without it stays,
// unless the run has failed.
func (e *Engine) exitedBefore(d *endedApp, q api.ControlRequest) {
	a := &d.Detail
	if a.EndedBy == api.EndedByExit || a.State == api.AppRefused {
		return
	}
	ended := q.Elapsed
	if ended == 0 {
		ended = units.FromDuration(e.now.Sub(units.Instant(a.Submitted.UnixNano())))
	}
	d.Account.Suspended = q.Suspended
	a.Duration, a.EndedBy, a.ExitCode = max(ended, d.Account.Stopped), api.EndedByExit, q.ExitCode
	if q.ExitCode != 0 && a.State == api.AppFinished {
		a.State, a.Notices = api.AppFailed, append(a.Notices, sayExit(q.ExitCode))
		e.occur(ExitReported{App: a.ID, Code: q.ExitCode})
		e.unrecord(a.ID, a.Profile)
	}
	a.Predicted, a.ErrorPct = a.Duration, errorPct(a.State, a.Deadline, a.Duration)
	a.Outcome = d.Account.say(a.State, a.Duration, a.EndedBy)
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
