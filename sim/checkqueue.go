package sim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/deciders/lending"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/units"
)

// What must be true of the queue, looked at by what is in the ledger: the queue's policy and the rules of
// package assign are not asked.

const (
	// startsWithin is how long the head of the queue may wait once nobody runs that was there
	// when it came to the head, or comes before it.
	startsWithin = 5 * time.Second
	// patience is after how long an application without a deadline counts as due.
	patience = time.Hour
	// calm is for how long one that has given an executor back gets none.
	calm = 2 * time.Minute
)

// front is the head of the queue as the check has seen it.
type front struct {
	// head is who comes first, since when, and rooms the nodes then; passed is since when
	// nobody runs that was there before or comes before it in the line, 0 while somebody does;
	// waited is when one was seen last that started until then: it was to end earlier.
	head                  api.AppID
	since, passed, waited units.Instant
	rooms                 map[string]units.Bytes
}

// line is the order of those that wait by the policy in force. What the sizes of applications are is
// estimated: of an order by size, and among those of a priority where these count, the planner's places say who
// is first, and the check cannot tell who comes before whom.
type line struct {
	now    units.Instant
	latest map[api.AppID]units.Instant
	policy api.QueuePolicy
}

// line is that of v.
func (c *check) line(v ledger.View) line {
	return line{v.Now(), c.latest, c.w.cfg.Planner.PolicyIn(v)}
}

// before reports whether a comes before b, for certain.
func (l line) before(a, b *ledger.App) bool {
	switch prior := l.policy.Rule == assign.FlexiblePreemptive; {
	case prior && (a.Tenant.Class == api.ClassInteractive) != (b.Tenant.Class == api.ClassInteractive):
		return a.Tenant.Class == api.ClassInteractive
	case prior:
		return false
	case l.policy.Order == assign.EDF:
		return inLine(l.now, l.latest, a, b) < 0
	case l.policy.Order == assign.FIFO:
		return cmp.Or(cmp.Compare(came(a), came(b)), cmp.Compare(a.ID, b.ID)) < 0
	}
	return false
}

// head is who comes first of those that wait.
func (l line) head(all []*ledger.App) *ledger.App {
	return slices.MinFunc(all, func(a, b *ledger.App) int {
		switch {
		case l.before(a, b):
			return -1
		case l.before(b, a):
			return 1
		}
		return waiting.Of(a).Place - waiting.Of(b).Place
	})
}

