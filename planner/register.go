package planner

import (
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/deciders/heap"
	"github.com/sparkpacer/pacer/deciders/session"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner/access"
)

// drivers take in what drivers say.
type drivers struct{ *core }

// register takes an application in, or recognises one, which it returns, nil for none.
func (r drivers) register(ev Register) *ledger.App {
	if n := ev.Request.Nodes; n != nil { // Only what is submitted has more.
		ev.Request.Nodes = &api.NodeRange{Least: n.Least, Most: n.Most, HeapAuto: n.HeapAuto}
	}
	a, err := r.admit(ev.By, ev.Request)
	if err != nil {
		r.reply(ev.To, func() any { return api.RegisterReply{V: api.Version, Error: api.ToWire(err)} })
		return nil
	}
	r.record(ledger.Heard{App: a.ID})
	if a.Tenant.Launch.Withheld > 0 && !a.Over() {
		r.record(ledger.LaunchTold{App: a.ID, Launch: ev.Request.Launch})
	}
	if readClock(r.core, a, ev.Request.Elapsed-session.Of(a).At, true) {
		redeadline(r.core, a, a.Promise.Deadline)
	}
	other := another(r.view, ev.Request.Planner)
	if a.Running() && other {
		had := a.Promise.Mode
		if r.record(ledger.StateUnknown{App: a.ID}); had != a.Promise.Mode {
			const why = "another planner has had it: it runs unpaced, with all cores"
			ungated(r.core, a.ID, why, why)
		}
	}
	r.reply(ev.To, func() any {
		r.told(a)
		t, p := &a.Tenant, &a.Promise
		reply := api.RegisterReply{V: api.Version, Planner: r.view.Identity(), AppID: a.ID, Verdict: p.Verdict,
			Reason: verdict.Reason(a), Earliest: p.Earliest,
			Executors: t.Pool, Slots: t.Slots, OffHeap: t.Launch.OffHeap, Directive: a.Directive, AckedSeq: a.Marks.AckedSeq,
			// One that goes by another planner's epochs would hear none of this one's, queued or not.
			Recall: (p.Reclaimed || other) && a.Marks.AckedSeq == 0}
		if a.Profile != nil {
			reply.FixedPart = a.Profile.FixedPart
		}
		return reply
	})
	return a
}

// admit returns the application of q, which by has sent: the one that has its Submission, or
// a new one.
func (r drivers) admit(by api.Principal, q api.RegisterRequest) (*ledger.App, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if err := access.Register(by); err != nil {
		return nil, err
	}
	known, err := admission.Known(r.view, q)
	if err == nil {
		err = components{r.core}.alone(q)
	}
	if err != nil {
		return nil, err
	}
	if known != nil && known.Running() && component.Awaits(known) && q.Launch.DriverURL != driverToCome {
		return components{r.core}.come(by, q, known)
	}
	if known != nil {
		if err := again(by, q, known); err != nil {
			return nil, err
		}
		// What it names has ended here: the one that is known came of that, by the same request if
		// it was delivered twice.
		if q.AppID == "" || q.AppID == known.ID || known.Over() || r.view.EndedApp(q.AppID) != nil {
			return known, nil
		}
		// Its first registration was answered by another planner, too: it goes by that one's word.
		r.record(ledger.RunEnded{App: known.ID, State: api.AppFailed, At: known.At(r.now), By: api.EndedBySilence,
			Reason: fmt.Sprintf("its driver runs as %s", q.AppID)})
	}
	q.Launch.User = "" // Whatever the driver says: whom executors run as the bus has to have made sure of.
	switch by.Kind {
	case api.PrincipalUser:
		q.User, q.Launch.User = by.Name, by.Name
	case api.PrincipalApplication:
		return nil, api.Errorf(api.KindNotFound, "application %s is not known: register again", by.Name)
	}
	if err := alone(r.view, by, q); err != nil {
		return nil, err
	}
	if err := passOn(r.core, by, q); err != nil {
		return nil, err
	}
	if q.AppID == "" {
		q.AppID = admission.Unanswered(r.view, api.ContextOf(q.Submission, q.Context))
	}
	seats, err := admission.Reclaim(r.view, q)
	switch {
	case err != nil:
		return nil, err
	case len(seats) > 0:
		return r.reclaim(by, q, seats)
	}
	profile := admission.ProfileOf(r.view, q)
	endings{r.core}.concludeRuns(profile)
	if q.Nodes != nil && q.Nodes.HeapAuto && q.Launch.Attach == nil {
		q.Launch.Heap = heap.Of(r.view.Profile(q.User, profile)).Choose(q.Launch.Heap, q.Deadline > 0)
	}
	// Where no node runs executors for it, an id is only a wish: it passes no bound, and not the queue.
	wish := q.AppID != "" && q.Executors > 0 && r.view.EndedApp(q.AppID) == nil && r.view.App(q.AppID) == nil
	d, err := admission.Decide(r.outlook, r.places, q)
	// What no node that is awake could hold one that sleeps may. A Spark that is not supported wakes nobody.
	if err != nil && d.Tenant.Submission != "" && (sleeper{r.core}).wakeFor(d.App(), q.Name+" comes", false) {
		d, err = admission.Decide(r.outlook, r.places, q)
	}
	capped(by, &d)
	if wish {
		d.TakenOver(q, nil)
	}
	var a *ledger.App
	switch {
	case err != nil:
	case q.Launch.Attach != nil:
		a, err = attached{r.core}.enter(by, d)
	default:
		a, err = starter{r.core}.enter(by, d, q)
	}
	if err != nil {
		r.apply(ledger.TurnedDown{Name: q.Name, Err: err})
		return nil, err
	}
	return a, nil
}

