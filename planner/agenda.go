package planner

import (
	"time"

	"github.com/sparkpacer/pacer/deciders/behind"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/fewest"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// row says when a decider is asked, and how. A capability that decides adds a row to the table, and no other file of
// this package need know of it.
type row struct {
	name string
	// on are the occasions on which the decider is asked.
	on occasion
	// of tells the applications about which it is asked, one after the other; nil asks it once, about all there is. A
	// driver's event, and a request about an application, ask it about that application alone.
	of func(*ledger.App) bool
	// every is for how long it is not asked again, 0 for no time at all; while reports whether there is anything to
	// decide, nil for always.
	every time.Duration
	while func(*core) bool
	// reads are the parts of the ledger that it decides by: it is not asked again before one of them has changed, every
	// has passed, or sooner says that a moment has come since it was asked last. Without reads and every it is asked each
	// time.
	reads  ledger.Part
	sooner func(c *core, since units.Instant) bool
	// ask decides by c.view, c.outlook and c.said, and records by c.apply and c.record what it has decided.
	ask func(c *core, a *ledger.App)
}

// table has all deciders in the order in which they are asked. Each finds what the rows above it have changed. Rows of
// applications that stand together are asked about one application, then about the next one.
var table = []row{
	{name: "silent nodes", on: onTick, ask: once(nodes.lose)},
	{name: "leaving", on: onTick, ask: once(executors.expire)},
	{name: "machines", on: onNode, while: state(attached.moved), ask: once(attached.heard)},

	{name: "hold", on: onDriver, while: state(attached.batched), of: whichever, ask: each(attached.hold)},
	{name: "judge", on: onDriver | onRegister | onDeadline, while: state(pacing.given), of: living,
		ask: each(pacing.judge)},
	{name: "heard again", on: onDriver | onRegister, of: unheard, ask: each(pacing.heardAgain)},
	{name: "conclude", on: onTick, of: over, ask: each(endings.close)},
	{name: "driver gone", on: onTick, of: living, ask: each(endings.fail)},
	{name: "unheard", on: onTick, of: living, ask: each(pacing.unheard)},
	{name: "killed", on: onTick, of: running, ask: each(endings.killed)},
	{name: "pace again", on: onDriver | onTick, while: state(pacing.boundary), of: running, ask: each(pacing.again)},
	{name: "ready", on: onDriver, while: state(pacing.boundary), of: whichever, ask: each(course.ready)},
	{name: "estimated", on: onTick, of: running, ask: each(course.estimated)},
	{name: "step response", on: onTick, of: running, ask: each(responses.move)},
	{name: "late", on: onTick, of: running, ask: decides(verdict.Late)},
	{name: "expel", on: onTick, of: running, ask: each(endings.expel)},
	{name: "unstarted", on: onDriver, while: state(executors.toldAll), of: running, ask: each(executors.unstarted)},
	{name: "replace", on: onDriver, of: running, ask: each(executors.replace)},
	{name: "grow", on: onDriver, of: running, ask: each(starter.grow)},

	{name: "fairness", on: onTick, every: evenEvery, ask: once(starter.look)},
	{name: "stayed", on: onTick, ask: once(starter.stayed)},
	{name: "moved", on: onAny, while: state(starter.moves), ask: once(starter.serve)},
	{name: "queue", on: onTick, while: state(starter.waits), reads: lineReads, every: askEvery,
		sooner: since(starter.missed), ask: once(starter.serve)},
	{name: "shares", on: onTick, ask: once(starter.share)},
	{name: "seek", on: onTick, every: lookEvery, ask: once(attached.look)},
	{name: "follow", on: onTick, of: adopted, every: lookEvery, ask: each(attached.follow)},
	{name: "fewest", on: onTick, of: grows, every: lookEvery, ask: decides(fewest.Decide)},
	{name: "granted", on: onTick, of: grows, every: lookEvery, ask: each(pacing.granted)},
	{name: "wake", on: onTick, every: wakeEvery, while: state(sleeper.sleeps), ask: once(sleeper.want)},
	{name: "sleep", on: onTick, every: emptyEvery, while: state(sleeper.rounds), ask: once(sleeper.round)},
	{name: "behind", on: onTick, every: behind.Every, ask: once(pacing.behind)},
	{name: "vacate", on: onTick | onDrain, ask: looks(placement.Vacate)},
	{name: "tails", on: onTick, ask: once(pacing.tails)},
	{name: "reservation", on: onDriver | onRegister | onDeadline | onTick, while: state(starter.renews),
		ask: once(starter.reserve)},
}

// The applications that rows are about.
func whichever(*ledger.App) bool { return true }
func over(a *ledger.App) bool    { return a.Over() }
func living(a *ledger.App) bool  { return !a.Over() }
func running(a *ledger.App) bool { return a.Running() }
func adopted(a *ledger.App) bool { return a.Running() && a.Tenant.Launch.Attach != nil }
func unheard(a *ledger.App) bool { return a.Promise.Gate.Unheard }
func grows(a *ledger.App) bool   { return adopted(a) && a.Outcome.Killed == "" }

// room is what decides or takes in for an engine: it has what all of them have in common, and nothing of its own.
type room interface{ ~struct{ *core } }

// once asks about all there is, each about an application.
func once[P room](decide func(P)) func(*core, *ledger.App) {
	return func(c *core, _ *ledger.App) { decide(P{c}) }
}

func each[P room](decide func(P, *ledger.App)) func(*core, *ledger.App) {
	return func(c *core, a *ledger.App) { decide(P{c}, a) }
}

// state is whether there is anything to decide, since whether a moment has come since another one.
func state[P room](is func(P) bool) func(*core) bool { return func(c *core) bool { return is(P{c}) } }

func since[P room](is func(P, units.Instant) bool) func(*core, units.Instant) bool {
	return func(c *core, at units.Instant) bool { return is(P{c}, at) }
}

// decides asks a decider that returns levers about an application, looks one about all there is.
func decides(decide func(*estimate.Outlook, *ledger.App) []ledger.Lever) func(*core, *ledger.App) {
	return func(c *core, a *ledger.App) { c.apply(decide(c.outlook, a)...) }
}

func looks(decide Decider) func(*core, *ledger.App) {
	return func(c *core, _ *ledger.App) { c.apply(decide(c.view)...) }
}

// agenda asks the rows of the table. It remembers of each the mark of its last question, and nothing else.
type agenda struct{ rows []row }

// ask asks the rows of an occasion; speaks is the application whose it is, nil for none.
func (g *agenda) ask(c *core, on occasion, speaks *ledger.App) {
	c.said.on = on
	for i := 0; i < len(g.rows); {
		if g.rows[i].of == nil {
			if g.due(c, i) {
				g.put(c, i, nil)
			}
			i++
			continue
		}
		var due []int
		for ; i < len(g.rows) && g.rows[i].of != nil; i++ {
			if g.due(c, i) {
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

// put puts the question to a row.
func (g *agenda) put(c *core, i int, a *ledger.App) {
	markOf(c, g.rows[i].name).times++
	g.rows[i].ask(c, a)
}

// due reports whether a row is to be asked on the occasion at hand, and marks that it is.
func (g *agenda) due(c *core, i int) bool {
	r := &g.rows[i]
	if r.on&c.said.on == 0 || r.while != nil && !r.while(c) {
		return false
	}
	m := markOf(c, r.name)
	version := c.view.Version(r.reads)
	waits := r.every > 0 && m.at > 0 && c.now < m.at.Add(r.every) && version == m.version
	if waits && (r.sooner == nil || !r.sooner(c, m.at)) {
		return false
	}
	m.at, m.version = c.now, version
	return true
}
