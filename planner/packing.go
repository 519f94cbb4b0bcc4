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

// packs queues a request that puts a profile once that is packed, beside the loop: it takes longer than a turn may.
func (l *Loop) packs(by api.Principal, q api.ControlRequest, event func(Ticket) Event, reply func(api.ControlReply)) {
	login := by.Login()
	if !l.packing.Enter(login) {
		asked(nil, "", 0, reply).refuse(tooMany())
		return
	}
	put := asked(event, login, mostWeight/4, func(r api.ControlReply) {
		l.packing.Leave(login)
		reply(r)
	})
	l.packing.Run(login, func() {
		if access.Verb(by, api.VerbProfilePut) == nil {
			packed, err := profiles.Pack(given(by, q))
			put.event = func(t Ticket) Event {
				ev, _ := event(t).(Control)
				if err == nil { // Else the engine says what is wrong with the profile.
					ev.Packed = packed
				}
				return ev
			}
		}
		l.enqueue(put)
	})
}

// pack has what is not packed of the profiles that a step has saved packed beside the loop.
func (l *Loop) pack(changes []ledger.Change) {
	var saved []ledger.OfProfile
	for _, c := range changes {
		if f, is := c.Fact.(ledger.ProfileSaved); is {
			of := ledger.OfProfile{Name: f.Body.Name, Owner: f.Body.Owner}
			saved = append(slices.DeleteFunc(saved, func(s ledger.OfProfile) bool { return s == of }), of)
		}
	}
	for _, of := range saved {
		p := l.engine.View().ProfileOf(of.Owner, of.Name)
		if p == nil {
			continue
		}
		for made, body := range versions.Of(p).Unpacked(&p.Body) {
			l.packing.Run(own, func() {
				if packed, err := profiles.Pack(*body); err == nil {
					f := versions.Packed{OfProfile: of, Of: made, Body: packed}
					send(l, api.Principal{}, 1, func(Ticket) Event { return Packed{f} }, func(struct{}) {})
				}
			})
		}
	}
}
