package planner

import (
	"cmp"

	"github.com/sparkpacer/pacer/admission"
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// register takes an application in, or recognises one.
func (r *runs) register(ev Register) {
	a, err := r.admit(ev.Request)
	if err != nil {
		r.reply(ev.To, func() any { return api.RegisterReply{V: api.Version, Error: api.ToWire(err)} })
		return
	}
	r.record(ledger.Heard{App: a.ID})
	r.heardAgain(a)
	r.reply(ev.To, func() any {
		r.told(a)
		t, p := &a.Tenant, &a.Promise
		reply := api.RegisterReply{V: api.Version, AppID: a.ID, Verdict: p.Verdict, Reason: p.Reason, Earliest: p.Earliest,
			Executors: t.Pool, Slots: t.Slots, OffHeap: t.Launch.OffHeap, Directive: a.Directive, AckedSeq: a.Marks.AckedSeq,
			Recall: p.Reclaimed && a.Marks.AckedSeq == 0}
		if a.Profile != nil {
			reply.FixedPart = a.Profile.FixedPart
		}
		return reply
	})
}

// admit returns the application of q: the one that has its Submission, or a new
// one.
func (r *runs) admit(q api.RegisterRequest) (*ledger.App, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if a, err := admission.Known(r.view, q); a != nil || err != nil {
		return a, err
	}
	seats, err := admission.Reclaim(r.view, q)
	switch {
	case err != nil:
		return nil, err
	case len(seats) > 0:
		return r.reclaim(q, seats)
	}
	r.concludeRuns(cmp.Or(q.Profile, q.Name))
	d, err := admission.Decide(r.view, r.places, q)
	var a *ledger.App
	if err == nil {
		a, err = r.hall.enter(d, q)
	}
	if err != nil {
		r.occur(AppRefused{AppName: q.Name, Err: err})
		return nil, err
	}
	return a, nil
}

// reclaim takes an application over with the executors that nodes run for it.
func (r *runs) reclaim(q api.RegisterRequest, seats []admission.Seat) (*ledger.App, error) {
	d, err := admission.Taken(r.view, r.places, q)
	if err != nil {
		return nil, err
	}
	if !r.record(ledger.Registered{ID: d.ID, Name: d.Name, Serial: d.Serial, Tenant: d.Tenant, Promise: d.Promise}) {
		return nil, api.Errorf(api.KindTransient, "application %s cannot be taken over now: try again", q.AppID)
	}
	a := r.view.App(d.ID)
	n := 0
	for _, s := range seats {
		if r.record(ledger.Reclaimed{App: a.ID, Node: s.Node, Executors: s.Executors}) {
			n += len(s.Executors)
		}
	}
	r.fleet.resize(a)
	r.say(a, a.Promise.Reason)
	r.occur(AppReclaimed{App: a.ID, AppName: a.Name, Executors: n})
	return a, nil
}
