package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

const (
	// soon is how long memory is waited for that comes free by itself, before anybody gives back.
	soon = 15 * time.Second
	// giving is how long one that gives back mostly takes: its tasks end, and its blocks move.
	giving = 30 * time.Second
	// Stays is how long it may take; then another one is asked.
	Stays = 2 * time.Minute
)

// unit is what an application has on a node and may give back.
type unit struct {
	app    *ledger.App
	memory units.Bytes
	// idle says that it has run no task for a while, excess that the rule leaves it to its application no more; since is
	// when its newest executor came, whose number that is.
	idle     bool
	excess   bool
	priority int
	since    units.Instant
	number   int
}

// before orders units: those come first that are given back first.
func before(x, y unit) int {
	rank := func(first bool) int {
		if first {
			return 0
		}
		return 1
	}
	return cmp.Or(rank(x.idle)-rank(y.idle), rank(x.excess)-rank(y.excess), x.priority-y.priority,
		cmp.Compare(y.since, x.since), y.number-x.number, cmp.Compare(x.app.ID, y.app.ID))
}

// giver finds who gives back for one that waits.
type giver struct {
	round *round
	to    *ledger.App
	// fit are the nodes on which it fits already, gave those where others leave in what is being tried.
	fit  map[string]bool
	gave map[string][]unit
}

// giveBack has others give back what a lacks to start on so many more nodes than those of fit, and reports whether
// they can. No application does where memory comes free soon, unless a was to start by now.
func (h *round) giveBack(a *ledger.App, lacks int, fit map[string]bool) bool {
	g := giver{h, a, fit, make(map[string][]unit)}
	start := waiting.Of(a).Start
	missed := start > 0 && start <= h.view.Now()
	if lacks <= 0 || !missed && g.comesFree() >= lacks {
		return false
	}
	for range lacks {
		node, leave := g.cheapest()
		if node == "" {
			for _, leave := range g.gave {
				for _, u := range leave {
					h.left[u.app.ID]++
				}
			}
			return false
		}
		g.gave[node] = leave
		for _, u := range leave {
			h.left[u.app.ID]--
		}
	}
	g.ask()
	h.reserve(a, fit)
	return true
}

// ask has those leave that were found.
func (g *giver) ask() {
	at := g.round.view.Now().Add(giving)
	for _, n := range g.round.view.Nodes() {
		leave := g.gave[n.Node]
		if leave == nil {
			continue
		}
		here := &gift{to: g.to}
		for _, u := range leave {
			here.coming += u.memory
			g.round.gives = append(g.round.gives, Choice{App: u.app, What: GiveBack, Node: n.Node, For: g.to.ID})
			g.round.expectChange(n.Node, change{at, u.memory})
			if end := g.round.ofRunning(u.app); end > 0 {
				g.round.expectChange(n.Node, change{max(at, end), -u.memory}) // It does not come free a second time.
			}
		}
		g.round.gifts[n.Node] = here
	}
}

// comesFree is on how many more nodes it is expected to fit soon.
func (g *giver) comesFree() (nodes int) {
	until := g.round.view.Now().Add(soon)
	for _, n := range g.round.view.Nodes() {
		if g.fit[n.Node] || !g.may(n) {
			continue
		}
		if elastic, leaving := component.Stays(g.round.view, n.Node); g.round.free(n, g.to)+elastic+leaving >=
			g.to.Tenant.Claim() {
			nodes++ // Elastic components go first (Policy.Elastic).
			continue
		}
		if at := g.round.when(n, g.to); at > 0 && at <= until {
			nodes++
		}
	}
	return nodes
}

// may reports whether n could hold one of its executors, and is not somebody else's.
func (g *giver) may(n *ledger.Node) bool {
	head := g.round.kept[n.Node]
	return n.Live() && n.Room() >= g.to.Tenant.Claim() && g.round.gifts[n.Node] == nil &&
		(head == nil || head.ID == g.to.ID) && !g.round.full(n, g.to)
}

