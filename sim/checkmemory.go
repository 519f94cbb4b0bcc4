package sim

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// What must be true of memory, looked at by what is in the plant and in the ledger: no node's engine is asked.

// rightAgain is how long the total of a node may be wrong after what has changed it: four
// ticks, two seconds at least.
const rightAgain = 2 * time.Second

// memory looks at what a node's executors may take of its memory.
func (c *check) memory(a *agent) {
	now, n := c.w.clock.Now(), units.Bytes(0)
	sum, wanted := a.starting, units.Bytes(0)
	seen, lends, resident := a.seen.plan(a.follows.store), false, units.Bytes(0)
	moves, quiet := false, a.starting == 0 && !a.m.Frozen && !a.ills.garbled && !a.m.Deaf
	for _, p := range a.m.Processes() {
		if p.Exited {
			continue
		}
		q := p.Pools()
		resident += q.Resident()
		if a.seen.lent[p.Key] {
			lends = true
			continue // Others may be promised that, and get it when they come.
		}
		sum += q.Promised()
		wanted += q.Static + q.Wants()
		n++
		quiet = quiet && p.Registered && q.Size() <= q.Wants()
		moves = moves || q.Moves && q.Uses.OffHeap == 0 && !p.Driver.App.Mode.Unmanaged()
		if q.Limit > 0 && q.Static+max(q.Size(), q.Target) > q.Limit {
			c.w.fail("executor %s on %s may have %v of a limit of %v", p.Key, a.m.Name, q.Static+max(q.Size(), q.Target),
				q.Limit)
		}
	}
	for _, l := range a.lodgers {
		if !l.exited {
			sum += l.memory
		}
	}
	before := a.seen.promised
	a.seen.promised = sum
	if a.m.Frozen || a.ills.garbled || sum <= a.cfg.Memory {
		a.seen.beyond = now
	}
	if seen == nil {
		return
	}
	if lends {
		c.lent(a, resident)
		moves = false
	}
	// Where an offer shrank below what all are to have in any case, nothing else can be.
	fits := seen.claimed <= a.cfg.Memory
	if sum > a.cfg.Memory && sum > before && fits {
		c.w.fail("node %s has promised %v of %v", a.m.Name, sum, a.cfg.Memory)
	}
	if quiet = quiet && seen.epoch == a.follows.epoch && c.all(a, seen); !quiet || !fits {
		a.seen.changed = now
	}
	// What is in force less what is owed of it is never more than what is wanted.
	if all := seen.epoch == a.follows.epoch && c.all(a, seen); !all || !fits || wanted+a.starting <= a.cfg.Memory {
		a.seen.beyond = now
	} else if now.Sub(a.seen.beyond) > max(rightAgain, 4*a.cfg.Interval) {
		c.w.fail("node %s has %v, and its executors are to have %v", a.m.Name, a.cfg.Memory, wanted+a.starting)
	}
	if slack := (n + 1) * units.MiB; moves && now.Sub(a.seen.changed) > max(rightAgain, 4*a.cfg.Interval) &&
		wanted < a.cfg.Memory-slack {
		c.w.fail("node %s has %v, and only %v of it is anybody's %v after the last change", a.m.Name, a.cfg.Memory, wanted,
			now.Sub(a.seen.changed))
	}
}

// lent looks at what executors use of a node that lends memory: there is as much.
func (c *check) lent(a *agent, resident units.Bytes) {
	if resident > a.cfg.Memory && !a.ills.garbled && a.cfg.Memory >= a.full {
		c.w.fail("executors on node %s use %v of %v", a.m.Name, resident, a.cfg.Memory)
	}
}

// all reports whether the executors that run on the node are those of its Plan, but for ones
// that have died.
func (c *check) all(a *agent, seen *seenPlan) bool {
	for _, p := range a.m.Processes() {
		if !p.Exited && !slices.Contains(seen.executors, p.Key) {
			return false
		}
	}
	return !slices.ContainsFunc(seen.executors, func(key node.Key) bool {
		return a.m.Find(key) == nil && !a.seen.died[key]
	})
}

// wish looks at a wish for an executor's memory before it is put: a shrink is met before
// anything grows.
func (c *check) wish(a *agent, p *plant.Process, wanted units.Bytes) {
	if q := p.Pools(); !p.Exited && wanted > q.Wants() && q.Size() > q.Wants() {
		c.w.fail("executor %s on %s is to have %v, and owes %v of the shrink before", p.Key, a.m.Name, wanted,
			q.Size()-q.Wants())
	}
}

// unheard reports whether a node cannot be heard that v counts on: what comes free there is not
// known.
func (c *check) unheard(v ledger.View) bool {
	return c.w.net.Out || slices.ContainsFunc(c.w.agents, func(a *agent) bool {
		n := v.Node(a.m.Name)
		return a.link.Cut && (!a.ills.gone || n != nil && n.Here())
	})
}

// promises looks at what each planner's ledger promises of the nodes' memory after a step. What
// lives on a node that the ledger does not have there is counted, too: a node may take a while
// until it has stopped that, or has been heard.
func (c *check) promises(of *control) {
	v := of.engine.View()
	for _, n := range v.Nodes() {
		a := c.w.byName[n.Node]
		if a == nil || !n.Here() || a.engine == nil || a.ills.gone {
			continue
		}
		claimed, strange := v.Claimed(n), units.Bytes(0)
		for _, p := range a.m.Processes() {
			if app := v.App(p.Key.App); !p.Exited && (app == nil || !holds(app.Executor(p.Key.ID), n.Node)) {
				strange += p.Claim()
			}
		}
		clear := strange > 0 && claimed+strange > a.cfg.Memory && claimed <= a.cfg.Memory && n.Live() && !a.link.Cut &&
			!c.w.net.Out && n.Room() == a.cfg.Memory &&
			a.follows.store == of.name && a.follows.epoch == n.Epoch
		switch {
		case !clear:
			a.seen.doubled = 0
		case a.seen.doubled == 0:
			a.seen.doubled = c.w.clock.Now()
		case c.w.clock.Now().Sub(a.seen.doubled) > startsWithin:
			c.w.fail("%v of %v of node %s are promised beside %v that live there", claimed, a.cfg.Memory, n.Node, strange)
		}
	}
}

// holds reports whether the ledger has the executor on that node.
func holds(x *ledger.Executor, node string) bool { return x != nil && !x.Gone && x.Node == node }
