package placement

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/units"
)

// Seat is the room that an application gets on one node.
type Seat struct {
	Node      *ledger.Node
	Executors int
	// PerStage is how many of them one stage has, 0 for one.
	PerStage int
}

// Seating is what an application that comes gets.
type Seating struct {
	Seats []Seat
	// PerNode is how many of its stages can run side by side, 0 where that is not asked: unless
	// it is paced and held back; Open says that its deadline leaves no room for turns.
	PerNode int
	Open    bool
	// OffHeap is what each executor has off the heap at its start (memory.FloorOf), and may
	// claim for as long as it runs; 0 where no node has room for that.
	OffHeap units.Bytes
	// Lent says that the memory of the executors is lent.
	Lent bool
	// Cores and Slots are what its nodes offer it.
	Cores units.Cores
	Slots int
	// Driver is the node of its driver, "" where none of them runs that, Group are those of its core components in order.
	Driver string
	Group  []string
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

// On names each node that runs something of it, once.
func (s Seating) On() []string {
	on := slices.Clone(s.Group)
	if s.Driver != "" {
		on = append(on, s.Driver)
	}
	for _, seat := range s.Seats {
		on = append(on, seat.Node.Node)
	}
	slices.Sort(on)
	return slices.Compact(on)
}

// Within is s with at most so many executors, started by launch: of those that fill a node, fewer where most
// are, one on each node at least.
func (s Seating) Within(executors int, launch api.Launch) Seating {
	s.Seats = slices.Clone(s.Seats)
	for all := len(s.Nodes()); all > executors; all-- {
		most := &s.Seats[0]
		for i := range s.Seats {
			if s.Seats[i].Executors > most.Executors {
				most = &s.Seats[i]
			}
		}
		if most.Executors == 1 || most.PerStage <= 1 {
			break
		}
		most.Executors--
	}
	s.Cores, s.Slots = extent(s.Seats, launch)
	return s
}

// Case is a on the seats of s.
func (s Seating) Case(o *estimate.Outlook, a *ledger.App) estimate.Case {
	return o.With(a, s.Nodes(), dag.Supply{Cores: s.Cores, Slots: s.Slots})
}

// Abreast is how many stages can run side by side on the seat that has room for most.
func (s Seating) Abreast() int {
	most := 1
	for _, seat := range s.Seats {
		most = max(most, seat.Executors/max(1, seat.PerStage))
	}
	return most
}

// Executors is how many of its executors one stage has.
func (s Seating) Executors() (all int) {
	for _, seat := range s.Seats {
		all += min(max(1, seat.PerStage), seat.Executors)
	}
	return all
}

// extent is what the nodes of seats offer to executors started by launch: cores, and
// slots for one stage.
func extent(seats []Seat, launch api.Launch) (cores units.Cores, slots int) {
	for _, s := range seats {
		cores += s.Node.Offered
		slots += s.Node.StageSlots(launch, s.Executors)
	}
	return cores, slots
}

// AllNodes is what a would have now with one executor on each node, for who asks what a deadline would mean. Nodes
// that sleep are among them: they wake for one that would be late.
func (p Policy) AllNodes(o *estimate.Outlook, a *ledger.App) Seating {
	v, seats := o.View, []Seat(nil)
	for _, n := range v.Nodes() {
		if n.Live() || Wakes(n) {
			seats = append(seats, Seat{Node: n, Executors: 1, PerStage: 1})
		}
	}
	s := Seating{Seats: p.place(o, a, p.MaxNodes, memory.Overhead(0), seats)} // Its heap is not known.
	s.Cores, s.Slots = extent(s.Seats, api.Launch{})
	return s
}
