package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/deciders/versions"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
)

// ownerOf is whose application a request is about, if it is about one that is known. A
// spark-submit's exit is about a submission, all else names an application.
func ownerOf(v ledger.View, ev *Control) (app api.AppID, owner string, known bool) {
	if ev.Verb != api.VerbExit {
		if a := v.App(ev.Request.App); a != nil {
			return a.ID, a.Tenant.Owner.User, true
		}
		if e := v.EndedApp(ev.Request.App); e != nil {
			return e.Detail.ID, e.Detail.User, true
		}
		return "", "", false
	}
	for _, a := range v.Apps() {
		if a.Tenant.Submission == ev.Request.Submission {
			return a.ID, a.Tenant.Owner.User, true
		}
	}
	for _, e := range v.Ended() {
		if e.Detail.Submission == ev.Request.Submission {
			return e.Detail.ID, e.Detail.User, true
		}
	}
	return "", "", false
}

// findProfile is the profile that a request means: its sender's own of that name, else the one that is
// everybody's; the one that is everybody's or whose owner it names, where it says so. An operator means somebody
// else's, too, if there is one only.
func findProfile(v ledger.View, q api.ControlRequest) (*ledger.Profile, error) {
	var found *ledger.Profile
	switch {
	case q.Shared:
		found = v.ProfileOf("", q.Profile)
	case q.Owner != "":
		found = v.ProfileOf(q.Owner, q.Profile)
	default:
		found = v.Profile(q.User, q.Profile)
	}
	if found != nil {
		return found, nil
	}
	others := slices.DeleteFunc(v.Profiles(), func(p *ledger.Profile) bool { return p.Body.Name != q.Profile })
	if !q.Operates || q.Shared || q.Owner != "" || len(others) == 0 {
		return nil, admission.NoProfile(v, q.User, q.Profile)
	}
	if len(others) > 1 {
		var owners []string
		for _, p := range others {
			owners = append(owners, p.Body.Owner)
		}
		return nil, api.Errorf(api.KindInvalid, "profile %q is one of each of %s: say --owner", q.Profile,
			strings.Join(owners, ", "))
	}
	return others[0], nil
}

// seenProfiles are those that the sender of a request sees: its own and everybody's; all, if it operates.
func seenProfiles(v ledger.View, q api.ControlRequest) []*ledger.Profile {
	return slices.DeleteFunc(v.Profiles(), func(p *ledger.Profile) bool {
		return !q.Operates && p.Body.Owner != "" && p.Body.Owner != q.User
	})
}

// whatIf answers what a deadline would mean for a profile that the asker sees.
func whatIf(i inquiry, ev PlanQuery) (api.PlanReply, error) {
	if err := ev.Request.Validate(); err != nil {
		return api.PlanReply{}, err
	}
	if ev.Request.Body != nil {
		p, err := ledger.NewProfile(*ev.Request.Body)
		if err != nil {
			return api.PlanReply{}, err
		}
		return admission.WhatIf(i.estimates.Outlook(i.view), i.places, ev.Request, ev.By.Name, p)
	}
	i = i.settled()
	q := api.ControlRequest{Profile: ev.Request.Profile, User: ev.By.Name, Operates: ev.By.Operates()}
	p, err := findProfile(i.view, q)
	if key := profiles.Key(q.Profile, ""); api.KindOf(err) == api.KindNotFound && i.view.Profile(q.User, key) != nil {
		p, err = i.view.Profile(q.User, key), nil
	}
	if err != nil {
		return api.PlanReply{}, err
	}
	owner := cmp.Or(p.Body.Owner, ev.By.Name)
	return admission.WhatIf(i.estimates.Outlook(i.view), i.places, ev.Request, owner, p.Planned())
}

// version is the body of the version of p of a number, 0 for the newest.
func version(p *ledger.Profile, number int) (api.Profile, error) {
	body, err := versions.Of(p).Body(number, &p.Body)
	if err != nil {
		return api.Profile{}, api.Errorf(api.KindNotFound, "profile %q: %v", p.Body.Name, err)
	}
	return *body, nil
}

// ownedProfile is findProfile for who changes it: an operator changes what is everybody's.
func ownedProfile(v ledger.View, q api.ControlRequest) (*ledger.Profile, error) {
	p, err := findProfile(v, q)
	if err == nil && p.Body.Owner != q.User && !q.Operates {
		err = api.Errorf(api.KindDenied, "profile %q is everybody's: an operator changes it", q.Profile)
	}
	return p, err
}
