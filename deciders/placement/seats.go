package placement

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/units"
)

// Policy says where applications get executors, and how many.
type Policy struct {
	estimate.Policy
	// Order is one of Orders.
	Order string
	// MaxNodes bounds the nodes that one application has executors on; 0 is no bound.
	MaxNodes int
}

// Most is on how many nodes a may have executors: by MaxNodes, or by its user's wish where that is less;
// 0 is no bound.
func (p Policy) Most(a *ledger.App) int {
	if own := a.Tenant.Nodes.Most; own > 0 && (p.MaxNodes == 0 || own < p.MaxNodes) {
		return own
	}
	return p.MaxNodes
}

// Least is on how many nodes a must have room to start.
func Least(a *ledger.App) int { return max(1, a.Tenant.Nodes.Least) }

// Room is how much of a node's memory an application that comes may take.
type Room func(n *ledger.Node) units.Bytes

// Whole is the room of nodes on which nothing runs.
func Whole(n *ledger.Node) units.Bytes { return n.Room() }

// Seats decides how many executors a, which is not in the ledger yet, gets on each node: as many
// as one stage fills the node with, which is one unless its user gave them fewer cores. When it
// is paced, so many for each of the stages of its DAG that can run side by side, at most
// MaxPool, or for fewer if these may take turns. A node gives fewer where its room holds fewer,
// and none where not even one fits. It gets none at all where fewer than its Least nodes have room. What an
// executor has off the heap at
// its start is decided too, unless it is decided already: by what nodes give, not by what is
// left. Errors have kinds: transient where no node takes executors, or only one that is away could
// hold one, invalid where an executor fits none, conflict where it would fit if there were room.
func (p Policy) Seats(v ledger.View, a *ledger.App, room Room) (Seating, error) {
	s, err := p.seating(v, a, p.width(a, 0), room)
	if err != nil || a.Promise.Mode != ledger.Paced || a.Observed() {
		// An observed application is held back by nothing, so not by turns either.
		return s, err
	}
	shape := p.Shape(a.Profile.Graph, s.Executors(), a.Promise.Deadline, p.supply(v, a, s), a.At(v.Now()))
	perNode := p.PerNode(a.Profile.Graph, shape)
	if slices.ContainsFunc(s.Seats, func(s Seat) bool { return s.Executors > perNode*s.PerStage }) {
		s, err = p.seating(v, a, perNode, room)
	}
	s.PerNode, s.Open = perNode, shape.Open
	return s, err
}

// seating is the one for at most width stages side by side.
func (p Policy) seating(v ledger.View, a *ledger.App, width int, room Room) (Seating, error) {
	nodes := v.Live()
	if len(nodes) == 0 {
		return Seating{}, noNode(v)
	}
	sized := size(a, nodes)
	var seats []Seat
	for _, n := range nodes {
		if s := seat(sized, n, room(n), width); s.Executors > 0 {
			seats = append(seats, s)
		}
	}
	if least := Least(a); p.MaxNodes > 0 && least > p.MaxNodes {
		return Seating{}, api.Errorf(api.KindInvalid,
			"the application asks for %d nodes at least, and one gets %d at most here (planner.max-nodes)", least, p.MaxNodes)
	} else if len(seats) < least {
		return Seating{}, noRoom(v, sized, nodes, room)
	}
	s := Seating{Seats: p.place(v, sized, seats, 0), OffHeap: sized.Tenant.Launch.OffHeap}
	s.Cores, s.Slots = extent(s.Seats, a.Tenant.Launch)
	return s, nil
}

// size is a with what its executors have off the heap: one size for all, the least that one
// has wherever on nodes it runs. Without it, where no node gives that much and nobody said
// it, all is on the heap, as in stock Spark. What was decided when a was queued stays.
func size(a *ledger.App, nodes []*ledger.Node) *ledger.App {
	c := *a
	launch := &c.Tenant.Launch
	if launch.OffHeapFixed || a.Wait != nil || len(a.Tenant.Executors) > 0 {
		return &c
	}
	launch.OffHeap = OffHeap(launch, nodes)
	if launch.OffHeapFloor == 0 && !slices.ContainsFunc(nodes, func(n *ledger.Node) bool {
		return fits(&c, n.Room(), 1) == 1
	}) {
		launch.OffHeap = 0
	}
	return &c
}

// OffHeap is what executors started by launch have off the heap at their start: the least that
// one has wherever on nodes it runs.
func OffHeap(launch *api.Launch, nodes []*ledger.Node) (bytes units.Bytes) {
	for _, n := range nodes {
		if n.Memory > 0 {
			bytes = max(bytes, memory.FloorOf(launch, n.Slots(*launch)))
		}
	}
	return bytes
}

// seat is the one of a on n, of which it may take so much room, for at most width stages side by side.
func seat(a *ledger.App, n *ledger.Node, room units.Bytes, width int) Seat {
	perStage := n.PerStage(a.Tenant.Launch)
	return Seat{Node: n, Executors: fits(a, room, width*perStage), PerStage: perStage}
}

// fits is how many executors of a, at most width, so much memory holds.
func fits(a *ledger.App, room units.Bytes, width int) int {
	claim := a.Tenant.Claim()
	if claim <= 0 {
		return width
	}
	return int(min(units.Bytes(width), max(0, room)/claim))
}

