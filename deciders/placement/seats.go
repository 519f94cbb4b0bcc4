package placement

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/devices"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/lending"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/units"
)

// Policy says where applications get executors, and how many.
type Policy struct {
	// Order is one of Orders.
	Order string
	// MaxNodes bounds the nodes that one application has executors on; 0 is no bound.
	MaxNodes int
	// Lends says that memory is lent (package lending).
	Lends bool
	// share is what else bounds them (Within).
	share int
}

// Within is p for one application that has executors on so many nodes at most; 0 is no bound.
func (p Policy) Within(share int) Policy {
	p.share = share
	return p
}

// Most is on how many nodes a may have executors: by MaxNodes, by its user's wish or by Within, where that is less;
// 0 is no bound.
func (p Policy) Most(a *ledger.App) int {
	most := p.MaxNodes
	for _, bound := range []int{a.Tenant.Nodes.Most, p.share} {
		if bound > 0 && (most == 0 || bound < most) {
			most = bound
		}
	}
	return most
}

// Borrows reports whether executors that a gets are lent their memory.
func (p Policy) Borrows(a *ledger.App) bool { return p.Lends && lending.Borrows(a) }

// Left is how much of n's memory a may take for executors.
func (p Policy) Left(v ledger.View, n *ledger.Node, a *ledger.App) units.Bytes {
	if !p.Lends {
		return v.Free(n)
	}
	return lending.Left(v, n, a)
}

// Least is on how many nodes a must have room to start.
func Least(a *ledger.App) int { return max(1, a.Tenant.Nodes.Least) }

// Room is how much of a node's memory an application that comes may take.
type Room func(n *ledger.Node) units.Bytes

// Whole is the room of nodes on which nothing runs.
func Whole(n *ledger.Node) units.Bytes { return n.Room() }

// Seats decides how many executors a, which is not in the ledger yet, gets on each node. That is as many as one stage
// fills the node with, which is one unless its user gave them fewer cores. When it is paced, so many for each of the
// stages of its DAG that can run side by side, at most MaxPool, or for fewer if these may take turns. A node gives
// fewer where its room holds fewer, and none where not even one fits. It gets none at all where fewer than its Least
// nodes have room. The memory off the heap that an executor starts with is decided too, unless it is decided already:
// by what nodes give, not by what is left. Errors have kinds: transient where no node takes executors, or only one that
// is away could hold one, invalid where an executor fits none, conflict where it would fit if there were room.
func (p Policy) Seats(o *estimate.Outlook, a *ledger.App, room Room) (Seating, error) {
	return lodge(o.View, a, room, func(room Room) (Seating, error) {
		if a.Tenant.Nodes.Lone() {
			return Seating{}, nil
		}
		return beside(o.View, a, room, func(room Room) (Seating, error) { return p.seats(o, a, room) })
	})
}

// seats is Seats of executors alone.
func (p Policy) seats(o *estimate.Outlook, a *ledger.App, room Room) (Seating, error) {
	s, err := p.seating(o, a, width(o, a, 0), room)
	if err != nil || a.Promise.Mode != ledger.Paced || a.Observed() {
		// An observed application is held back by nothing, so not by turns either.
		return s, err
	}
	shape := s.Case(o, a).Shape(s.Executors())
	perNode := o.PerNode(a.Profile.Graph, shape)
	if slices.ContainsFunc(s.Seats, func(s Seat) bool { return s.Executors > perNode*s.PerStage }) {
		s, err = p.seating(o, a, perNode, room)
	}
	s.PerNode, s.Open = perNode, shape.Open
	return s, err
}

// seating is the one for at most width stages side by side.
func (p Policy) seating(o *estimate.Outlook, a *ledger.App, width int, room Room) (Seating, error) {
	v := o.View
	nodes := v.Live()
	if len(nodes) == 0 {
		return Seating{}, noNode(v)
	}
	launch := size(a, nodes)
	seats := make([]Seat, 0, len(nodes))
	for _, n := range nodes {
		if s := seat(&launch, n, room(n), width); s.Executors > 0 {
			seats = append(seats, s)
		}
	}
	if least := Least(a); p.MaxNodes > 0 && least > p.MaxNodes {
		return Seating{}, api.Errorf(api.KindInvalid,
			"the application asks for %d nodes at least, and one gets %d at most here (planner.max-nodes)", least, p.MaxNodes)
	} else if len(seats) < least {
		return Seating{}, noRoom(v, &launch, least, nodes, room)
	}
	s := Seating{Seats: p.place(o, a, p.Most(a), launch.Claim(), seats), OffHeap: launch.OffHeap, Lent: p.Borrows(a)}
	s.Cores, s.Slots = extent(s.Seats, launch)
	return s, nil
}

