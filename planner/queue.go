package planner

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// starter sees to who starts and who waits.
type starter struct{ *core }

// enter takes an application in that comes by somebody: it starts, has a place, or is turned
// down.
func (h starter) enter(by api.Principal, d admission.Admission, q api.RegisterRequest) (*ledger.App, error) {
	comes := d.App()
	var choices []queue.Choice
	i := -1
	decide := func() {
		choices = h.line.Decide(h.outlook, &queue.Newcomer{App: comes, Profile: d.Profile, NoWait: q.NoWait})
		i = slices.IndexFunc(choices, func(c queue.Choice) bool { return c.App == comes })
	}
	decide()
	// An application that its user's bounds refuse wakes no node.
	if i >= 0 && admission.Bounded(h.view, by, d.Tenant, 1, false) == nil && (sleeper{h.core}).wanted(choices[i]) {
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
	h.apply(queue.Levers(h.now, choices, &ledger.Registered{ID: d.ID, Name: d.Name, Serial: d.Serial,
		Tenant: d.Tenant, Promise: d.Promise, Matched: d.Profile != nil})...)
	a := h.view.App(d.ID)
	if a == nil {
		return nil, api.Errorf(api.KindTransient, "application %s could not be taken in", d.ID)
	}
	if h.said.newcomer = a.ID; mine.What == queue.Start {
		h.said.driver, h.said.group = mine.Seating.Driver, mine.Seating.Group
	}
	return a, nil
}

// refuse keeps an application that is turned down in the history, so that `pacer apps`
// shows it.
func (h starter) refuse(d admission.Admission) {
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

const (
	// lineReads is what the order of applications that wait and their room depend on, news what of that is nodes' memory.
	lineReads, news = news | ledger.PartTurns | ledger.PartRules, ledger.PartGrowth | ledger.PartFreed
	// reserveReads is what reservations depend on.
	reserveReads = ledger.PartApps | ledger.PartOffer | ledger.PartDeadlines | ledger.PartReserved | ledger.PartRules

	// askEvery is after how long policies are asked though nothing has happened: what is expected passes.
	askEvery = time.Minute
	// shareEvery is how long shares hold though memory has come or gone, or an application has.
	shareEvery = time.Second
)

// lends reports whether memory is lent, or was.
func (h starter) lends() bool {
	return h.places.Lends || h.said.on == onTick && len(ledger.Lenders(nil, h.view)) > 0
}

// waits reports whether the policy may be asked: an application waits, and the planner is not busy.
func (h starter) waits() bool { return len(h.view.Waiting()) > 0 && !h.said.busy }

// moves reports whether the policy is to be asked once for all deadlines of applications that wait which were given
// since.
func (h starter) moves() bool {
	return len(h.moved) > 0 && !h.said.busy && (!h.holds || h.said.on&(onTick|onSettle) != 0)
}

// serve asks the policy about all that wait, and has those answered who asked for it.
func (h starter) serve() {
	h.apply(queue.Levers(h.now, h.line.Decide(h.outlook, nil), nil)...)
	h.settle()
}

// missed reports whether an application that waits was to start since the queue was asked last. By the default nobody
// can help it.
func missed(c *core, _ *ledger.App, last mark) bool {
	return !c.line.Backfills() && slices.ContainsFunc(c.view.Waiting(), func(a *ledger.App) bool {
		start := waiting.Of(a).Start
		return start > last.at && start <= c.now
	})
}

// settle tells what came of deadlines that were given to applications that wait.
func (h starter) settle() {
	for _, given := range h.moved {
		if a := h.view.App(given.App); a != nil {
			h.apply(ledger.Judged{App: a.ID, Judgement: a.Promise.Judgement, After: given})
		}
	}
	h.replies = append(h.replies, h.settled...)
	h.moved, h.settled = nil, nil
}

// renews reports whether reservations may be decided on again: an application has come, has another deadline, or time
// has passed.
func (h starter) renews() bool { return h.said.on == onTick || h.said.newcomer != "" || h.said.redue }

// overdue ends the reservations of applications that are due and run on.
func (h starter) overdue() {
	p := h.cfg.reserves(h.view)
	for _, f := range p.Over(h.view) {
		h.reservations([]ledger.Lever{f})
	}
}

// reserve decides on reservations. Nodes give less than they gave where one does since it did so last.
func (h starter) reserve() {
	less := h.said.last.at > 0 && h.view.Version(ledger.PartLess) > h.said.last.version
	h.reservations(h.cfg.reserves(h.view).Decide(h.outlook, less))
}

// reservations records levers, and what users are told of them, but for that of the application that comes: its reply
// says it.
func (h starter) reservations(levers []ledger.Lever) {
	h.apply(levers...)
	for _, lever := range levers {
		if f, ok := lever.(reservation.Reserved); ok && f.App != h.said.newcomer && f.Why != "" {
			h.say(f.App, f.Why)
		}
	}
}

// stayed gives executors up that were to leave for one that waits, and have taken too long: another one is asked.
func (h starter) stayed() {
	given := waiting.Given(h.view)
	for _, w := range h.view.Waiting() {
		for _, g := range given[w.ID] {
			x := g.Executor()
			if x.Gone || g.Stayed || g.From.Instant(g.At).Add(queue.Stays) > h.now {
				continue
			}
			h.record(waiting.Stayed{OfApp: ledger.OfApp{App: g.From.ID}, ID: x.ID, Node: x.Node, For: w.ID,
				After: queue.Stays})
		}
	}
}

// divides reports whether the rule of the queue bounds how far applications may grow.
func (h starter) divides() bool { return !h.line.Backfills() }

// share has the rule of the queue asked how far applications may grow.
func (h starter) share() { h.apply(h.line.Divide(h.outlook)...) }

// elastic has elastic components of descriptions come and go.
func (h starter) elastic() { h.apply(h.line.Elastic(h.outlook)...) }

// look adds how even applications are served to what is known of that.
func (h starter) look() { h.memory.even.look(h.view, h.places) }
