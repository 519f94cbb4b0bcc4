package planner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/versions"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
)

// version is the body of the version of p of a number, 0 for the newest.
func version(p *ledger.Profile, number int) (api.Profile, error) {
	body, err := versions.Of(p).Body(number, p.Body)
	if err != nil {
		return body, api.Errorf(api.KindNotFound, "profile %q: %v", p.Body.Name, err)
	}
	return body, nil
}

// history are the versions of a profile, and what has changed between two of them where a request asks for that: since
// the version before the newest, if it does not say which.
func (i inquiry) history(q api.ControlRequest) (api.ControlReply, error) {
	p, err := findProfile(i.view, q)
	if err != nil {
		return api.ControlReply{}, err
	}
	s := versions.Of(p)
	h := api.ProfileHistory{V: api.Version, Name: p.Body.Name, Owner: p.Body.Owner, Versions: []api.ProfileVersion{}}
	for _, v := range slices.Backward(s.Versions) {
		body, err := version(p, v.Number)
		if err != nil {
			return api.ControlReply{}, err
		}
		told := api.ProfileVersion{Number: v.Number, How: v.How, By: v.By, Pinned: v.Number == s.Pinned, Runs: body.Runs,
			Stages: len(body.Stages), Duration: body.Duration, Work: body.Work()}
		if v.Since > 0 {
			told.Since = time.Unix(0, int64(v.Since)).UTC()
		}
		h.Versions = append(h.Versions, told)
	}
	if q.Query != nil {
		h.Diff, err = compare(p, s, q.Query.From, q.Query.To)
	}
	return api.ControlReply{History: &h}, err
}

// compare is what has changed between two versions of p.
func compare(p *ledger.Profile, s versions.State, from, to int) (*api.ProfileDiff, error) {
	to = cmp.Or(to, s.Newest().Number)
	if from == 0 {
		for _, v := range s.Versions {
			if v.Number < to {
				from = v.Number
			}
		}
	}
	if from == 0 || from == to {
		return nil, api.Errorf(api.KindInvalid, "profile %q has one version to compare: say which two", p.Body.Name)
	}
	a, err := version(p, from)
	if err != nil {
		return nil, err
	}
	b, err := version(p, to)
	if err != nil {
		return nil, err
	}
	return &api.ProfileDiff{From: from, To: to, Said: append([]string{}, profiles.Diff(a, b)...)}, nil
}

// pinProfile has a profile planned with one of its versions, the newest if the request does not say which.
func (d requests) pinProfile(q api.ControlRequest) (api.ControlReply, error) {
	number := 0
	if q.Query != nil {
		number = q.Query.To
	}
	return d.pin(q, func(s versions.State) int { return cmp.Or(number, s.Newest().Number) })
}

// unpinProfile has a profile planned with its newest version again, whichever that is.
func (d requests) unpinProfile(q api.ControlRequest) (api.ControlReply, error) {
	return d.pin(q, func(versions.State) int { return 0 })
}

func (d requests) pin(q api.ControlRequest, which func(versions.State) int) (api.ControlReply, error) {
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

// ownedProfile is findProfile for who changes it: an operator changes what is everybody's.
func ownedProfile(v ledger.View, q api.ControlRequest) (*ledger.Profile, error) {
	p, err := findProfile(v, q)
	if err == nil && p.Body.Owner != q.User && !q.Operates {
		err = api.Errorf(api.KindDenied, "profile %q is everybody's: an operator changes it", q.Profile)
	}
	return p, err
}
