package planner

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/deciders/versions"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner/access"
	"github.com/sparkpacer/pacer/units"
)

// requests take in what people ask for. Some of it the agenda decides at once, for the answers tell what came of it.
type requests struct {
	*core
	agenda *agenda
}

// verbs is where a control verb is entered that is no question.
func (d requests) verbs() map[api.Verb]func(api.ControlRequest) (api.ControlReply, error) {
	return map[api.Verb]func(api.ControlRequest) (api.ControlReply, error){
		api.VerbRelease:    d.releaseApp,
		api.VerbDeadline:   d.changeDeadline,
		api.VerbCap:        d.capApp,
		api.VerbKill:       d.killApp,
		api.VerbStep:       d.stepStage,
		api.VerbProfilePut: d.putProfile,
		api.VerbProfileRm:  d.removeProfile,
		api.VerbPin:        pins{d.core}.pinProfile,
		api.VerbUnpin:      pins{d.core}.unpinProfile,
		api.VerbDrain:      operators(d).drain,
		api.VerbUndrain:    operators(d).undrain,
		api.VerbDivide:     operators(d).divide,
		api.VerbEmpty:      operators(d).consolidate,
		api.VerbPolicySet:  starter{d.core}.setPolicy,
		api.VerbExit:       endings{d.core}.exit,
		api.VerbPing:       d.ping,
		api.VerbLogs:       d.allow,
		api.VerbUpload:     d.allow,
	}
}

// control answers a request of the command line, or has it answered.
func (d requests) control(ev Control) {
	var r api.ControlReply
	d.said.packed = ev.Packed
	err := ev.Request.Validate()
	if err == nil {
		err = d.permit(&ev)
	}
	if ask := questions[ev.Verb]; err == nil && ask != nil {
		d.ask(ev, ask)
		return
	}
	if err == nil && ev.Verb == api.VerbSubmit {
		r, err = components{d.core}.submit(ev.By, ev.Request)
	} else if err == nil {
		if do, ok := d.verbs()[ev.Verb]; ok {
			r, err = do(ev.Request)
		} else {
			err = api.Errorf(api.KindInvalid, "control request %q is not known", string(ev.Verb))
		}
	}
	if err != nil {
		r = api.ControlReply{Error: api.ToWire(err)}
	}
	r.V = api.Version
	a, moves := d.view.App(ev.Request.App), err == nil && ev.Verb == api.VerbDeadline && ev.To != 0
	if moves && a != nil && len(d.moved) > 0 {
		d.settled = append(d.settled, func() Reply {
			r.Message = fmt.Sprintf("%s: %s", a.ID, verdict.Reason(a))
			return Reply{To: ev.To, Body: r}
		})
	} else if access.Changes(ev.Verb) {
		d.reply(ev.To, func() any { return r })
	} else {
		d.show(ev.To, r)
	}
}

// permit refuses what the sender of a request may not do; what it says of itself becomes what
// is known.
func (d requests) permit(ev *Control) error {
	if ev.By.Kind == api.PrincipalUser {
		ev.Request.User = ev.By.Name
	}
	ev.Request.Operates = ev.By.Operates()
	if err := access.Verb(ev.By, ev.Verb); err != nil {
		return err
	}
	if err := access.Profile(ev.By, ev.Request.Owner, ev.Verb == api.VerbProfilePut && ev.Request.Shared); err != nil {
		return err
	}
	app, owner, known := ownerOf(d.view, ev)
	if !known {
		// An application that is not known has no owner; a node may still have logs of it.
		if ev.Verb == api.VerbLogs && !ev.By.Operates() {
			return notFound(ev.Request.App)
		}
		return nil
	}
	return access.Own(ev.By, ev.Verb, app, owner)
}

// allow has nothing to say but that the request is permitted: nodes have the logs.
func (d requests) allow(api.ControlRequest) (api.ControlReply, error) {
	return api.ControlReply{}, nil
}

// ask has a question about what there is answered.
func (d requests) ask(ev Control, ask question) {
	d.answer(ev.To, func(i inquiry) any {
		r, err := ask(i, ev.Request)
		if err != nil {
			r = api.ControlReply{Error: api.ToWire(err)}
		}
		for k := range r.Apps {
			hide(ev.By, &r.Apps[k])
		}
		if r.App != nil {
			hide(ev.By, &r.App.AppSummary)
			if !access.Owns(ev.By, r.App.User) {
				r.App.UIWebURL = "" // Spark shows whoever looks what runs, and with which data.
			}
		}
		r.V = api.Version
		return r
	})
}

