package planner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// verbs is where a control verb is entered.
func verbs() map[api.Verb]func(*Engine, api.ControlRequest) (api.ControlReply, error) {
	return map[api.Verb]func(*Engine, api.ControlRequest) (api.ControlReply, error){
		api.VerbApps:       (*Engine).listApps,
		api.VerbApp:        (*Engine).showApp,
		api.VerbRelease:    (*Engine).releaseApp,
		api.VerbDeadline:   (*Engine).changeDeadline,
		api.VerbStep:       (*Engine).stepStage,
		api.VerbProfiles:   (*Engine).listProfiles,
		api.VerbProfile:    (*Engine).showProfile,
		api.VerbProfilePut: (*Engine).putProfile,
		api.VerbProfileRm:  (*Engine).removeProfile,
		api.VerbNodes:      (*Engine).listNodes,
		api.VerbDrain:      (*Engine).drainNode,
		api.VerbUndrain:    (*Engine).undrainNode,
		api.VerbExit:       (*Engine).exit,
		api.VerbPing:       (*Engine).ping,
	}
}

// control answers a request of the command line.
func (e *Engine) control(ev Control) {
	var r api.ControlReply
	err := api.CheckVersion("the client", ev.Request.V)
	if err == nil {
		if do, ok := verbs()[ev.Verb]; ok {
			r, err = do(e, ev.Request)
		} else {
			err = api.Errorf(api.KindInvalid, "control verb %q is not known", string(ev.Verb))
		}
	}
	if err != nil {
		r = api.ControlReply{Error: api.ToWire(err)}
	}
	r.V = api.Version
	e.reply(ev.To, func() any { return r })
}

func (e *Engine) ping(api.ControlRequest) (api.ControlReply, error) {
	return api.ControlReply{Release: e.cfg.Release, Message: "the planner is there"}, nil
}

func (e *Engine) listNodes(api.ControlRequest) (api.ControlReply, error) {
	r := api.ControlReply{Nodes: []api.NodeSummary{}}
	for _, n := range sorted(e.nodes) {
		r.Nodes = append(r.Nodes, n.summary())
	}
	return r, nil
}

func (e *Engine) listApps(api.ControlRequest) (api.ControlReply, error) {
	r := api.ControlReply{Apps: []api.AppSummary{}}
	for _, d := range e.ended {
		r.Apps = append(r.Apps, d.Detail.AppSummary)
	}
	for _, a := range e.apps {
		r.Apps = append(r.Apps, e.summary(a))
	}
	slices.SortFunc(r.Apps, func(a, b api.AppSummary) int { return cmp.Compare(a.ID, b.ID) })
	return r, nil
}

func (e *Engine) showApp(q api.ControlRequest) (api.ControlReply, error) {
	if a := e.apps[q.App]; a != nil {
		d := e.detail(a)
		return api.ControlReply{App: &d}, nil
	}
	if d := e.endedApp(q.App); d != nil {
		detail := d.Detail
		return api.ControlReply{App: &detail}, nil
	}
	return api.ControlReply{}, notFound(q.App)
}

func (e *Engine) endedApp(id api.AppID) *endedApp {
	for _, d := range e.ended {
		if d.Detail.ID == id {
			return d
		}
	}
	return nil
}

func notFound(id api.AppID) error {
	return api.Errorf(api.KindNotFound, "application %q is not known: `pacer apps` lists them", string(id))
}

// runningApp returns the application that a request wants to change.
func (e *Engine) runningApp(id api.AppID) (*app, error) {
	a := e.apps[id]
	if a != nil && a.running() {
		return a, nil
	}
	if a != nil || e.endedApp(id) != nil {
		return nil, api.Errorf(api.KindConflict, "application %s has ended", id)
	}
	return nil, notFound(id)
}

func (e *Engine) releaseApp(q api.ControlRequest) (api.ControlReply, error) {
	a, err := e.runningApp(q.App)
	if err != nil {
		return api.ControlReply{}, err
	}
	if a.Mode != modePaced {
		return api.ControlReply{Message: fmt.Sprintf("%s has all cores already", a.ID)}, nil
	}
	e.release(a, "released: all cores from now on")
	return api.ControlReply{Message: fmt.Sprintf("%s has all cores from now on", a.ID)}, nil
}

// changeDeadline gives an application another deadline and says what that means.
func (e *Engine) changeDeadline(q api.ControlRequest) (api.ControlReply, error) {
	a, err := e.runningApp(q.App)
	if err != nil {
		return api.ControlReply{}, err
	}
	deadline, err := newDeadline(a, q, a.at(e.now))
	if err != nil {
		return api.ControlReply{}, err
	}
	a.Deadline = deadline
	wasReleased := a.Mode == modePaced && !a.gated()
	a.Infeasible, a.Late, a.Open = false, false, false
	a.touch()
	e.retarget(a)
	e.judgeAgain(a)
	if !a.gated() {
		a.dropAll()
	}
	if wasReleased && a.paced() {
		a.say("paced again: " + a.Reason)
		e.occur(PacingChanged{App: a.ID, Pacing: a.pacing(), Why: a.Reason})
	}
	e.occur(DeadlineChanged{App: a.ID, Deadline: a.Deadline, Verdict: a.Verdict})
	return api.ControlReply{Message: fmt.Sprintf("%s: %s", a.ID, a.Reason)}, nil
}

