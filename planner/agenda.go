package planner

import (
	"cmp"
	"time"

	"github.com/sparkpacer/pacer/deciders/behind"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/fewest"
	"github.com/sparkpacer/pacer/deciders/lending"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/response"
	"github.com/sparkpacer/pacer/deciders/session"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// row says when a decider is asked, and how. A capability that decides adds a row to the table, and no other file of
// this package need know of it.
type row struct {
	name string
	// as is the row whose question this one asks on another occasion, "" for none: they have one mark.
	as string
	// on are the occasions on which the decider is asked.
	on occasion
	// of tells the applications about which it is asked, one after the other; nil asks it once, about all there is. A
	// driver's event, and a request about an application, ask it about that application alone.
	of func(*ledger.App) bool
	// while reports whether there is anything to decide, nil for always.
	while func(*core) bool
	// A row that says none of what follows is asked on each of its occasions. Another one has a mark, one for each
	// application if it is about applications, and is asked when it never was, or when one of these has come since:
	// every has passed; a part of reads has changed, but not before rest has passed; sooner says that a moment has come.
	// A row that sets says itself when it is to be asked again (askAt).
	every, rest time.Duration
	reads       ledger.Part
	sooner      func(c *core, a *ledger.App, last mark) bool
	sets        bool
	// spares are parts of reads that are nothing to an application, nil for none.
	spares func(*ledger.App) ledger.Part
	// ask decides by c.view, c.outlook and c.said, and records by c.apply and c.record what it has decided.
	ask func(c *core, a *ledger.App)
}

// table has all deciders in the order in which they are asked. Each finds what the rows above it have changed. Rows of
// applications that stand together are asked about one application, then about the next one.
var table = []row{
	{name: "silent nodes", on: onTick, sets: true, ask: once(nodes.lose)},
	{name: "leaving", on: onTick, ask: once(executors.expire)},
	{name: "machines", on: onNode, while: state(attached.moved), ask: once(attached.heard)},

	{name: "hold", on: onDriver, while: state(attached.batched), of: whichever, ask: each(attached.hold)},
	{name: "judge", on: onDriver | onRegister | onDeadline, while: state(pacing.given), of: living,
		ask: each(pacing.judge)},
	{name: "heard again", on: onDriver | onRegister, of: unheard, ask: each(pacing.heardAgain)},
	{name: "driver to come", on: onTick, of: awaits, ask: each(components.heard)},
	{name: "driver lost", on: onTick, of: there, ask: each(components.follow)},
	{name: "components lost", on: onTick, of: there, ask: reads(component.FollowGroup)},
	{name: "part over", on: onDriver | onTick, of: session.In, ask: each(parts.close)},
	{name: "conclude", on: onTick, of: over, ask: each(endings.close)},
	{name: "driver gone", on: onTick, of: living, ask: each(endings.fail)},
	{name: "unheard", on: onTick, of: living, ask: each(pacing.unheard)},
	{name: "killed", on: onTick, of: there, ask: each(endings.killed)},
	{name: "pace again", on: onDriver | onTick, while: state(pacing.boundary), of: running, every: verdict.LookEvery,
		ask: each(pacing.again)},
	{name: "ready", on: onDriver, while: state(pacing.boundary), of: whichever, ask: each(course.ready)},
	{name: "estimated", on: onTick, of: running, ask: each(course.estimated)},
	{name: "step response", on: onTick, of: response.UnderWay, ask: reads(response.Move)},
	{name: "late", on: onTick, of: running, ask: decides(verdict.Late)},
	{name: "expel", on: onTick, of: running, ask: each(endings.expel)},
	{name: "unstarted", on: onDriver, while: state(executors.toldAll), of: running, ask: each(executors.unstarted)},
	{name: "replace", on: onDriver, of: running, ask: each(executors.replace)},
	{name: "shares of news", as: "shares", on: onDriver, while: state(starter.divides), reads: news | ledger.PartApps,
		rest: shareEvery, ask: once(starter.share)},
	{name: "grow", on: onDriver, of: seated, reads: ledger.PartGrowth | ledger.PartFreed, spares: uncrowded,
		sooner: fewer, ask: each(starter.grow)},

	{name: "fairness", on: onTick, every: evenEvery, ask: once(starter.look)},
	{name: "stayed", on: onTick, ask: once(starter.stayed)},
	{name: "moved", as: "queue", on: onAny, while: state(starter.moves), ask: once(starter.serve)},
	{name: "queue", on: onTick, while: state(starter.waits), reads: lineReads, every: askEvery,
		sooner: missed, ask: once(starter.serve)},
	{name: "elastic", on: onTick, every: shareEvery, ask: once(starter.elastic)},
	{name: "shares", on: onDriver | onTick, while: state(starter.divides), reads: ledger.PartWaiting | ledger.PartRules,
		every: askEvery, ask: once(starter.share)},
	{name: "seek", on: onTick, every: lookEvery, ask: once(attached.look)},
	{name: "follow", on: onTick, of: adopted, every: lookEvery, ask: each(attached.follow)},
	{name: "fewest", on: onTick, of: grows, every: lookEvery, ask: decides(fewest.Decide)},
	{name: "granted", on: onTick, of: grows, every: lookEvery, ask: each(pacing.granted)},
	{name: "wake", on: onTick, every: wakeEvery, while: state(sleeper.sleeps), ask: once(sleeper.want)},
	{name: "sleep", on: onTick, every: emptyEvery, while: state(sleeper.rounds), ask: once(sleeper.round)},
	{name: "behind", on: onTick, every: behind.Every, ask: once(pacing.behind)},
	{name: "vacate", on: onTick | onDrain, ask: looks(placement.Vacate)},
	{name: "lend", on: onAny, while: state(starter.lends), ask: looks(lending.Back)},
	{name: "lent places", on: onTick, while: state(starter.lends), ask: looks(lending.Places)},
	{name: "tails", on: onTick, ask: once(pacing.tails)},
	{name: "due", on: onDriver | onRegister | onDeadline | onTick, while: state(starter.renews),
		ask: once(starter.overdue)},
	{name: "reservation", on: onDriver | onRegister | onDeadline | onTick, while: state(starter.renews),
		reads: reserveReads, every: askEvery, ask: once(starter.reserve)},
	{name: "forget", on: onTick, every: forgetEvery, ask: func(c *core, _ *ledger.App) { forget(c) }},
}

// The applications that rows are about.
func whichever(*ledger.App) bool { return true }
func over(a *ledger.App) bool    { return a.Over() }
func living(a *ledger.App) bool  { return !a.Over() }
func running(a *ledger.App) bool { return a.Running() }
func adopted(a *ledger.App) bool { return a.Running() && a.Tenant.Launch.Attach != nil }
func unheard(a *ledger.App) bool { return a.Promise.Gate.Unheard }
func awaits(a *ledger.App) bool  { return !a.Over() && (component.Awaits(a) || component.Lone(a)) }
func there(a *ledger.App) bool   { return a.Running() || len(component.Lodged(a)) > 0 }
func grows(a *ledger.App) bool   { return adopted(a) && a.Outcome.Killed == "" }
func seated(a *ledger.App) bool {
	return a.Running() && a.Tenant.Launch.Attach == nil && !a.Tenant.GaveUp && a.Outcome.Killed == ""
}

// room is what decides or takes in for an engine: it has what all of them have in common, and nothing of its own.
type room interface{ ~struct{ *core } }

// once asks about all there is, each about an application.
func once[P room](decide func(P)) func(*core, *ledger.App) {
	return func(c *core, _ *ledger.App) { decide(P{c}) }
}

func each[P room](decide func(P, *ledger.App)) func(*core, *ledger.App) {
	return func(c *core, a *ledger.App) { decide(P{c}, a) }
}

// state is whether there is anything to decide.
func state[P room](is func(P) bool) func(*core) bool { return func(c *core) bool { return is(P{c}) } }

// decides asks a decider that returns levers about an application, looks one about all there is.
func decides(decide func(*estimate.Outlook, *ledger.App) []ledger.Lever) func(*core, *ledger.App) {
	return func(c *core, a *ledger.App) { c.apply(decide(c.outlook, a)...) }
}

func reads(decide func(ledger.View, *ledger.App) []ledger.Lever) func(*core, *ledger.App) {
	return func(c *core, a *ledger.App) { c.apply(decide(c.view, a)...) }
}

func looks(decide Decider) func(*core, *ledger.App) {
	return func(c *core, _ *ledger.App) { c.apply(decide(c.view)...) }
}

// agenda asks the rows of the table. It remembers marks, and when time has passed last, 0 for never.
type agenda struct {
	rows   []row
	ticked units.Instant
	// always reports of a row that it is asked on each of its occasions, nil for none: an oracle for tests.
	always func(*row) bool
}

// maxTick is the most time that one tick counts for: a planner that was stopped
// for longer has heard nobody, which says nothing about them.
const maxTick = time.Second

// passed is how much time has passed since it was asked last, in which others could be heard. A deaf planner waits for
// nobody.
func (g *agenda) passed(now units.Instant, deaf bool) time.Duration {
	dt := min(now.Sub(g.ticked), maxTick)
	if g.ticked == 0 || deaf {
		dt = 0
	}
	g.ticked = now
	return dt
}

// ask asks the rows of an occasion; speaks is the application whose it is, nil for none.
func (g *agenda) ask(c *core, on occasion, speaks *ledger.App) {
	c.said.on = on
	for i := 0; i < len(g.rows); {
		if g.rows[i].of == nil {
			if g.rows[i].now(c) {
				g.put(c, i, nil)
			}
			i++
			continue
		}
		var due []int
		for ; i < len(g.rows) && g.rows[i].of != nil; i++ {
			if g.rows[i].now(c) {
				due = append(due, i)
			}
		}
		switch {
		case len(due) == 0:
		case speaks != nil:
			g.about(c, due, speaks)
		case on == onTick:
			for _, a := range c.view.Apps() {
				g.about(c, due, a)
			}
		}
	}
}

// about asks rows about an application.
func (g *agenda) about(c *core, rows []int, a *ledger.App) {
	for _, i := range rows {
		if g.rows[i].of(a) {
			g.put(c, i, a)
		}
	}
}

// now reports whether the occasion at hand is one of the row's, and there is anything to decide.
func (r *row) now(c *core) bool { return r.on&c.said.on != 0 && (r.while == nil || r.while(c)) }

// put puts the question to a row, if it is due.
func (g *agenda) put(c *core, i int, a *ledger.App) {
	r, of := &g.rows[i], matter{}
	if a != nil {
		of.app = a.ID
	}
	marked := r.as != "" || r.every > 0 || r.reads != 0 || r.sooner != nil || r.sets
	if !marked {
		markOf(c, matter{row: r.name}).times++
		r.ask(c, a)
		return
	}
	of.row = cmp.Or(r.as, r.name)
	m := markOf(c, of)
	if m.at > 0 && !g.due(c, r, a, *m) {
		return
	}
	was := *m
	c.said.last, c.said.later, c.said.again = was, false, 0
	m.at, m.version = c.now, c.view.Version(ledger.PartAll)
	markOf(c, matter{row: r.name}).times++
	r.ask(c, a)
	if m.again = c.said.again; c.said.later {
		m.at, m.version = was.at, was.version
	}
}

// due reports whether a row that was asked is to be asked again.
func (g *agenda) due(c *core, r *row, a *ledger.App, last mark) bool {
	reads := r.reads
	if r.spares != nil {
		reads &^= r.spares(a)
	}
	switch {
	case g.always != nil && g.always(r):
		return true
	case r.every+r.rest == 0 && r.reads == 0 && !r.sets && r.sooner == nil: // It has the mark of another one.
		return true
	case r.every > 0 && c.now >= last.at.Add(r.every), r.sets && c.now >= last.again:
		return true
	case c.view.Version(reads) > last.version:
		return c.now >= last.at.Add(r.rest)
	}
	return r.sooner != nil && r.sooner(c, a, last)
}
