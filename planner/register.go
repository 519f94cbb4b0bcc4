package planner

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/units"
)

// register takes an application in, or recognises one.
func (e *Engine) register(ev Register) {
	a, err := e.admit(ev.Request)
	if err != nil {
		e.reply(ev.To, func() any { return api.RegisterReply{V: api.Version, Error: api.ToWire(err)} })
		return
	}
	a.silent = 0
	e.reply(ev.To, func() any {
		a.noticeSent = true
		reply := api.RegisterReply{V: api.Version, AppID: a.ID, Verdict: a.Verdict, Reason: a.Reason, Earliest: a.Earliest,
			Executors: a.Pool, Slots: a.Slots, OffHeap: a.Launch.OffHeap, Directive: a.Directive, AckedSeq: a.marks.AckedSeq}
		if a.profile != nil {
			reply.Even = a.profile.even
		}
		return reply
	})
}

// admit returns the application of r: the one that has its Submission, or a new
// one.
func (e *Engine) admit(r api.RegisterRequest) (*app, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if a, err := e.known(r); a != nil || err != nil {
		return a, err
	}
	if err := e.runsElsewhere(r.AppID); err != nil {
		return nil, err
	}
	a, err := e.newApp(r)
	if err != nil {
		e.occur(AppRefused{AppName: r.Name, Err: err})
		return nil, err
	}
	e.apps[a.ID], e.lineup = a, nil
	e.concern(a)
	a.touch()
	e.occur(AppRegistered{App: a.ID, AppName: a.Name, Verdict: a.Verdict, Reason: a.Reason, Executors: a.Pool})
	return a, nil
}

// newcomer is how long after its start a planner without its state waits for nodes to
// say what they run, before it takes an application that another planner has named.
const newcomer = 5 * time.Second

// runsElsewhere says that the application to which another planner gave that id has
// executors that run for that planner, or may have: it goes on with these, and has no
// use for others with their ids.
func (e *Engine) runsElsewhere(id api.AppID) error {
	if id == "" || e.identity == "" || e.endedApp(id) != nil {
		return nil
	}
	for _, n := range e.inOrder() {
		if n.here() && slices.Contains(n.theirs, id) {
			return api.Errorf(api.KindTransient, "executors of %s run on node %s for planner %s: it goes on without this one", id, n.Node, n.follows)
		}
	}
	if e.uptime < newcomer {
		return api.Errorf(api.KindTransient, "%s is not known, and this planner has only started: try again in %v", id, newcomer-e.uptime)
	}
	return nil
}

// known finds the application that a repeated registration means. One that
// failed because its driver was silent for too long may come back as a new one.
func (e *Engine) known(r api.RegisterRequest) (*app, error) {
	for _, a := range e.applications() {
		switch {
		case a.Submission != r.Submission:
		case a.running():
			return a, nil
		case a.DriverEnd:
			return nil, api.Errorf(api.KindConflict, "application %s of this submission has ended", a.ID)
		}
	}
	for _, d := range e.ended {
		if d.Detail.Submission != r.Submission || d.DriverLost {
			continue
		}
		if d.Detail.State == api.AppRefused {
			return nil, api.Errorf(api.KindInfeasible, "%s", d.Detail.Reason)
		}
		return nil, api.Errorf(api.KindConflict, "application %s of this submission has ended", d.Detail.ID)
	}
	return nil, nil
}