// hide leaves a's submission out for whom a is not: who knows it may have its executors.
func hide(by api.Principal, a *api.AppSummary) {
	if !access.Owns(by, a.User) {
		a.Submission = ""
	}
}

// planQuery has it answered what a deadline would mean for a profile.
func (d requests) planQuery(ev PlanQuery) {
	d.answer(ev.To, func(i inquiry) any {
		r, err := whatIf(i, ev)
		if err != nil {
			r = api.PlanReply{Error: api.ToWire(err)}
		}
		r.V = api.Version
		return r
	})
}

// answer has work answer a request apart from the engine.
func (d requests) answer(to Ticket, work func(inquiry) any) {
	if to == 0 {
		return
	}
	i := inquiry{estimates: d.estimates, places: d.places, cfg: d.cfg, even: d.memory.even.means()}
	d.answers = append(d.answers, Answer{To: to, Work: func(view ledger.View, kept *report.Kept) any {
		i.view, i.kept = view, kept
		return work(i)
	}})
}

func (d requests) ping(api.ControlRequest) (api.ControlReply, error) {
	return api.ControlReply{Release: d.cfg.Release, Message: "the planner is there"}, nil
}

// livingApp returns the application, running or queued, that a request wants to change.
func (d requests) livingApp(id api.AppID) (*ledger.App, error) {
	a := d.view.App(id)
	if a != nil && !a.Over() {
		return a, nil
	}
	if a != nil || d.view.EndedApp(id) != nil {
		return a, api.Errorf(api.KindConflict, "application %s has ended", id)
	}
	return nil, notFound(id)
}

// runningApp is livingApp without those that are queued.
func (d requests) runningApp(id api.AppID) (*ledger.App, error) {
	a, err := d.livingApp(id)
	if err == nil && a.Queued() {
		return nil, api.Errorf(api.KindConflict, "application %s is queued and has no executors", id)
	}
	return a, err
}

func (d requests) releaseApp(q api.ControlRequest) (api.ControlReply, error) {
	a, err := d.runningApp(q.App)
	if err != nil {
		return api.ControlReply{}, err
	}
	if a.Promise.Mode != ledger.Paced {
		return api.ControlReply{Message: fmt.Sprintf("%s has all cores already", a.ID)}, nil
	}
	d.apply(ledger.ModeSet{App: a.ID, Mode: ledger.Released, Why: "released: all cores from now on"})
	return api.ControlReply{Message: fmt.Sprintf("%s has all cores from now on", a.ID)}, nil
}

// changeDeadline gives an application another deadline and says what that means.
func (d requests) changeDeadline(q api.ControlRequest) (api.ControlReply, error) {
	a, err := d.livingApp(q.App)
	if err != nil {
		return api.ControlReply{}, err
	}
	deadline, err := newDeadline(a, q, a.At(d.now))
	if err != nil {
		return api.ControlReply{}, err
	}
	redeadline(d.core, a, deadline)
	d.agenda.ask(d.core, onDeadline, a)
	return api.ControlReply{Message: fmt.Sprintf("%s: %s", a.ID, verdict.Reason(a))}, nil
}

// capApp gives an application a most of cores on a node.
func (d requests) capApp(q api.ControlRequest) (api.ControlReply, error) {
	a, err := d.livingApp(q.App)
	if err != nil {
		return api.ControlReply{}, err
	}
	if err := units.Finite("cap", q.Cap); err != nil {
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "%v", err)
	}
	limit(d.core, a, q.Cap)
	d.agenda.ask(d.core, onDeadline, a)
	if q.Cap == 0 {
		return api.ControlReply{Message: fmt.Sprintf("%s has no cap: %s", a.ID, verdict.Reason(a))}, nil
	}
	return api.ControlReply{Message: fmt.Sprintf("%s has at most %s cores on a node: %s", a.ID, q.Cap,
		verdict.Reason(a))}, nil
}

