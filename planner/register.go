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
			Executors: t.Pool, Slots: t.Slots, OffHeap: t.Launch.OffHeap, Directive: a.Directive, AckedSeq: a.Marks.AckedSeq}
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
	if err := admission.Elsewhere(r.view, q.AppID); err != nil {
		return nil, err
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