// needs is on how many of so many nodes a has to have room to start.
func (c *check) needs(p api.QueuePolicy, a *ledger.App, nodes int) int {
	least := max(1, a.Tenant.Nodes.Least)
	if p.Rule != assign.Rigid {
		return least
	}
	for _, most := range []int{a.Tenant.Nodes.Most, c.w.cfg.Planner.MaxNodes} {
		if most > 0 {
			nodes = min(nodes, most)
		}
	}
	return max(least, nodes)
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
			c.latest[a.ID] = waiting.Of(a).Latest
		}
	}()
	l := c.line(v)
	head := l.head(v.Waiting())
	if component.Lone(head) {
		c.front = front{} // It needs several nodes at once.
		return
	}
	claim := head.Tenant.Claim()
	rooms, older, filled := map[string]units.Bytes{}, false, false
	lends := c.w.cfg.Planner.Lend.By != lending.Off
	borrows := lends && lending.Borrows(head)
	lost := false // Memory is kept for executors that are to be replaced.
	for a := range v.Running() {
		lost = lost || len(a.Tenant.Pending) > 0
		older = older || component.Lone(a) // Its core programs stay, and its elastic ones go in their time.
	}
	since := c.front.since
	// On how many nodes the head fits, and would fit but for what those took that have started in this step and come
	// after it.
	fits, would, taken := 0, 0, units.Bytes(0)
	for _, n := range v.Nodes() {
		if !n.Live() || n.Room() < claim {
			continue
		}
		rooms[n.Node] = n.Room()
		took := units.Bytes(0)
		for _, t := range v.Allocations(n.Node) {
			switch began := t.App.Instant(t.App.Tenant.Began); {
			case slices.Contains(c.starts, t.App.ID) && l.before(head, t.App) && !c.gets[t.App.ID]:
				for _, x := range t.Executors {
					if x.Lent() == borrows { // Others take nothing of what the head could have.
						took += t.App.Tenant.Claim()
					}
				}
			case began <= since || began > now || l.before(t.App, head):
				older = true // It began in the future where the planner's clock was set back since.
			case l.policy.Order == assign.HRRN && !l.before(head, t.App):
				older = true // Under hrrn who comes first changes with the moment: it came first when it began.
			case began <= c.front.passed:
				filled = true
			}
		}
		free := v.Free(n)
		if lends {
			free = lending.Left(v, n, head)
		}
		if free >= claim {
			fits++
		}
		if free+took >= claim {
			would++
			taken += took
		}
	}
	need := c.needs(l.policy, head, len(rooms))
	if taken > 0 && !lost && would >= need && (fits < need || l.policy.Rule == assign.Backfill) {
		c.w.fail("%v of nodes went to who comes after %s, which needs %v on %d of them and would have had it", taken, head.ID,
			claim, need)
	}
	if c.front.head != head.ID || !maps.Equal(c.front.rooms, rooms) {
		c.front = front{head: head.ID, since: now, rooms: rooms}
		return
	}
	switch {
	case older || lost || len(rooms) < need || c.unheard(v):
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

// recorded notes who has started, and looks at who gives back and who grows.
func (c *check) recorded(of *control, fact ledger.Fact) {
	switch f := fact.(type) {
	case ledger.Registered:
		if f.Seats != nil && of == c.w.control {
			c.starts = append(c.starts, f.ID)
		}
	case ledger.Started:
		if of == c.w.control {
			c.starts = append(c.starts, f.App)
		}
	case ledger.ExecutorLeaving:
		if c.given[node.Key{App: f.App, ID: f.ID}] = true; f.For != "" {
			c.gaveBack(of, f)
		}
	case ledger.ExecutorTaken:
		c.given[node.Key{App: f.App, ID: f.ID}] = true
	case ledger.Seated:
		last, gave := c.gave[storeApp{of.name, f.App}]
		if rule := c.line(of.engine.View()).policy.Rule; rule != assign.Backfill && gave && c.w.clock.Now().Sub(last) < calm {
			c.w.fail("%s gets executors on %v %v after it gave one back", f.App, f.Nodes, c.w.clock.Now().Sub(last))
		}
	}
}

// gaveBack looks at an executor that was asked back for one that waits: the rule in force lets it, and its
// application keeps what it needs.
func (c *check) gaveBack(of *control, f ledger.ExecutorLeaving) {
	v := of.engine.View()
	c.gave[storeApp{of.name, f.App}], c.gets[f.For] = c.w.clock.Now(), true
	if p := c.line(v).policy; p.Rule != assign.Flexible && p.Rule != assign.FlexiblePreemptive {
		c.w.fail("%s gives executor %s back for %s, and the rule is %s", f.App, f.ID, f.For, p.Rule)
	}
	a := v.App(f.App)
	if a == nil {
		return // It has ended in the same step.
	}
	stays, registered := map[string]bool{}, false
	for _, x := range a.Alive() {
		if !x.Leaving {
			stays[x.Node], registered = true, registered || x.Registered
		}
	}
	cores := units.Cores(0)
	for name := range stays {
		cores += v.Node(name).Offered
	}
	switch least := max(1, a.Tenant.Nodes.Least); {
	case len(stays) < least || !registered:
		c.w.fail("%s gives executor %s back for %s and stays on %d nodes, registered: %v, of %d that it needs", f.App, f.ID,
			f.For, len(stays), registered, least)
	case a.Band() == api.BandPromised && a.Tenant.Cap == 0 &&
		cores < min(max(a.Marks.Least, a.Reserved()), a.Tenant.Cores):
		c.w.fail("%s gives executor %s back for %s, and needs %v cores of %v that are left for its deadline", f.App, f.ID,
			f.For, max(a.Marks.Least, a.Reserved()), cores)
	}
}

// came is when a registered.
func came(a *ledger.App) units.Instant {
	if w := waiting.Of(a); w.Waits() {
		return w.Since
	}
	return a.Instant(a.Tenant.Began - waiting.Of(a).Waited)
}

// inLine is the order edf: earliest deadline first, without one as if due after
// patience, with one as if due at its latest start once that is no further away, then arrival.
// latest has the latest starts of those that wait, and of those that did.
func inLine(now units.Instant, latest map[api.AppID]units.Instant, a, b *ledger.App) int {
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