// cheapest is the node where the fewest that run tasks leave so that it fits, then the fewest, and of some the one
// whose units are to be given back first; "" for none.
func (g *giver) cheapest() (node string, leave []unit) {
	for _, n := range g.round.view.Nodes() {
		if g.fit[n.Node] || g.gave[n.Node] != nil || !g.may(n) {
			continue
		}
		here := g.enough(n)
		if here == nil {
			continue
		}
		if leave == nil || cmp.Or(busy(here)-busy(leave), len(here)-len(leave), before(here[0], leave[0])) < 0 {
			node, leave = n.Node, here
		}
	}
	return node, leave
}

// busy is how many of those units run tasks.
func busy(units []unit) (n int) {
	for i := range units {
		if !units[i].idle {
			n++
		}
	}
	return n
}

// enough are the units on n whose leaving lets it fit, nil where there are none: idle ones alone if these are enough,
// and one if one is.
func (g *giver) enough(n *ledger.Node) []unit {
	lacks := g.to.Tenant.Claim() - g.round.free(n, g.to)
	if lacks <= 0 {
		return nil // The free memory is spared for another application.
	}
	var here []unit
	for _, t := range g.round.view.Allocations(n.Node) {
		if u, spared := g.spares(t, n); spared {
			here = append(here, u)
		}
	}
	slices.SortFunc(here, before)
	if leave := first(here[:len(here)-busy(here)], lacks); leave != nil {
		return leave
	}
	return first(here, lacks)
}

// first are the first of units that have so much memory, one if one has, nil where all have less.
func first(of []unit, lacks units.Bytes) []unit {
	for i, u := range of {
		if u.memory >= lacks {
			return of[i : i+1]
		}
	}
	for i, u := range of {
		if lacks -= u.memory; lacks <= 0 {
			return of[:i+1]
		}
	}
	return nil
}

// spares reports whether what t's application has on n may be given back. The application stays where it has a
// registered executor, and on as many nodes as it needs, and has not got this a moment ago.
func (g *giver) spares(t *ledger.Allocation, n *ledger.Node) (u unit, spared bool) {
	a, by := t.App, g.round.book.assign()
	j := by.jobs[a.ID]
	if j == nil || a.ID == g.to.ID || a.Outcome.Killed != "" || a.Promise.Held {
		return u, false
	}
	left := g.stays(a)
	u = unit{app: a, memory: units.Bytes(len(t.Executors)) * a.Tenant.Claim(), excess: left > by.granted(a.ID),
		priority: j.Priority, idle: !slices.ContainsFunc(t.Executors, func(x *ledger.Executor) bool {
			return !isIdle(g.round.view, a, x)
		})}
	// An application that has come alone takes nothing back, unless it is of a higher priority.
	prior := g.round.book.Rule == assign.FlexiblePreemptive && j.Priority < by.jobs[g.to.ID].Priority
	if left-1 < max(1, j.Core) || !u.excess && !by.Freed && !prior && len(g.round.leave[g.to.ID]) == 0 {
		return u, false
	}
	for _, x := range t.Executors {
		came := a.Instant(x.Since)
		if x.Leaving || x.Since > a.Tenant.Began && g.round.view.Now().Sub(came) < calm {
			return u, false
		}
		if came >= u.since {
			u.since, u.number = came, ledger.Number(x.ID)
		}
	}
	return u, slices.ContainsFunc(a.Tenant.Executors, func(x *ledger.Executor) bool {
		if x.Gone || x.Leaving || !x.Registered || x.Node == n.Node {
			return false
		}
		elsewhere := g.round.view.Node(x.Node)
		return elsewhere != nil && elsewhere.Here() && !elsewhere.Draining() && !g.leaves(a, x.Node)
	})
}

// stays is on how many nodes a has executors that nobody has asked to leave.
func (g *giver) stays(a *ledger.App) int {
	left, known := g.round.left[a.ID]
	if !known {
		seen := make(map[string]bool)
		for _, x := range a.Tenant.Executors {
			if !x.Gone && !x.Leaving {
				seen[x.Node] = true
			}
		}
		left = len(seen)
		g.round.left[a.ID] = left
	}
	return left
}

// leaves reports whether a gives back what it has on that node in this round.
func (g *giver) leaves(a *ledger.App, node string) bool {
	return slices.ContainsFunc(g.gave[node], func(u unit) bool { return u.app == a }) ||
		slices.ContainsFunc(g.round.gives, func(c Choice) bool { return c.App == a && c.Node == node })
}