// noRoom says that an executor of a, which has its size, fits none of nodes, or too few of them, which are
// v's that take executors, with the heap that would.
func noRoom(v ledger.View, a *ledger.App, nodes []*ledger.Node, room Room) error {
	most := func(room Room) *ledger.Node {
		return slices.MaxFunc(nodes, func(x, y *ledger.Node) int { return cmp.Compare(room(x), room(y)) })
	}
	launch := &a.Tenant.Launch
	what := fmt.Sprintf("an executor of %v heap, %v overhead and %v off the heap fits", launch.Heap,
		launch.Overhead, launch.OffHeap)
	if Least(a) > 1 {
		return tooFew(v, a, what, nodes, room)
	}
	what += " no node"
	largest := most(Whole)
	if fits(a, Whole(largest), 1) == 0 {
		for _, n := range v.Nodes() {
			if !n.Draining && !n.Live() && fits(a, Whole(n), 1) > 0 {
				return api.Errorf(api.KindTransient, "%s that is here: node %s, which could hold it, is away", what, n.Node)
			}
		}
		return api.Errorf(api.KindInvalid, "%s: the largest gives %v%s", what, largest.Memory,
			heapThatFits(a, largest, Whole(largest)))
	}
	freest := most(room)
	free := max(0, room(freest)) / units.MiB * units.MiB
	return api.Errorf(api.KindConflict, "%s now: the most that is free is %v, on node %s%s", what, free, freest.Node,
		heapThatFits(a, freest, free))
}

// tooFew says that what, an executor of a that fits, does so on fewer of nodes than a asks for.
func tooFew(v ledger.View, a *ledger.App, what string, nodes []*ledger.Node, room Room) error {
	holding := func(nodes []*ledger.Node, room Room) (n int) {
		for _, x := range nodes {
			if fits(a, room(x), 1) > 0 {
				n++
			}
		}
		return n
	}
	least, here := Least(a), holding(nodes, Whole)
	switch all := holding(v.Nodes(), Whole); {
	case here >= least:
		return api.Errorf(api.KindConflict, "%s %d nodes now, and the application asks for %d at least", what,
			holding(nodes, room), least)
	case all >= least:
		return api.Errorf(api.KindTransient,
			"%s %d nodes that are here, and the application asks for %d at least: %d are away",
			what, here, least, all-here)
	default:
		return api.Errorf(api.KindInvalid, "%s %d nodes, and the application asks for %d at least (spark.pacer.nodes.least)",
			what, all, least)
	}
}

// heapThatFits says which heap, below that of a, an executor could have on n, "" where there
// is none.
func heapThatFits(a *ledger.App, n *ledger.Node, room units.Bytes) string {
	own := &a.Tenant.Launch
	fit := func(heap units.Bytes) bool {
		b := *a
		launch := &b.Tenant.Launch
		launch.Heap = heap
		if own.Overhead == memory.Overhead(own.Heap) {
			launch.Overhead = memory.Overhead(heap)
		}
		if !own.OffHeapFixed && own.OffHeap > 0 {
			launch.OffHeap = memory.FloorOf(launch, n.Slots(*launch))
		}
		return fits(&b, room, 1) == 1
	}
	// What does not fit grows with the heap.
	mib := sort.Search(int(own.Heap/units.MiB), func(i int) bool { return !fit(units.Bytes(i+1) * units.MiB) })
	if mib == 0 {
		return ""
	}
	return fmt.Sprintf(", where a heap of %v would fit", units.Bytes(mib)*units.MiB)
}

// noNode says why no node takes executors.
func noNode(v ledger.View) error {
	nodes := v.Nodes()
	switch {
	case slices.ContainsFunc(nodes, func(n *ledger.Node) bool { return n.Here() && n.Allegiance.Foreign }):
		return api.Errorf(api.KindTransient, "the nodes run executors of another planner: see `pacer nodes`")
	case slices.ContainsFunc(nodes, (*ledger.Node).Here):
		return api.Errorf(api.KindTransient, "every node is being drained: see `pacer nodes`")
	}
	return api.Errorf(api.KindTransient, "no node is connected to the planner: start `pacer up` or a node controller")
}

// width is how many stages of a should be able to run side by side, perNode where that is known.
func (p Policy) width(a *ledger.App, perNode int) int {
	switch {
	case a.Promise.Mode != ledger.Paced:
		return 1
	case perNode > 0:
		return perNode
	}
	return p.Together(a.Profile.Graph)
}

// place chooses the seats that a, which is on some nodes already, takes, in their
// order: all, or those that Order puts first, up to Most in all.
func (p Policy) place(v ledger.View, a *ledger.App, seats []Seat, taken int) []Seat {
	most := p.Most(a)
	if most == 0 || len(seats) == 0 {
		return seats // One that was to leave a node that takes executors again may be on more than it may be.
	}
	sites := make([]Site, len(seats))
	for i, s := range seats {
		sites[i] = site(v, a, s.Node, s.Executors)
	}
	var chosen []Seat
	for _, i := range choose(sites, most-taken, order(p.Order)) {
		chosen = append(chosen, seats[i])
	}
	return chosen
}
