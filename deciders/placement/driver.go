package placement

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// beside gives a's driver, if a node is to run that, a node, and executors what room that leaves: both, or nothing. The
// driver goes where it costs the fewest executors, and of such nodes to the one with the most room.
func beside(v ledger.View, a *ledger.App, room Room, seat func(Room) (Seating, error)) (Seating, error) {
	memory := a.Tenant.Nodes.Driver
	if memory == 0 || len(a.Tenant.Executors) > 0 {
		return seat(room)
	}
	all, err := seat(room)
	if err != nil {
		return all, err
	}
	nodes := v.Live()
	holds := slices.DeleteFunc(slices.Clone(nodes), func(n *ledger.Node) bool { return room(n) < memory })
	slices.SortStableFunc(holds, func(x, y *ledger.Node) int { return cmp.Compare(room(y), room(x)) })
	var best Seating
	err = noDriver(v, nodes, memory, room)
	for _, n := range holds {
		s, missed := seat(func(m *ledger.Node) units.Bytes {
			if m == n {
				return room(m) - memory
			}
			return room(m)
		})
		if err = cmp.Or(err, missed); missed != nil {
			continue
		}
		if s.Driver = n.Node; best.Driver == "" || len(s.Nodes()) > len(best.Nodes()) {
			best = s
		}
		if len(best.Nodes()) >= len(all.Nodes()) {
			break
		}
	}
	if best.Driver != "" {
		return best, nil
	}
	return Seating{}, err
}

// noDriver says why no node that takes executors has room for a driver, nil where one has.
func noDriver(v ledger.View, nodes []*ledger.Node, memory units.Bytes, room Room) error {
	if slices.ContainsFunc(nodes, func(n *ledger.Node) bool { return room(n) >= memory }) {
		return nil
	}
	most := slices.MaxFunc(nodes, func(x, y *ledger.Node) int { return cmp.Compare(Whole(x), Whole(y)) })
	switch {
	case Whole(most) >= memory:
		return api.Errorf(api.KindConflict, "a driver of %s (spark.driver.memory and its overhead) fits no node now",
			memory.Words())
	case slices.ContainsFunc(v.Nodes(), func(n *ledger.Node) bool { return Whole(n) >= memory && !n.Draining() }):
		return api.Errorf(api.KindTransient, "a driver of %s fits no node that is here, and one that is away", memory.Words())
	}
	return api.Errorf(api.KindInvalid,
		"a driver of %s (spark.driver.memory and its overhead) fits no node: the largest, %s, gives %s", memory.Words(),
		most.Node, Whole(most).Words())
}
