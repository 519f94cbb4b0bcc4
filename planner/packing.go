package planner

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/versions"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner/access"
	"github.com/sparkpacer/pacer/profiles"
)

// given is the profile that q puts, a request of by's.
func given(by api.Principal, q api.ControlRequest) api.Profile {
	if by.Kind == api.PrincipalUser {
		q.User = by.Name
	}
	p := *q.Body
	p.Name = cmp.Or(q.Profile, p.Name)
	p.Taught = p.Taught && q.Shared
	if p.Owner, p.Shared = cmp.Or(q.Owner, q.User), q.Shared; p.Shared {
		p.Owner = ""
	}
	return p
}

// packed is the profile that q puts, packed; nil where by may put none, or the engine is to say what is wrong with it.
func packed(by api.Principal, q api.ControlRequest) []byte {
	if access.Verb(by, api.VerbProfilePut) != nil {
		return nil
	}
	body, err := profiles.Pack(given(by, q))
	if err != nil {
		return nil
	}
	return body
}

// unpacked are the versions that are still to be packed of the profiles that a step has saved: each is a function that
// packs one, and reports false where it cannot.
func unpacked(v ledger.View, changes []ledger.Change) (all []func() (versions.Packed, bool)) {
	var saved []ledger.OfProfile
	for _, c := range changes {
		if f, is := c.Fact.(ledger.ProfileSaved); is {
			of := ledger.OfProfile{Name: f.Body.Name, Owner: f.Body.Owner}
			saved = append(slices.DeleteFunc(saved, func(s ledger.OfProfile) bool { return s == of }), of)
		}
	}
	for _, of := range saved {
		p := v.ProfileOf(of.Owner, of.Name)
		if p == nil {
			continue
		}
		for made, body := range versions.Of(p).Unpacked(&p.Body) {
			all = append(all, func() (versions.Packed, bool) {
				packed, err := profiles.Pack(*body)
				return versions.Packed{OfProfile: of, Of: made, Body: packed}, err == nil
			})
		}
	}
	return all
}
