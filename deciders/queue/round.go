package queue

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// round is the cluster as those in front leave it: who started in this round has its memory,
// and whoever waits has the memory of a node kept.
type round struct {
	book    book
	outlook *estimate.Outlook
	view    ledger.View
	// taken is what was taken in this round, by node, lent what of that only those lack who borrow; kept who waits for
	// the node.
	taken, lent map[string]units.Bytes
	kept        map[string]*ledger.App
	// told is what Plans have grown by in this round, by node: bytes of launches.
	told map[string]int
	// ends are the changes of memory that are expected, nil until somebody asks.
	ends map[string][]change
	// asked is how many starts have been looked for.
	asked int
	// gifts is what others give back for those that wait, by node, gives those who are asked to in this round, left on
	// how many nodes they stay.
	gifts map[string]*gift
	gives []Choice
	left  map[api.AppID]int
	// leave are the executors that others were asked for before this round, for each that waits.
	leave map[api.AppID][]waiting.Giving
	// blocked says that one that waits does not fit, so that those behind it are not served; nobody that no application
	// is to grow, nil until somebody asks.
	blocked bool
	nobody  *bool
	// around is part of the basis of each verdict, zero until one is asked for.
	around around
	// unused says who holds memory without a task, for those whose executors take so much.
	unused map[units.Bytes]string
}

// change is what a node has more of memory from then on, or less.
type change struct {
	at units.Instant
	by units.Bytes
}

// newRound is the cluster before anybody is looked at. Executors that are to replace ones of
// nodes that are away have their memory taken where they would go.
func (p Policy) newRound(o *estimate.Outlook, line []*ledger.App) *round {
	v := o.View
	h := &round{book: p.newBook(o, line), outlook: o, view: v,
		taken: make(map[string]units.Bytes), lent: make(map[string]units.Bytes),
		kept: make(map[string]*ledger.App), told: make(map[string]int),
		leave: waiting.Given(v), left: make(map[api.AppID]int), unused: make(map[units.Bytes]string)}
	h.gifts = gifts(v, h.leave)
	for a := range v.Running() {
		for _, lost := range a.Tenant.Pending {
			if n := v.Node(lost); n == nil || !n.Live() {
				if n := p.Places.Replacement(o, a, lost); n != nil {
					h.taken[n.Node] += a.Tenant.Claim()
				}
			}
		}
	}
	return h
}

// free is what of n is left for a. For an application that is promised its memory, what others are lent is not there.
func (h *round) free(n *ledger.Node, a *ledger.App) units.Bytes {
	free := h.book.Places.Left(h.view, n, a) - h.taken[n.Node]
	if a.Promise.MayBorrow(a) {
		free -= h.lent[n.Node]
	}
	return free
}

// room is what a may take of n.
func (h *round) room(n *ledger.Node, a *ledger.App) units.Bytes {
	free := h.free(n, a)
	if g := h.gifts[n.Node]; g != nil && g.to.ID != a.ID {
		free = min(free, free+g.coming-g.to.Tenant.Claim())
		for _, b := range g.beside {
			if b.ID != a.ID {
				free -= b.Tenant.Claim()
			}
		}
	}
	head := h.kept[n.Node]
	if borrows := h.book.Places.Borrows; head == nil || borrows(head) && !borrows(a) {
		return free
	}
	// All that was there when the head came will end; what has come since stays.
	borrows := h.book.Places.Borrows(a)
	spare := n.Room() - head.Tenant.Claim() - h.taken[n.Node]
	if borrows {
		spare += n.Lendable() - h.lent[n.Node]
	}
	for _, t := range h.view.Allocations(n.Node) {
		if t.App.Instant(t.App.Tenant.Began) >= since(head) {
			for _, x := range t.Executors {
				if borrows || !x.Lent() {
					spare -= t.App.Tenant.Claim()
				}
			}
		}
	}
	return min(free, spare)
}

// seats are what a gets now on so many nodes at most, 0 for no bound; an error where that is nothing, which is a
// *fullPlan where there is memory for it.
func (h *round) seats(a *ledger.App, most int) (placement.Seating, error) {
	var full *fullPlan
	places := h.book.Places.Within(most)
	room := func(n *ledger.Node) units.Bytes { return h.room(n, a) }
	s, err := places.Seats(h.outlook, a, room)
	// Plans are seldom full: all are looked at where one is that was chosen, or where that may be why nodes are too few.
	if err != nil && placement.Least(a) > 1 ||
		slices.ContainsFunc(s.On(), func(node string) bool { return h.full(h.view.Node(node), a) }) {
		s, err = places.Seats(h.outlook, a, func(n *ledger.Node) units.Bytes {
			free := room(n)
			if free > 0 && h.full(n, a) {
				full = &fullPlan{n.Node, told(a)}
				return 0
			}
			return free
		})
	}
	if err != nil && full != nil {
		return s, full
	}
	return s, err
}

// told is what a Plan has of a.
func told(a *ledger.App) int { return ledger.Told(&a.Tenant.Launch, a) }

// full reports whether n's Plan, which has to go through the bus, does not hold a too. As
// with memory, those who come do not take what the head waits for.
func (h *round) full(n *ledger.Node, a *ledger.App) bool {
	used := h.view.LaunchBytes(n) + h.told[n.Node]
	if used < api.MostPlanLaunches/2 {
		return false // Any two launches fit.
	}
	free := api.MostPlanLaunches - used
	if head := h.kept[n.Node]; head != nil {
		spare := api.MostPlanLaunches - told(head) - h.told[n.Node]
		for _, t := range h.view.Allocations(n.Node) {
			if t.App.Instant(t.App.Tenant.Began) >= since(head) {
				spare -= told(t.App)
			}
		}
		free = min(free, spare)
	}
	return told(a) > free
}

