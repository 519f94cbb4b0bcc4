package planner

import (
	"slices"
	"time"

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
	// ask decides by c.view, c.outlook and c.said, and records by c.apply and c.record what it has decided.
	ask func(c *core, a *ledger.App)
}

// table has all deciders in the order in which they are asked. Each finds what the rows above it have changed. Rows of
// applications that stand together are asked about one application, then about the next one.
var table = []row{
	{name: "silent nodes", on: onTick, ask: once(nodes.lose)},
	{name: "leaving", on: onTick, ask: once(executors.expire)},
	{name: "machines", on: onNode, while: moved, ask: once(attached.heard)},

	{name: "hold", on: onDriver, while: batched, of: whichever, ask: each(attached.hold)},
	{name: "judge", on: onDriver | onRegister | onDeadline, while: given, of: living, ask: each(pacing.judge)},
	{name: "heard again", on: onDriver | onRegister, of: unheard, ask: each(pacing.heardAgain)},
	{name: "conclude", on: onTick, of: over, ask: each(endings.close)},
	{name: "driver gone", on: onTick, of: living, ask: each(endings.fail)},
	{name: "unheard", on: onTick, of: living, ask: each(pacing.unheard)},
	{name: "killed", on: onTick, of: running, ask: each(endings.killed)},
	{name: "pace again", on: onDriver | onTick, while: boundary, of: running, ask: each(pacing.again)},
	{name: "ready", on: onDriver, while: boundary, of: whichever, ask: each(course.ready)},
	{name: "estimated", on: onTick, of: running, ask: each(course.estimated)},
	{name: "step response", on: onTick, of: running, ask: each(responses.move)},
	{name: "late", on: onTick, of: running, ask: decides(verdict.Late)},
	{name: "expel", on: onTick, of: running, ask: each(endings.expel)},
	{name: "unstarted", on: onDriver, while: toldAll, of: running, ask: each(executors.unstarted)},
	{name: "replace", on: onDriver, of: running, ask: each(executors.replace)},
	{name: "grow", on: onDriver, of: running, ask: each(starter.grow)},

	{name: "fairness", on: onTick, every: evenEvery, ask: once(starter.look)},
	{name: "stayed", on: onTick, ask: once(starter.stayed)},
	{name: "queue", on: onAny, while: lines, ask: once(starter.serve)},
	{name: "shares", on: onTick, ask: once(starter.share)},
	{name: "seek", on: onTick, every: lookEvery, ask: once(attached.look)},
	{name: "follow", on: onTick, of: adopted, every: lookEvery, ask: each(attached.follow)},
	{name: "fewest", on: onTick, of: grows, every: lookEvery, ask: decides(fewest.Decide)},
	{name: "granted", on: onTick, of: grows, every: lookEvery, ask: each(pacing.granted)},
	{name: "wake", on: onTick, every: wakeEvery, while: sleeps, ask: once(sleeper.want)},
	{name: "sleep", on: onTick, every: emptyEvery, while: rounds, ask: once(sleeper.round)},
	{name: "behind", on: onTick, ask: once(pacing.behind)},
	{name: "vacate", on: onTick | onDrain, ask: looks(placement.Vacate)},
	{name: "tails", on: onTick, ask: once(pacing.tails)},
	{name: "reservation", on: onDriver | onRegister | onDeadline | onTick, while: reserves, ask: once(starter.reserve)},
}

// The applications that rows are about.
func whichever(*ledger.App) bool { return true }
func over(a *ledger.App) bool    { return a.Over() }
func living(a *ledger.App) bool  { return !a.Over() }
func running(a *ledger.App) bool { return a.Running() }
func adopted(a *ledger.App) bool { return a.Running() && a.Tenant.Launch.Attach != nil }
func unheard(a *ledger.App) bool { return a.Promise.Gate.Unheard }
func grows(a *ledger.App) bool   { return adopted(a) && a.Outcome.Killed == "" }

// The state in which rows have something to decide.
func moved(c *core) bool    { return attached{c}.moved() }
func batched(c *core) bool  { return c.memory.lent.ground != nil }
func given(c *core) bool    { return c.said.given != nil }
func boundary(c *core) bool { return c.said.on == onTick || len(c.said.ready) > 0 }
func toldAll(c *core) bool  { return c.said.idle }
func lines(c *core) bool    { return starter{c}.due() }
func reserves(c *core) bool { return c.said.on == onTick || c.said.newcomer != "" || c.said.redue }

// room is what decides or takes in for an engine: it has what all of them have in common, and nothing of its own.
type room interface{ ~struct{ *core } }

// once asks about all there is, each about an application.
func once[P room](decide func(P)) func(*core, *ledger.App) {
	return func(c *core, _ *ledger.App) { decide(P{c}) }
}

func each[P room](decide func(P, *ledger.App)) func(*core, *ledger.App) {
	return func(c *core, a *ledger.App) { decide(P{c}, a) }
}

// decides asks a decider that returns levers about an application, looks one about all there is.
func decides(decide func(*estimate.Outlook, *ledger.App) []ledger.Lever) func(*core, *ledger.App) {
	return func(c *core, a *ledger.App) { c.apply(decide(c.outlook, a)...) }
}

func looks(decide Decider) func(*core, *ledger.App) {
	return func(c *core, _ *ledger.App) { c.apply(decide(c.view)...) }
}

// agenda asks the rows of the table. It remembers of each when it was asked last and how often, and nothing else.
type agenda struct {
	rows  []row
	marks []mark
}

// mark is when a row was asked last, 0 for never, and how often; a row about applications once for each.
type mark struct {
	at    units.Instant
	times uint64
}

func newAgenda() agenda { return agenda{table, make([]mark, len(table))} }

// times is how often a row was asked.
func (g *agenda) times(name string) uint64 {
	i := slices.IndexFunc(g.rows, func(r row) bool { return r.name == name })
	return g.marks[i].times
}

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
	g.marks[i].times++
	g.rows[i].ask(c, a)
}

// due reports whether a row is to be asked on the occasion at hand, and notes that it is.
func (g *agenda) due(c *core, i int) bool {
	r, m := &g.rows[i], &g.marks[i]
	if r.on&c.said.on == 0 || r.while != nil && !r.while(c) || r.every > 0 && m.at > 0 && c.now < m.at.Add(r.every) {
		return false
	}
	m.at = c.now
	return true
}
