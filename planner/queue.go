package planner

import (
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// starter is the part of an engine that sees to who starts and who waits.
type starter struct {
	*core
	// seen is what had come or been freed when the policy was asked last, asked when that was.
	seen  uint64
	asked units.Instant
}

// askEvery is after how long the policy is asked though nothing has happened: what is
// expected passes.
const askEvery = time.Minute

// enter takes an application in that comes by somebody: it starts, has a place, or is turned
// down.
func (h *starter) enter(by api.Principal, d admission.Admission, q api.RegisterRequest) (*ledger.App, error) {
	comes := d.App()
	choices := h.line.Decide(h.view, &queue.Newcomer{App: comes, Profile: d.Profile, NoWait: q.NoWait})
	mine := queue.Choice{What: queue.Refuse, Err: api.Errorf(api.KindInternal, "nothing was decided on %s", d.ID)}
	others := choices[:0:0]
	for _, c := range choices {
		if c.App == comes {
			mine = c
		} else {
			others = append(others, c)
		}
	}
	d.Promise.Judgement = mine.Judgement
	if mine.What == queue.Refuse {
		if api.KindOf(mine.Err) == api.KindInfeasible {
			h.refuse(d)
		}
		return nil, mine.Err
	}
	if err := admission.Bounded(h.view, by, d.Tenant, len(mine.Seating.Nodes()), mine.What != queue.Start); err != nil {
		return nil, err
	}
	h.begin(others)
	f := ledger.Registered{ID: d.ID, Name: d.Name, Serial: d.Serial, Tenant: d.Tenant, Promise: d.Promise,
		Matched: d.Profile != nil}
	if mine.What == queue.Start {
		s := mine.Seating
		if err := checkSeating(h.view, comes, s); err != nil {
			return nil, err
		}
		f.Tenant.Cores, f.Tenant.Slots, f.Tenant.PerNode = s.Cores, s.Slots, s.PerNode
		f.Executors = len(s.Nodes())
	} else {
		f.Wait = &mine.Wait
	}
	if !h.record(f) {
		return nil, api.Errorf(api.KindTransient, "application %s could not be taken in", d.ID)
	}
	a := h.view.App(d.ID)
	if mine.What == queue.Start {
		h.seat(a, mine)
	}
	h.place(others)
	return a, nil
}

// refuse keeps an application that is turned down in the history, so that `pacer apps`
// shows it.
func (h *starter) refuse(d admission.Admission) {
	h.record(ledger.SerialTaken{Serial: d.Serial})
	promise := d.Promise
	promise.Mode = ledger.Unpaced
	a := &ledger.App{ID: d.ID, Name: d.Name, Tenant: d.Tenant, Promise: promise,
		Outcome: ledger.Outcome{State: api.AppRefused,
			Ended: units.FromDuration(h.now.Sub(promise.Start)), Reason: promise.Reason}, Profile: d.Profile}
	h.record(ledger.Refused{Detail: report.Detail(h.view, h.estimates, a), Account: report.Account(h.now, a)})
}

// tick asks the policy when something has come or been freed, and from time to time.
func (h *starter) tick() {
	seen := h.view.Growth() + h.view.Freed()
	if len(h.view.Waiting()) == 0 || seen == h.seen && !h.due && h.now < h.asked.Add(askEvery) {
		return
	}
	h.askNow()
}

// askNow asks the policy about all that wait.
func (h *starter) askNow() {
	h.seen, h.asked, h.due = h.view.Growth()+h.view.Freed(), h.now, false
	choices := h.line.Decide(h.view, nil)
	h.begin(choices)
	h.place(choices)
}

// begin carries out who starts and who is turned down.
func (h *starter) begin(choices []queue.Choice) {
	for _, c := range choices {
		switch c.What {
		case queue.Start:
			h.start(c)
		case queue.Refuse:
			h.record(ledger.TurnedDown{App: c.App.ID, Name: c.App.Name, Err: c.Err, At: c.App.At(h.now), Judgement: c.Judgement})
		}
	}
}

// start ends the wait of an application: what it gets is looked at before anything changes.
func (h *starter) start(c queue.Choice) {
	a := c.App
	waited := h.now.Sub(a.Wait.Since)
	if err := checkSeating(h.view, a, c.Seating); err != nil {
		h.refused(err)
		return
	}
	s := c.Seating
	if !h.record(ledger.Started{App: a.ID, Cores: s.Cores, Slots: s.Slots, PerNode: s.PerNode, Mode: c.Mode,
		Judgement: c.Judgement, Matched: c.Matched, Executors: len(s.Nodes()), Waited: waited}) {
		return
	}
	h.seat(a, c)
	h.record(ledger.Noticed{App: a.ID, Text: "started after " + waited.Round(time.Second).String() + " in the queue: " +
		a.Promise.Reason})
}

// seat gives an application that has started its executors. One that cannot have them has
// failed: its decider was wrong, and it would wait for ever.
func (h *starter) seat(a *ledger.App, c queue.Choice) {
	if !h.record(ledger.Seated{App: a.ID, Nodes: c.Seating.Nodes(), OffHeap: c.Seating.OffHeap}) {
		h.record(ledger.RunEnded{App: a.ID, State: api.AppFailed, At: a.At(h.now), By: api.EndedByKill,
			Reason: "its executors could not be placed"})
		return
	}
	if c.Cap != a.Tenant.Cap {
		h.record(ledger.Capped{App: a.ID, Cores: c.Cap})
	}
}

// place gives those their places that go on waiting, where these are other ones now.
func (h *starter) place(choices []queue.Choice) {
	for _, c := range choices {
		if w := c.App.Wait; c.What == queue.Wait && w != nil && !sameWait(h.now, *w, c.Wait) {
			h.record(ledger.QueuePlaced{App: c.App.ID, Wait: c.Wait})
			h.record(ledger.Judged{App: c.App.ID, Judgement: c.Judgement})
		}
	}
}

// An expected start that differs by less than this, or by this part of the time until then,
// is told to nobody.
const (
	sameStart     = 5 * time.Second
	sameStartPart = 0.1
)

// sameWait reports whether two waits say the same.
func sameWait(now units.Instant, a, b ledger.Wait) bool {
	known, differ := (a.Start > 0) == (b.Start > 0), b.Start.Sub(a.Start).Abs()
	near := max(sameStart, time.Duration(sameStartPart*float64(max(0, a.Start.Sub(now)))))
	a.Start, a.Why = b.Start, b.Why
	return known && differ <= near && a == b
}

// checkSeating says what is wrong with what an application would start with, as a
// *SeatError: seats that are none, that do not fit with what is off the heap, or that make the
// Plan of a node too large for the bus, so that the node would hear of nothing any more.
func checkSeating(v ledger.View, a *ledger.App, s placement.Seating) error {
	if len(s.Seats) == 0 {
		return &SeatError{a.ID, "", "there is none"}
	}
	sized := *a
	sized.Tenant.Launch.OffHeap = s.OffHeap
	if s.OffHeap < 0 {
		return &SeatError{a.ID, "", "executors with " + s.OffHeap.String() + " off the heap"}
	}
	if err := checkSeats(v, &sized, s.Seats); err != nil {
		return err
	}
	for _, seat := range s.Seats {
		if v.LaunchBytes(v.Node(seat.Node.Node))+a.Tenant.Launch.Bytes() > api.MostPlanLaunches {
			return &SeatError{a.ID, seat.Node.Node, "its plan does not hold the launch"}
		}
	}
	return nil
}
