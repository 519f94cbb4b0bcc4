package planner

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// starter is the part of an engine that sees to who starts and who waits.
type starter struct {
	*core
	levers  *levers
	sleeper *sleeper
	// seen is what had come or been freed when the policy was asked last, asked when that was.
	seen  uint64
	asked units.Instant
	asks  uint64 // How often it was.
	// even is how even applications are served.
	even evenness
	// shares are what bounds growth, by another rule than the default.
	shares shares
	// reserved is what reservations were decided on last.
	reserved reserving
}

// enter takes an application in that comes by somebody: it starts, has a place, or is turned
// down.
func (h *starter) enter(by api.Principal, d admission.Admission, q api.RegisterRequest) (*ledger.App, error) {
	comes := d.App()
	var choices []queue.Choice
	i := -1
	decide := func() {
		choices = h.line.Decide(h.outlook, &queue.Newcomer{App: comes, Profile: d.Profile, NoWait: q.NoWait})
		i = slices.IndexFunc(choices, func(c queue.Choice) bool { return c.App == comes })
	}
	decide()
	// What its user's bounds refuse wakes nobody.
	if i >= 0 && admission.Bounded(h.view, by, d.Tenant, 1, false) == nil && h.sleeper.wanted(choices[i]) {
		decide()
	}
	if i < 0 {
		return nil, api.Errorf(api.KindInternal, "nothing was decided on %s", d.ID)
	}
	mine := &choices[i]
	d.Promise.Judgement = mine.Judgement
	if mine.What == queue.Refuse {
		if api.KindOf(mine.Err) == api.KindInfeasible {
			h.refuse(d)
		}
		return nil, mine.Err
	}
	if most, bounded := admission.Most(h.view, by, d.Tenant); bounded && mine.What == queue.Start {
		mine.Seating = mine.Seating.Within(most, d.Tenant.Launch)
	}
	if err := admission.Bounded(h.view, by, d.Tenant, len(mine.Seating.Nodes()), mine.What != queue.Start); err != nil {
		return nil, err
	}
	h.levers.apply(queue.Levers(h.now, choices, &ledger.Registered{ID: d.ID, Name: d.Name, Serial: d.Serial,
		Tenant: d.Tenant, Promise: d.Promise, Matched: d.Profile != nil})...)
	a := h.view.App(d.ID)
	if a == nil {
		return nil, api.Errorf(api.KindTransient, "application %s could not be taken in", d.ID)
	}
	h.reserve(a.ID)
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
	detail := report.Detail(h.view, h.estimates, a)
	h.record(ledger.Refused{Detail: detail, Account: report.Account(h.estimates, h.view, a),
		Run: report.Run(h.estimates, h.view, a, &detail.AppSummary)})
}

// tick asks the policy when something has come or been freed, and from time to time. Where the planner is busy, what it
// is to be asked for is still so later.
func (h *starter) tick(busy bool) {
	h.even.tick(h.view, h.places)
	if len(h.view.Waiting()) > 0 {
		h.stayed()
		if !busy && (h.news() != h.seen || h.due || h.now >= h.asked.Add(askEvery) || h.missed()) {
			h.askNow()
		}
	}
	h.shares.tick(h.outlook, h.line, h.news(), h.now)
}

// reserve decides on reservations where that is to be done again. Users are told, but for that of the application that
// comes: its reply says it.
func (h *starter) reserve(comes api.AppID) {
	p := h.cfg.reserves(h.view)
	over := p.Over(h.view)
	for _, f := range over {
		if state, ok := p.Learn(h.view, h.view.App(f.App)); ok {
			h.record(ledger.QueueLearnt{Key: ledger.DeadlinesKey, State: state})
		}
		h.reservations(comes, []ledger.Lever{f})
	}
	if again, less := h.reserved.renew(h.view, p, askEvery); again || len(over) > 0 {
		h.reservations(comes, p.Decide(h.outlook, less))
	}
}

// reservations records levers, and what users are told of them.
func (h *starter) reservations(comes api.AppID, levers []ledger.Lever) {
	h.levers.apply(levers...)
	for _, lever := range levers {
		if f, ok := lever.(reservation.Reserved); ok && f.App != comes && f.Why != "" {
			h.say(f.App, f.Why)
		}
	}
}

// news counts what has come and been freed.
func (h *starter) news() uint64 {
	freed, _ := h.view.Freed()
	return h.view.Growth() + freed
}

// askNow asks the policy about all that wait.
func (h *starter) askNow() {
	h.asks++
	h.seen, h.asked, h.due = h.news(), h.now, false
	h.levers.apply(queue.Levers(h.now, h.line.Decide(h.outlook, nil), nil)...)
}

// missed reports whether one that waits was to start since the policy was asked. By the default nobody can help it.
func (h *starter) missed() bool {
	return !h.line.Backfills() && slices.ContainsFunc(h.view.Waiting(), func(a *ledger.App) bool {
		return a.Wait.Start > h.asked && a.Wait.Start <= h.now
	})
}

// stayed gives executors up that were to leave for one that waits, and have taken too long: another one is asked.
func (h *starter) stayed() {
	for _, w := range h.view.Waiting() {
		for _, g := range w.Given {
			a := h.view.App(g.App)
			if a == nil {
				continue
			}
			x := a.Executor(g.ID)
			if x.Gone || x.Stayed || a.Instant(x.Asked).Add(queue.Stays) > h.now {
				continue
			}
			h.due = true
			h.record(ledger.ExecutorStayed{App: a.ID, ID: x.ID, Node: x.Node, For: w.ID, After: queue.Stays})
		}
	}
}