// newDeadline is the deadline that q asks for.
func newDeadline(a *app, q api.ControlRequest, spent units.Seconds) (units.Seconds, error) {
	deadline := q.Deadline
	switch {
	case q.Deadline != 0 && q.Extend != 0:
		return 0, api.Errorf(api.KindInvalid, "give either a new deadline or an extension")
	case q.Deadline == 0 && q.Extend == 0:
		return 0, api.Errorf(api.KindInvalid, "no deadline is given")
	case q.Extend != 0 && a.Deadline == 0:
		return 0, api.Errorf(api.KindInvalid, "application %s has no deadline to extend", a.ID)
	case q.Extend != 0:
		deadline = a.Deadline + q.Extend
	}
	if err := units.Finite("deadline", deadline); err != nil {
		return 0, api.Errorf(api.KindInvalid, "%v", err)
	}
	if deadline <= spent {
		return 0, api.Errorf(api.KindInvalid, "a deadline of %s has passed: %s runs since %s", sayDeadline(deadline), a.ID, sayDeadline(spent))
	}
	return deadline, nil
}

// tightShare is dag's: all cores would need more than this part of the deadline.
const tightShare = 0.9

// judgeAgain renews a's verdict from where it stands.
func (e *Engine) judgeAgain(a *app) {
	a.Earliest = 0
	head := fmt.Sprintf("deadline %s", sayDeadline(a.Deadline))
	if a.profile == nil || a.Mismatch != "" || a.Mode == modeUnpaced {
		a.Verdict = api.VerdictUnknown
		a.Reason = head + " is unknown to be feasible: the application is not paced and has all cores"
		return
	}
	full := e.outlook(a, true)
	finish := full
	if a.Mode == modePaced {
		finish = e.outlook(a, false)
	}
	switch {
	case finish > a.Deadline && full <= a.Deadline && e.turning(a):
		a.Verdict, a.Open = api.VerdictTight, true
	case finish > a.Deadline:
		a.Verdict, a.Infeasible = api.VerdictInfeasible, a.Mode == modePaced && !e.cfg.PaceInfeasible
		a.Earliest = full / units.Seconds(e.cfg.Alpha)
	case full > tightShare*a.Deadline:
		a.Verdict = api.VerdictTight
	default:
		a.Verdict = api.VerdictFeasible
	}
	a.Reason = fmt.Sprintf("%s is %s: all cores would finish in %s", head, a.Verdict, sayFinish(full))
	switch {
	case a.Infeasible || a.Open:
		a.Reason += ", all cores from now on"
	case a.Mode != modePaced:
		a.Reason += "; the application is not paced and has them"
	}
}

func (e *Engine) listProfiles(api.ControlRequest) (api.ControlReply, error) {
	r := api.ControlReply{Profiles: []api.Profile{}}
	for _, p := range sorted(e.profiles) {
		r.Profiles = append(r.Profiles, p.body)
	}
	return r, nil
}

func (e *Engine) showProfile(q api.ControlRequest) (api.ControlReply, error) {
	p := e.profiles[q.Profile]
	if p == nil {
		return api.ControlReply{}, noProfile(q.Profile)
	}
	return api.ControlReply{Profiles: []api.Profile{p.body}}, nil
}

func noProfile(name string) error {
	return api.Errorf(api.KindNotFound, "profile %q is not known: `pacer profiles list` lists them", name)
}

func (e *Engine) putProfile(q api.ControlRequest) (api.ControlReply, error) {
	if q.Body == nil {
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "no profile is given")
	}
	p := *q.Body
	if q.Profile != "" {
		p.Name = q.Profile
	}
	how := "put"
	if e.profiles[p.Name] != nil {
		how = "replaced"
	}
	if err := e.storeProfile(p); err != nil {
		return api.ControlReply{}, err
	}
	e.occur(ProfileChanged{Profile: p.Name, How: how})
	return api.ControlReply{Message: fmt.Sprintf("profile %q %s: %d stages", p.Name, how, len(p.Stages))}, nil
}

// removeProfile takes a profile away; running applications keep their copies.
func (e *Engine) removeProfile(q api.ControlRequest) (api.ControlReply, error) {
	if e.profiles[q.Profile] == nil {
		return api.ControlReply{}, noProfile(q.Profile)
	}
	delete(e.profiles, q.Profile)
	e.remove(profileKey(q.Profile))
	e.occur(ProfileChanged{Profile: q.Profile, How: "removed"})
	return api.ControlReply{Message: fmt.Sprintf("profile %q removed", q.Profile)}, nil
}
