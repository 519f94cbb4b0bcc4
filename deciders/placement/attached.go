package placement

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Attached is what an application has whose executors another cluster manager starts, if that gives it so many. The
// nodes of these executors are not known: each node that attaches has its part of them.
func Attached(v ledger.View, t *ledger.Tenant, executors int) Seating {
	slots := executors * max(1, t.Launch.Cores)
	s := Seating{PerNode: 1, OffHeap: t.Launch.OffHeap, Cores: units.Cores(slots), Slots: slots}
	nodes := attaching(v)
	var offered units.Cores
	for i, n := range nodes {
		offered += n.Offered
		some := (executors + len(nodes) - 1 - i) / len(nodes)
		if some > 0 {
			s.Seats = append(s.Seats, Seat{Node: n, Executors: some, PerStage: some})
		}
	}
	if len(nodes) > 0 {
		s.Cores = min(s.Cores, offered)
	}
	return s
}

// MostAttached is how many executors an application asks another cluster manager for at most: as its user wants or,
// without a bound of that kind, as many as fill the nodes that attach.
func MostAttached(v ledger.View, t *ledger.Tenant) int {
	attach := t.Launch.Attach
	if attach.Most > 0 {
		return attach.Most
	}
	most := 0
	for _, n := range attaching(v) {
		most += max(1, int(n.Offered)/max(1, t.Launch.Cores))
	}
	return max(1, attach.Least, most)
}

// Attachable are the cores of the nodes that attach, 0 where there are none.
func Attachable(v ledger.View) (cores units.Cores) {
	for _, n := range attaching(v) {
		cores += n.Offered
	}
	return cores
}

// Spare are the nodes that attach, those first that offer most beside what executors there can use.
func Spare(v ledger.View) []*ledger.Node {
	nodes, free := attaching(v), make(map[*ledger.Node]units.Cores)
	for _, n := range nodes {
		free[n] = n.Offered
		for _, t := range v.Allocations(n.Node) {
			free[n] -= t.Cores(n.Offered)
		}
	}
	slices.SortStableFunc(nodes, func(x, y *ledger.Node) int { return cmp.Compare(free[y], free[x]) })
	return nodes
}

// attaching are the nodes on which executors of other cluster managers are found.
func attaching(v ledger.View) (nodes []*ledger.Node) {
	for _, n := range v.Nodes() {
		if n.Attaches() && n.Here() && !n.Draining() {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// extentAttached is Extent of an application whose executors another cluster manager starts: what these can use, those
// counted that run on no node.
func extentAttached(v ledger.View, a *ledger.App) (cores units.Cores, slots int) {
	for _, name := range a.Seats() {
		cores += v.Allocation(a, name).Cores(v.Offered(name))
	}
	for _, x := range a.Alive() {
		if x.Leaving {
			continue
		}
		slots += max(1, x.Attached.Cores)
		if x.Node == "" {
			cores += a.Tenant.MostOf(x, 0)
		}
	}
	return cores, slots
}
