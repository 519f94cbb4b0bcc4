package sim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// What must be true of memory and of the queue, looked at by what is in the plant and in the
// ledger: neither a node's engine nor the queue's policy is asked.

const (
	// rightAgain is how long the total of a node may be wrong after what has changed it: four
	// ticks, two seconds at least.
	rightAgain = 2 * time.Second
	// startsWithin is how long the head of the queue may wait once nobody runs that was there
	// when it came to the head, or comes before it.
	startsWithin = 5 * time.Second
	// patience is after how long an application without a deadline counts as due.
	patience = time.Hour
)

// memory looks at what a node's executors may take of its memory.
func (c *check) memory(a *agent) {
	now, n := c.w.clock.Now(), units.Bytes(0)
	sum, wanted := a.starting, units.Bytes(0)
	moves, quiet := false, a.starting == 0 && !a.m.Frozen && !a.ills.garbled && !a.m.Deaf
	for _, p := range a.m.Processes() {
		if p.Exited {
			continue
		}
		q := p.Pools()
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
	before := a.seen.promised
	a.seen.promised = sum
	if a.m.Frozen || a.ills.garbled || sum <= a.cfg.Memory {
		a.seen.beyond = now
	}
	seen := a.seen.plan(a.follows.store)
	if seen == nil {
		return
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

// front is the head of the queue as the check has seen it.
type front struct {
	// head is who comes first, since when, and rooms the nodes then; passed is since when
	// nobody runs that was there before or comes before it in the line, 0 while somebody does;
	// waited is when one was seen last that started until then: it was to end earlier.
	head                  api.AppID
	since, passed, waited units.Instant
	rooms                 map[string]units.Bytes
}

// queue looks at who waits after each step of the planner, and who has started in it.
func (c *check) queue() {
	defer func() { c.starts = c.starts[:0] }()
	v := c.w.control.engine.View()
	if len(v.Waiting()) == 0 {
		c.front, c.latest = front{}, nil
		return
	}
	now := v.Now()
	if c.latest == nil {
		c.latest = make(map[api.AppID]units.Instant)
	}
	// The planner goes by the latest starts that it found before: that of a newcomer is not known yet.
	defer func() {
		for _, a := range v.Waiting() {
			c.latest[a.ID] = a.Wait.Latest
		}
	}()
	inLine := func(a, b *ledger.App) int { return inLine(now, c.latest, a, b) }
	head := slices.MinFunc(v.Waiting(), inLine)
	claim := head.Tenant.Claim()
	rooms, older, filled := map[string]units.Bytes{}, false, false
	lost := false // Memory is kept for executors that are to be replaced.
	for a := range v.Running() {
		lost = lost || len(a.Tenant.Pending) > 0
	}
	since := c.front.since
	for _, n := range v.Nodes() {
		if !n.Live() || n.Room() < claim {
			continue
		}
		rooms[n.Node] = n.Room()
		took := units.Bytes(0) // By those that have started in this step and come after it.
		for _, t := range v.Allocations(n.Node) {
			switch began := t.App.Instant(t.App.Tenant.Began); {
			case slices.Contains(c.starts, t.App.ID) && inLine(head, t.App) < 0:
				took += units.Bytes(len(t.Executors)) * t.App.Tenant.Claim()
			case began <= since || began > now || inLine(t.App, head) < 0:
				older = true // It began in the future where the planner's clock was set back since.
			case began <= c.front.passed:
				filled = true
			}
		}
		if took > 0 && !lost && v.Free(n)+took >= claim {
			c.w.fail("%v of node %s went to who comes after %s, which needs %v and would have had it", took, n.Node,
				head.ID, claim)
		}
	}
	if c.front.head != head.ID || !maps.Equal(c.front.rooms, rooms) {
		c.front = front{head: head.ID, since: now, rooms: rooms}
		return
	}
	switch {
	case older || lost || len(rooms) == 0 || c.unheard(v):
		c.front.passed = 0
	case c.front.passed == 0:
		c.front.passed = now
	case filled:
		c.front.waited = now
	case now.Sub(max(c.front.passed, c.front.waited)) > startsWithin:
		c.w.fail("%s is first in the queue, needs %v, and waits for those behind it that have started since it is first",
			head.ID, claim)
	}
}

// recorded notes who has started.
func (c *check) recorded(fact ledger.Fact) {
	switch f := fact.(type) {
	case ledger.Registered:
		if f.Seats != nil {
			c.starts = append(c.starts, f.ID)
		}
	case ledger.Started:
		c.starts = append(c.starts, f.App)
	}
}

// inLine is the order of the queue: earliest deadline first, without one as if due after
// patience, with one as if due at its latest start once that is no further away, then arrival.
// latest has the latest starts of those that wait, and of those that did.
func inLine(now units.Instant, latest map[api.AppID]units.Instant, a, b *ledger.App) int {
	came := func(a *ledger.App) units.Instant {
		if a.Wait != nil {
			return a.Wait.Since
		}
		return a.Instant(a.Tenant.Began - a.Tenant.Waited)
	}
	due := func(a *ledger.App) units.Instant {
		start := latest[a.ID]
		switch {
		case a.Promise.Deadline <= 0:
			return came(a).Add(patience)
		case start > 0 && start <= now.Add(patience):
			return start
		}
		return a.Instant(a.Promise.Deadline)
	}
	return cmp.Or(cmp.Compare(due(a), due(b)), cmp.Compare(came(a), came(b)), cmp.Compare(a.ID, b.ID))
}
