package placement

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/estimate"
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

// Seat is the room that an application gets on one node.
type Seat struct {
	Node      *ledger.Node
	Executors int
}

// Seating is what an application that comes gets.
type Seating struct {
	Seats []Seat
	// PerNode is how many executors it has on a node, 0 where that is not asked: unless it
	// is paced and held back; Open says that its deadline leaves no room for turns.
	PerNode int
	Open    bool
	// OffHeap is what each executor has off the heap at its start (memory.FloorOf), and may
	// claim for as long as it runs; 0 where no node has room for that.
	OffHeap units.Bytes
	// Cores and Slots are what its nodes offer it.
	Cores units.Cores
	Slots int
}

// Nodes names the nodes of the seating's executors in the order in which these are
// started: one per node in turn, so that the lowest ids are on different nodes.
func (s Seating) Nodes() []string {
	var names []string
	for k := 0; ; k++ {
		before := len(names)
		for _, seat := range s.Seats {
			if k < seat.Executors {
				names = append(names, seat.Node.Node)
			}
		}
		if len(names) == before {
			return names
		}
	}
}

// Supply is what the seats offer a, without what others have been promised of it.
func (s Seating) Supply(v ledger.View, a *ledger.App) dag.Supply {
	var nodes []string
	for _, seat := range s.Seats {
		nodes = append(nodes, seat.Node.Node)
	}
	return dag.Supply{Cores: s.Cores, Slots: s.Slots, Taken: estimate.Taken(estimate.Promised(v, a, nodes))}
}

// Most is the most executors of a seat.
func (s Seating) Most() int {
	return slices.MaxFunc(s.Seats, func(x, y Seat) int { return x.Executors - y.Executors }).Executors
}

// Seats decides how many executors a, which is not in the ledger yet, gets on each node:
// when it is paced, as many as its DAG has stages that can run side by side, at most
// MaxPool, or fewer if these may take turns; one otherwise. A node gives fewer where its
// memory holds fewer, and none where not even one fits. Its errors have kinds: transient
// where no node takes executors, invalid where an executor fits none.
func (p Policy) Seats(v ledger.View, a *ledger.App) (Seating, error) {
	s, err := p.seating(v, a, p.width(a, 0))
	if err != nil || a.Promise.Mode != ledger.Paced || a.Observed() {
		// An observed application is held back by nothing, so not by turns either.
		return s, err
	}
	shape := p.Shape(a.Profile.Graph, len(s.Seats), a.Promise.Deadline, s.Supply(v, a), a.At(v.Now()))
	perNode := p.PerNode(a.Profile.Graph, shape)
	if slices.ContainsFunc(s.Seats, func(s Seat) bool { return s.Executors > perNode }) {
		s, err = p.seating(v, a, perNode)
	}
	s.PerNode, s.Open = perNode, shape.Open
	return s, err
}

// seating is the one with at most width executors on a node.
func (p Policy) seating(v ledger.View, a *ledger.App, width int) (Seating, error) {
	nodes := v.Live()
	if len(nodes) == 0 {
		return Seating{}, noNode(v)
	}
	launch := &a.Tenant.Launch
	least := leastOffHeap(launch, nodes)
	sized, seats := p.sized(a, nodes, width, least)
	if len(seats) == 0 && !launch.OffHeapFixed && launch.OffHeapFloor == 0 {
		// Without off-heap memory all is on the heap, as in stock Spark.
		least = 0
		sized, seats = p.sized(a, nodes, width, least)
	}
	if len(seats) == 0 {
		largest := slices.MaxFunc(nodes, func(x, y *ledger.Node) int { return cmp.Compare(x.Memory, y.Memory) })
		return Seating{}, api.Errorf(api.KindInvalid, "an executor of %v heap, %v overhead and %v off the heap fits no node: the largest gives %v",
			launch.Heap, launch.Overhead, least, largest.Memory)
	}
	s := Seating{Seats: p.place(v, sized, seats, 0), OffHeap: least}
	s.Cores, s.Slots = extent(s.Seats, *launch)
	return s, nil
}