// newApp decides on a new application: verdict, pool and executors.
func (e *Engine) newApp(r api.RegisterRequest) (*app, error) {
	if err := api.CheckSpark(cmp.Or(r.SparkVersion, r.Launch.SparkVersion)); err != nil {
		return nil, err
	}
	a := newApp(appRecord{
		V: stateVersion, Submission: r.Submission, Name: r.Name, Profile: r.Profile, User: r.User, Launch: r.Launch,
		Start: e.now.Add(-r.Elapsed.Duration()), Deadline: r.Deadline, State: api.AppRunning, Mode: modeRecording, NextID: 1,
		Watched: r.Watched, UTCOffset: r.UTCOffset,
	})
	if a.Profile == "" {
		a.Profile = a.Name
	}
	if a.Launch.Overhead == 0 {
		a.Launch.Overhead = memory.Overhead(a.Launch.Heap)
	}
	a.Launch.Mode = r.Mode
	e.settle(a.Profile)
	if p := e.profiles[a.Profile]; p != nil && r.Mode != api.ModeOff {
		a.profile = p.forRun(e.cfg.Beta)
	}
	if r.Mode == api.ModeOff {
		a.Mode = modeOff
	}
	if a.Deadline > 0 && a.profile != nil {
		a.Mode = modePaced
	}
	seats, err := e.seats(a)
	if err != nil {
		return nil, err
	}
	e.judge(a, seats)
	e.serial++
	e.counters = true
	a.ID = api.AppID(fmt.Sprintf("app-%s-%04d", time.Unix(0, int64(e.now)).UTC().Format("20060102150405"), e.serial%10000))
	if a.Verdict == api.VerdictInfeasible && r.RequireFeasible {
		return nil, e.refuse(a)
	}
	e.fill(a, seats)
	return a, nil
}

// judge sets a's verdict and the line that says it. The forecast is for all that
// the nodes offer: what other applications will take of it is the supervisors'
// business, and changes while a runs.
func (e *Engine) judge(a *app, seats []seat) {
	a.Cores, a.Slots = extent(a, seats)
	switch {
	case a.Mode == modeOff:
		a.Verdict = api.VerdictNone
		a.Reason = "mode off: all cores, nothing is judged, paced or recorded"
	case a.profile == nil && a.Deadline > 0:
		a.Verdict = api.VerdictUnknown
		a.Reason = fmt.Sprintf("deadline %s is unknown to be feasible: there is no profile %q yet; this run takes all cores and records it",
			sayDeadline(a.Deadline), a.Profile)
	case a.profile == nil:
		a.Verdict = api.VerdictNone
		a.Reason = fmt.Sprintf("no deadline: all cores; the run is recorded as profile %q", a.Profile)
	default:
		params := e.cfg.params()
		if a.Mode == modePaced {
			most := slices.MaxFunc(seats, func(x, y seat) int { return x.executors - y.executors })
			params = e.cfg.turns(a.profile.graph, most.executors)
			params.Open, params.Nodes = a.Open, len(seats)
		}
		f := a.profile.graph.Forecast(params, a.Deadline, a.Cores, a.Slots, a.at(e.now))
		a.Verdict, a.Earliest = f.Verdict, f.Earliest
		a.Reason = sayVerdict(f, a.Deadline) + sayTurns(a)
		a.Infeasible = f.Verdict == api.VerdictInfeasible && !e.cfg.PaceInfeasible
	}
	if a.observed() {
		a.Reason += " (mode observe: nothing is held back)"
	}
}

// refuse keeps a in the history, so that `pacer apps` shows it.
func (e *Engine) refuse(a *app) error {
	a.State, a.Ended = api.AppRefused, a.at(e.now)
	a.Mode = modeUnpaced
	a.EndReason = a.Reason
	e.bury(a)
	return api.Errorf(api.KindInfeasible, "%s", a.Reason)
}

// sayVerdict is the line for the user.
func sayVerdict(f dag.Forecast, deadline units.Seconds) string {
	full := "all cores would finish in " + sayFinish(f.FullCores)
	if !(deadline > 0) {
		return "no deadline: " + full
	}
	text := fmt.Sprintf("deadline %s is %s: %s", sayDeadline(deadline), f.Verdict, full)
	if f.Verdict == api.VerdictInfeasible {
		text += ", the earliest feasible deadline is " + sayEarliest(f.Earliest)
	}
	return text
}

// sayDeadline prints a deadline as users write them: 1m30s.
func sayDeadline(s units.Seconds) string {
	return s.Duration().Round(100 * time.Millisecond).String()
}

// sayFinish prints a predicted time in seconds, whole ones from ten on.
func sayFinish(s units.Seconds) string {
	if s < 10 {
		return fmt.Sprintf("%.1fs", float64(s))
	}
	return fmt.Sprintf("%.0fs", float64(s))
}

// sayEarliest rounds up, so that what is said is feasible.
func sayEarliest(s units.Seconds) string {
	if s <= 0 {
		return "not known"
	}
	return (s + 0.999).Duration().Truncate(time.Second).String()
}