// fullPlan says that the Plan of a node does not hold an application beside others, which has
// that many bytes. Alone any application fits (api.MostLaunch, api.MostGroup).
type fullPlan struct {
	node string
	mine int
}

// Error implements error.
func (e *fullPlan) Error() string {
	return fmt.Sprintf(
		"the plan of node %s has no room: a plan takes %d bytes of Java options, class paths, commands and environments, "+
			"and this application has %d: "+
			"shorten them, or wait until others have ended", e.node, api.MostPlanLaunches, e.mine)
}

// take has a, which starts, take its seats.
func (h *round) take(a *ledger.App, s placement.Seating) {
	tenant := a.Tenant
	tenant.Launch.OffHeap = s.OffHeap
	end := h.ofWaiting(a, h.view.Now())
	h.served(a)
	for _, node := range s.On() {
		h.told[node] += told(a)
	}
	if s.Driver != "" {
		h.taken[s.Driver] += a.Tenant.Nodes.Driver
	}
	for i, node := range s.Group {
		h.taken[node] += a.Tenant.Nodes.Group.Core[i]
	}
	for _, seat := range s.Seats {
		by := units.Bytes(seat.Executors) * tenant.Claim()
		if s.Lent {
			h.lent[seat.Node.Node] += by
		} else {
			h.taken[seat.Node.Node] += by
		}
		if h.ends != nil && end > 0 {
			h.expectChange(seat.Node.Node, change{end, by})
		}
	}
}

// keep keeps the memory of a node for a, and returns which. It is the one that is kept for it already, or the one where
// it is expected to start first; "" where all are kept for others.
func (h *round) keep(a *ledger.App, before string) string {
	claim := a.Tenant.Claim()
	holds := func(n *ledger.Node) bool {
		return n != nil && n.Live() && h.kept[n.Node] == nil && n.Room() >= claim &&
			(h.gifts[n.Node] == nil || h.gifts[n.Node].to.ID == a.ID)
	}
	if given := h.givenTo(a); given != "" && (h.gifts[before] == nil || !holds(h.view.Node(before))) {
		before = given
	} else if !h.book.Backfills() && h.book.assign().granted(a.ID) == 0 {
		return "" // Others are served first, with all that is free.
	}
	if n := h.view.Node(before); !holds(n) {
		before = ""
		var best units.Instant
		for _, n := range h.view.Nodes() {
			if !holds(n) {
				continue
			}
			if at := cmp.Or(h.when(n, a), never); before == "" || at < best {
				before, best = n.Node, at
			}
		}
	}
	if before != "" {
		h.kept[before] = a
	}
	return before
}

// idleFor says who holds memory without a task on the nodes that could hold one of a's executors, "" of nobody.
func (h *round) idleFor(a *ledger.App) string {
	claim := a.Tenant.Claim()
	said, asked := h.unused[claim]
	if !asked {
		said = sayIdle(h.view, claim)
		h.unused[claim] = said
	}
	return said
}

// never is later than anything that is expected.
const never = units.Instant(1<<63 - 1)

// gift is memory of a node that one that waits gets: what it lacks of that is coming. Beside it others fit, which wait
// for what is coming elsewhere.
type gift struct {
	to     *ledger.App
	coming units.Bytes
	beside []*ledger.App
}

// gifts are those that were asked for before this round, by node.
func gifts(v ledger.View, given map[api.AppID][]waiting.Giving) map[string]*gift {
	all := make(map[string]*gift)
	for _, w := range v.Waiting() {
		for _, g := range given[w.ID] {
			x := g.Executor()
			if n := v.Node(x.Node); n == nil || !n.Live() || g.Stayed {
				continue
			}
			here := all[x.Node]
			if here == nil {
				here = &gift{to: w}
				all[x.Node] = here
			}
			if here.to == w && !x.Gone {
				here.coming += g.From.Tenant.Claim()
			}
		}
	}
	return all
}

// reserve spares nodes on which a fits already for it, which waits for others to leave elsewhere.
func (h *round) reserve(a *ledger.App, fit map[string]bool) {
	for name := range fit {
		if g := h.gifts[name]; g == nil {
			h.gifts[name] = &gift{to: a}
		} else if g.to.ID != a.ID {
			g.beside = append(g.beside, a)
		}
	}
}

// served has nothing spared for a any more, which starts.
func (h *round) served(a *ledger.App) {
	for name, g := range h.gifts {
		g.beside = slices.DeleteFunc(g.beside, func(b *ledger.App) bool { return b.ID == a.ID })
		switch {
		case g.to.ID != a.ID:
		case len(g.beside) == 0:
			delete(h.gifts, name)
		default:
			g.to, g.coming, g.beside = g.beside[0], 0, g.beside[1:]
		}
	}
}

// givenTo is a node that is spared for a, "" for none: of those where others still leave the first by name, else of
// all.
func (h *round) givenTo(a *ledger.App) (name string) {
	coming := false
	for node, g := range h.gifts {
		if comes := g.coming > 0; g.to.ID == a.ID && (name == "" || comes && !coming || comes == coming && node < name) {
			name, coming = node, comes
		}
	}
	return name
}