// leastOffHeap is the least that an executor of launch has off the heap, wherever on nodes
// it runs: one size for all, none where no node says its memory.
func leastOffHeap(launch *api.Launch, nodes []*ledger.Node) units.Bytes {
	if launch.OffHeapFixed {
		return launch.OffHeap
	}
	least := units.Bytes(0)
	for _, n := range nodes {
		if n.Memory > 0 {
			least = max(least, memory.FloorOf(launch, n.Slots(*launch)))
		}
	}
	return least
}

// sized is a with executors of that much off-heap memory, and the seats that nodes have for
// at most width of them. A node that does not say its memory (0) is taken to have enough.
func (p Policy) sized(a *ledger.App, nodes []*ledger.Node, width int, offHeap units.Bytes) (*ledger.App, []Seat) {
	c := *a
	c.Tenant.Launch.OffHeap = offHeap
	var seats []Seat
	for _, n := range nodes {
		if fit := room(n, use(&c), width); fit > 0 {
			seats = append(seats, Seat{Node: n, Executors: fit})
		}
	}
	return &c, seats
}

// noNode says why no node takes executors.
func noNode(v ledger.View) error {
	nodes := v.Nodes()
	switch {
	case slices.ContainsFunc(nodes, func(n *ledger.Node) bool { return n.Here() && n.Foreign }):
		return api.Errorf(api.KindTransient, "the nodes run executors of another planner: see `pacer nodes`")
	case slices.ContainsFunc(nodes, (*ledger.Node).Here):
		return api.Errorf(api.KindTransient, "every node is being drained: see `pacer nodes`")
	}
	return api.Errorf(api.KindTransient, "no node is connected to the planner: start `pacer up` or a node controller")
}

// extent is what the nodes of seats offer to executors started by launch: cores, and
// slots for one stage.
func extent(seats []Seat, launch api.Launch) (cores units.Cores, slots int) {
	for _, s := range seats {
		cores += s.Node.Offered
		slots += s.Node.Slots(launch)
	}
	return cores, slots
}

// width is how many executors a should have on a node, perNode where that is known.
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
// order: all, or those that Order puts first, up to MaxNodes in all.
func (p Policy) place(v ledger.View, a *ledger.App, seats []Seat, taken int) []Seat {
	if p.MaxNodes == 0 {
		return seats
	}
	sites := make([]Site, len(seats))
	for i, s := range seats {
		sites[i] = site(v, a, s.Node, s.Executors)
	}
	var chosen []Seat
	for _, i := range choose(sites, p.MaxNodes-taken, order(p.Order)) {
		chosen = append(chosen, seats[i])
	}
	return chosen
}

// room is how many executors such as use says, at most width, fit n's memory.
func room(n *ledger.Node, use memory.App, width int) int {
	for ; n.Memory > 0 && width > 0; width-- {
		use.Executors = width
		if memory.Pool(n.Memory, []memory.App{use}) >= 0 {
			break
		}
	}
	return width
}

// AllNodes is what an application of one executor on each node would have now, for who
// asks what a deadline would mean.
func (p Policy) AllNodes(v ledger.View) Seating {
	var seats []Seat
	for _, n := range v.Live() {
		seats = append(seats, Seat{Node: n, Executors: 1})
	}
	least := &ledger.App{Tenant: ledger.Tenant{Launch: api.Launch{Overhead: memory.Overhead(0)}}} // Nobody has said its heap.
	s := Seating{Seats: p.place(v, least, seats, 0)}
	s.Cores, s.Slots = extent(s.Seats, api.Launch{})
	return s
}

// Fits is how many executors of a, at most that many, n's memory holds: with the sizes that
// they have, once there are some.
func Fits(n *ledger.Node, a *ledger.App, executors int) int {
	u := use(a)
	u.Fixed = a.Tenant.Launch.OffHeapFixed || len(a.Tenant.Executors) > 0
	return room(n, u, executors)
}
