package planner

import (
	"cmp"
	"fmt"

	"github.com/sparkpacer/pacer/admission"
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/report"
	"github.com/sparkpacer/pacer/units"
)

// register takes an application in, or recognises one.
func (r *runs) register(ev Register) {
	a, err := r.admit(ev.Request)
	if err != nil {
		r.reply(ev.To, func() any { return api.RegisterReply{V: api.Version, Error: api.ToWire(err)} })
		return
	}
	r.record(ledger.Heard{App: a.ID})
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
	d, err := admission.Decide(r.view, r.places, r.verdicts, q)
	if err == nil && d.Refused {
		err = r.refuse(d)
	}
	if err == nil {
		err = checkAdmission(r.view, d)
	}
	if err != nil {
		r.occur(AppRefused{AppName: q.Name, Err: err})
		return nil, err
	}
	if !r.record(ledger.Registered{ID: d.ID, Name: d.Name, Serial: d.Serial, Tenant: d.Tenant, Promise: d.Promise, Matched: d.Matched}) {
		return nil, api.Errorf(api.KindTransient, "application %s could not be taken in", d.ID)
	}
	a := r.view.App(d.ID)
	r.record(ledger.Seated{App: a.ID, Nodes: d.Seating.Nodes(), OffHeap: d.Seating.OffHeap})
	r.occur(AppRegistered{App: a.ID, AppName: a.Name, Verdict: a.Promise.Verdict, Reason: a.Promise.Reason, Executors: a.Tenant.Pool})
	return a, nil
}

// checkAdmission says what is wrong with the seats of d, as a *SeatError: its executors
// also have to fit with what they get off the heap.
func checkAdmission(v ledger.View, d admission.Admission) error {
	a := d.Candidate(nil)
	if len(d.Seating.Seats) == 0 {
		return &SeatError{a.ID, "", "there is none"}
	}
	launch := &a.Tenant.Launch
	launch.OffHeap, launch.OffHeapFixed = d.Seating.OffHeap, true
	if launch.OffHeap < 0 {
		return &SeatError{a.ID, "", fmt.Sprintf("executors with %v off the heap", launch.OffHeap)}
	}
	return checkSeats(v, a, d.Seating.Seats)
}

// refuse keeps an application that is turned down in the history, so that `pacer apps`
// shows it.
func (r *runs) refuse(d admission.Admission) error {
	r.record(ledger.Numbered{Serial: d.Serial})
	promise := d.Promise
	promise.Mode = ledger.Unpaced
	a := &ledger.App{ID: d.ID, Name: d.Name, Tenant: d.Tenant, Promise: promise, Outcome: ledger.Outcome{State: api.AppRefused,
		Ended: units.FromDuration(r.now.Sub(promise.Start)), Reason: promise.Reason}, Profile: r.view.Copy(promise.Profile)}
	r.record(ledger.Refused{Detail: report.Detail(r.view, r.estimates, a), Account: report.Account(r.now, a)})
	return api.Errorf(api.KindInfeasible, "%s", promise.Reason)
}
