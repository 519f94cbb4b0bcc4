package ledger

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// Seats is what an application starts with: an executor on each node, for each name in their order.
type Seats struct {
	Nodes []string
	// OffHeap is what an executor has off the heap.
	OffHeap units.Bytes
	// Cores, Slots and PerNode are the Tenant's. Cap is the most cores of a node, 0 for no cap.
	Cores   units.Cores
	Slots   int
	PerNode int
	Cap     units.Cores
	// Lent says that the memory of executors is lent.
	Lent bool
	// Driver is the node that runs its driver, "" for one that runs elsewhere; Group are those of its core components in
	// order.
	Driver string
	Group  []string
}

// errAttached is why an application has no seats.
var errAttached = errors.New("another cluster manager starts its executors, no node does")

// check says what cannot be of a, which starts with s: seats that are none, that do not fit the
// memory of their nodes beside all others, or that make the Plan of a node too large for the bus, so
// that the node would hear of nothing any more.
func (s *Seats) check(l *Ledger, a *App) error {
	if a.Tenant.Launch.Attach != nil {
		return errAttached
	}
	if err := amounts("cores, slots, executors or a cap", float64(s.Cores), float64(s.Slots), float64(s.PerNode),
		float64(s.Cap), float64(s.OffHeap)); err != nil {
		return err
	}
	claim := a.Tenant.Claim() - a.Tenant.Launch.OffHeap + s.OffHeap
	if !a.Tenant.Nodes.Lone() || len(s.Nodes) > 0 {
		if err := checkRoom(l, a, claim, s.Nodes, s.Lent); err != nil {
			return err
		}
	}
	if err := s.checkLodging(l, a, claim); err != nil {
		return err
	}
	for _, node := range slices.Concat(s.Nodes, s.Group, []string{s.Driver}) {
		if n := l.nodes[node]; n != nil && !Tells(&a.Tenant.Launch, a, n, l.View()) {
			return fmt.Errorf("the plan of node %s does not hold the launch of %s", node, a.ID)
		}
	}
	return nil
}

// checkLodging says why nodes do not hold a's driver and components beside executors of a that claim so much each.
func (s *Seats) checkLodging(l *Ledger, a *App, claim units.Bytes) error {
	wanted, core := map[string]units.Bytes{}, []units.Bytes(nil)
	if a.Tenant.Nodes.Group != nil {
		core = a.Tenant.Nodes.Group.Core
	}
	if len(core) != len(s.Group) {
		return fmt.Errorf("%d components of %s have seats, of %d", len(s.Group), a.ID, len(core))
	}
	for i, node := range s.Group {
		wanted[node] += core[i]
	}
	if s.Driver != "" {
		wanted[s.Driver] += a.Tenant.Nodes.Driver
	}
	for _, node := range slices.Sorted(maps.Keys(wanted)) {
		n, bytes := l.nodes[node], wanted[node]
		if n == nil || !n.Live() {
			return fmt.Errorf("node %s takes no components", node)
		}
		for _, seat := range s.Nodes {
			if seat == node {
				bytes += claim
			}
		}
		if free := l.View().Free(n); bytes > free {
			return fmt.Errorf("what runs of %s on node %s beside its executors, and these, needs %v, and %v are left there",
				a.ID, node, bytes, max(0, free))
		}
	}
	return nil
}

// take gives a, which runs, what it starts with: check has said that it can be.
func (s *Seats) take(l *Ledger, a *App) {
	t := &a.Tenant
	t.Cores, t.Slots, t.PerNode, t.Launch.OffHeap = s.Cores, s.Slots, s.PerNode, s.OffHeap
	t.Began = max(0, a.At(l.now))
	t.count(t.Owner.Seen)
	if s.Cap != t.Cap {
		t.Cap, t.Resized = s.Cap, true
	}
	for _, node := range s.Nodes {
		l.add(a, node, s.Lent)
	}
	t.Pool += len(s.Nodes)
}