// Holds reports whether n could hold an executor of a if nothing else ran there. An executor that another cluster
// manager starts is not placed here.
func Holds(n *ledger.Node, a *ledger.App) bool {
	launch := size(a, []*ledger.Node{n})
	return launch.Attach == nil && fits(&launch, Whole(n), 1) == 1
}

// size is a's launch with what its executors have off the heap: one size for all, the least that one
// has wherever on nodes it runs. Without it, where no node gives that much and nobody said
// it, all is on the heap, as in stock Spark. The size that was decided when a was queued stays.
func size(a *ledger.App, nodes []*ledger.Node) api.Launch {
	launch := a.Tenant.Launch
	if launch.OffHeapFixed || waiting.Of(a).Waits() || len(a.Tenant.Executors) > 0 {
		return launch
	}
	launch.OffHeap = OffHeap(&launch, nodes)
	if launch.OffHeapFloor == 0 && !slices.ContainsFunc(nodes, func(n *ledger.Node) bool {
		return fits(&launch, n.Room(), 1) == 1
	}) {
		launch.OffHeap = 0
	}
	return launch
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

// seat is the one of what launch starts on n, of which it may take so much room, for at most width stages side by side.
func seat(launch *api.Launch, n *ledger.Node, room units.Bytes, width int) Seat {
	perStage := n.PerStage(*launch)
	return Seat{Node: n, Executors: fits(launch, room, width*perStage), PerStage: perStage}
}

// fits is how many executors that launch starts, at most width, so much memory holds.
func fits(launch *api.Launch, room units.Bytes, width int) int {
	claim := launch.Claim()
	if claim <= 0 {
		return width
	}
	return int(min(units.Bytes(width), max(0, room)/claim))
}

// noRoom says that an executor that launch starts fits none of nodes, which are v's that take executors, or fewer than
// it has to, with the heap that would.
func noRoom(v ledger.View, launch *api.Launch, least int, nodes []*ledger.Node, room Room) error {
	most := func(room Room) *ledger.Node {
		return slices.MaxFunc(nodes, func(x, y *ledger.Node) int { return cmp.Compare(room(x), room(y)) })
	}
	what := fmt.Sprintf("an executor of %s heap, %s overhead and %s off the heap fits", launch.Heap.Words(),
		launch.Overhead.Words(), launch.OffHeap.Words())
	if least > 1 {
		return tooFew(v, launch, least, what, nodes, room)
	}
	what += " no node"
	largest := most(Whole)
	if fits(launch, Whole(largest), 1) == 0 {
		for _, n := range v.Nodes() {
			if !n.Draining() && !n.Live() && fits(launch, Whole(n), 1) > 0 {
				return api.Errorf(api.KindTransient, "%s that is here: node %s, which could hold it, is away", what, n.Node)
			}
		}
		return api.Errorf(api.KindInvalid, "%s: the largest gives %s%s", what, largest.Memory.Words(),
			heapThatFits(launch, largest, Whole(largest)))
	}
	freest := most(room)
	free := max(0, room(freest)) / units.MiB * units.MiB
	return api.Errorf(api.KindConflict, "%s now: the most that is free is %s, on node %s%s", what, free.Words(),
		freest.Node, heapThatFits(launch, freest, free))
}

// tooFew says that what, an executor that launch starts and fits, does so on fewer of nodes than are asked for.
func tooFew(v ledger.View, launch *api.Launch, least int, what string, nodes []*ledger.Node, room Room) error {
	holding := func(nodes []*ledger.Node, room Room) (n int) {
		for _, x := range nodes {
			if fits(launch, room(x), 1) > 0 {
				n++
			}
		}
		return n
	}
	here := holding(nodes, Whole)
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

// heapThatFits says which heap, below that of own, an executor could have on n, "" where there
// is none.
func heapThatFits(own *api.Launch, n *ledger.Node, room units.Bytes) string {
	fit := func(heap units.Bytes) bool {
		launch := *own
		launch.Heap = heap
		if own.Overhead == memory.Overhead(own.Heap) {
			launch.Overhead = memory.Overhead(heap)
		}
		if !own.OffHeapFixed && own.OffHeap > 0 {
			launch.OffHeap = memory.FloorOf(&launch, n.Slots(launch))
		}
		return fits(&launch, room, 1) == 1
	}
	// An executor that does not fit at some heap fits at no greater one.
	mib := sort.Search(int(own.Heap/units.MiB), func(i int) bool { return !fit(units.Bytes(i+1) * units.MiB) })
	if mib == 0 {
		return ""
	}
	return fmt.Sprintf(", where a heap of %s would fit", (units.Bytes(mib) * units.MiB).Words())
}

// noNode says why no node takes executors.
func noNode(v ledger.View) error {
	nodes := v.Nodes()
	switch {
	case slices.ContainsFunc(nodes, func(n *ledger.Node) bool { return n.Here() && n.Allegiance.Foreign }):
		return api.Errorf(api.KindTransient, "the nodes run executors of another planner: see `pacer nodes`")
	case slices.ContainsFunc(nodes, func(n *ledger.Node) bool { return n.Here() && n.Attaches() && !n.Draining() }):
		return api.Errorf(api.KindTransient, "no node starts executors: those that are here find other managers' alone")
	case slices.ContainsFunc(nodes, (*ledger.Node).Here):
		return api.Errorf(api.KindTransient, "every node is being drained: see `pacer nodes`")
	}
	return api.Errorf(api.KindTransient, "no node is connected to the planner: start `pacer up` or a node controller")
}

// width is how many stages of a should be able to run side by side, perNode where that is known.
func width(o *estimate.Outlook, a *ledger.App, perNode int) int {
	switch {
	case a.Promise.Mode != ledger.Paced:
		return 1
	case perNode > 0:
		return perNode
	}
	return o.Together(a.Profile.Graph)
}

// place chooses the seats that executors of so much memory take, in their order: all, or those that Order puts first,
// up to most, 0 for no bound.
func (p Policy) place(o *estimate.Outlook, a *ledger.App, most int, claim units.Bytes, seats []Seat) []Seat {
	if most == 0 || len(seats) == 0 || most >= len(seats) {
		return seats // A node that takes executors again may leave the application on more nodes than it may be.
	}
	at := func(i int) Site { return site(o.View, seats[i].Node, units.Bytes(seats[i].Executors)*claim) }
	by := order(p.Order)
	if by.scores != nil {
		sites := make([]Site, len(seats))
		for i := range sites {
			sites[i] = at(i)
		}
		by.scores(&comers{uses: coming(o, a, most, seats), load: func(i int) devices.Load {
			return estimate.Loaded(seats[i].Node, o, a.ID)
		}}, sites)
		at = func(i int) Site { return sites[i] }
	}
	var chosen []Seat
	for _, i := range choose(len(seats), most, at, by.order) {
		chosen = append(chosen, seats[i])
	}
	return chosen
}

// coming is what a's stages want of each of its nodes: from where it stands or, where it has none yet, if it starts now
// on that many mean ones of seats.
func coming(o *estimate.Outlook, a *ledger.App, most int, seats []Seat) []devices.Use {
	switch {
	case a.Profile == nil:
		return nil
	case len(a.Seats()) > 0:
		return estimate.Uses(a, o)
	}
	var best devices.Rates
	cores, slots := extent(seats, a.Tenant.Launch)
	for _, s := range seats {
		for d, rate := range devices.Of(s.Node) {
			best[d] = max(best[d], rate)
		}
	}
	n := len(seats)
	supply := dag.Supply{Cores: cores * units.Cores(most) / units.Cores(n), Slots: max(1, slots*most/n)}
	return estimate.Coming(a, o, supply, best, most)
}