// newDeadline is the deadline that q asks for.
func newDeadline(a *ledger.App, q api.ControlRequest, spent units.Seconds) (units.Seconds, error) {
	deadline := q.Deadline
	switch {
	case q.Deadline != 0 && q.Extend != 0:
		return 0, api.Errorf(api.KindInvalid, "give either a new deadline or an extension")
	case q.Deadline == 0 && q.Extend == 0:
		return 0, api.Errorf(api.KindInvalid, "no deadline is given")
	case q.Extend != 0 && a.Promise.Deadline == 0:
		return 0, api.Errorf(api.KindInvalid, "application %s has no deadline to extend", a.ID)
	case q.Extend != 0:
		deadline = a.Promise.Deadline + q.Extend
	}
	if err := units.Finite("deadline", deadline); err != nil {
		return 0, api.Errorf(api.KindInvalid, "%v", err)
	}
	if deadline > api.MostAmount {
		return 0, api.Errorf(api.KindInvalid, "deadline_s is %v, at most %v is taken", float64(deadline), api.MostAmount)
	}
	if deadline <= spent {
		return 0, api.Errorf(api.KindInvalid, "a deadline of %s has passed: %s runs since %s", verdict.Deadline(deadline),
			a.ID, verdict.Deadline(spent))
	}
	return deadline, nil
}

func (d requests) stepStage(q api.ControlRequest) (api.ControlReply, error) {
	a, err := d.runningApp(q.App)
	if err != nil {
		return api.ControlReply{}, err
	}
	return responses{d.core}.step(a, q.Step)
}

func (d requests) putProfile(q api.ControlRequest) (api.ControlReply, error) {
	if q.Body == nil {
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "no profile is given")
	}
	p := given(api.Principal{}, q)
	endings{d.core}.concludeRuns(p.Name) // A run that has ended before teaches the profile that is there.
	if err := d.ledger.Record(ledger.ProfileSaved{Body: p, How: versions.Put, Packed: d.said.packed}); err != nil {
		return api.ControlReply{}, errors.Unwrap(err) // Without the name of the fact.
	}
	s := versions.Of(d.view.ProfileOf(p.Owner, p.Name))
	text := fmt.Sprintf("profile %q put as version %d: %d stages", p.Name, s.Newest().Number, len(p.Stages))
	if s.Pinned != 0 {
		text += fmt.Sprintf("; it is planned with version %d, which is pinned", s.Pinned)
	}
	return api.ControlReply{Message: text}, nil
}

// removeProfile takes a profile away; running applications keep their copies.
func (d requests) removeProfile(q api.ControlRequest) (api.ControlReply, error) {
	endings{d.core}.concludeRuns(q.Profile) // It may be shown by a run that has just ended.
	p, err := ownedProfile(d.view, q)
	if err != nil {
		return api.ControlReply{}, err
	}
	d.record(ledger.ProfileRemoved{Name: q.Profile, Owner: p.Body.Owner})
	return api.ControlReply{Message: fmt.Sprintf("profile %q of %s removed", q.Profile,
		cmp.Or(p.Body.Owner, "everybody"))}, nil
}

// pins are the requests that pin versions of profiles.
type pins struct{ *core }

// pinProfile has a profile planned with one of its versions, the newest if the request does not say which.
func (d pins) pinProfile(q api.ControlRequest) (api.ControlReply, error) {
	number := 0
	if q.Query != nil {
		number = q.Query.To
	}
	return d.pin(q, func(s versions.State) int { return cmp.Or(number, s.Newest().Number) })
}

// unpinProfile has a profile planned with its newest version again, whichever that is.
func (d pins) unpinProfile(q api.ControlRequest) (api.ControlReply, error) {
	return d.pin(q, func(versions.State) int { return 0 })
}

func (d pins) pin(q api.ControlRequest, which func(versions.State) int) (api.ControlReply, error) {
	endings{d.core}.concludeRuns(q.Profile) // Its newest version may be that of a run that has just ended.
	p, err := ownedProfile(d.view, q)
	if err != nil {
		return api.ControlReply{}, err
	}
	f := versions.Pinned{OfProfile: ledger.OfProfile{Name: p.Body.Name, Owner: p.Body.Owner},
		Number: which(versions.Of(p))}
	if err := d.ledger.Record(f); err != nil {
		return api.ControlReply{}, api.Errorf(api.KindNotFound, "profile %q: %v", p.Body.Name, errors.Unwrap(err))
	}
	if f.Number == 0 {
		return api.ControlReply{Message: fmt.Sprintf("profile %q is planned with its newest version", p.Body.Name)}, nil
	}
	text := fmt.Sprintf("profile %q is planned with its version %d; runs go on teaching the newest", p.Body.Name, f.Number)
	return api.ControlReply{Message: text}, nil
}