// reclaim takes an application of by's over with the executors that nodes run for it.
func (r drivers) reclaim(by api.Principal, q api.RegisterRequest, seats []admission.Seat) (*ledger.App, error) {
	d, err := admission.Taken(r.outlook, r.places, q, seats)
	if err != nil {
		return nil, err
	}
	capped(by, &d)
	by.Bounds.Memory = 0 // Its executors have theirs.
	if err := admission.Bounded(r.view, by, d.Tenant, 1, false); err != nil {
		return nil, err
	}
	n := 0
	for _, s := range seats {
		n += len(s.Executors)
	}
	if !r.apply(ledger.Registered{ID: d.ID, Name: d.Name, Serial: d.Serial, Tenant: d.Tenant, Promise: d.Promise,
		Executors: n}) {
		return nil, api.Errorf(api.KindTransient, "application %s cannot be taken over now: try again", d.ID)
	}
	a := r.view.App(d.ID)
	for _, s := range seats {
		if r.record(ledger.Reclaimed{App: a.ID, Node: s.Node, Executors: s.Executors}) {
			executors{r.core}.makeRoom(r.view.Node(s.Node))
		}
	}
	r.resize(a)
	r.say(a.ID, a.Promise.Reason)
	return a, nil
}

// again says whether by may register a, which has q's submission, once more. Only the driver
// that has the application's secret may go on as it, and with no more than it came with.
func again(by api.Principal, q api.RegisterRequest, a *ledger.App) error {
	if err := access.Again(by, a.ID, a.Tenant.Owner.User); err != nil {
		return err
	}
	have := &a.Tenant.Launch
	if q.Key != a.Tenant.Owner.Key || have.Withheld > 0 && have.Complete(&q.Launch).Bytes() > have.Bytes() {
		return api.Errorf(api.KindConflict, "application %s of this submission has another driver", a.ID)
	}
	return nil
}

// quietFor is how long the driver that has a ticket must not have been heard before another one has it: it speaks each
// second.
const quietFor = 5 * time.Second

// alone refuses a driver with a ticket while another one lives that has it: executors of its application may read that.
// One that the cluster manager starts in the place of a lost one is heard a moment later.
func alone(v ledger.View, by api.Principal, q api.RegisterRequest) error {
	for _, a := range v.Apps() {
		if by.Ticket && a.Tenant.Submission == q.Submission && !a.Over() && a.Tenant.Owner.Key != q.Key &&
			a.Clocks.Silent < quietFor {
			return api.Errorf(api.KindTransient, "the ticket of submission %s is that of application %s, whose driver is there",
				q.Submission, a.ID)
		}
	}
	return nil
}

// another reports whether a driver means another planner than this one by that name.
func another(v ledger.View, name string) bool {
	identity := v.Identity()
	return name != "" && identity != "" && name != identity
}

// told notes that a reply carries a's notice.
func (r drivers) told(a *ledger.App) {
	if r.view.App(a.ID) == a {
		r.record(ledger.NoticeTold{App: a.ID})
	}
}
