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

// lodge gives core components of a nodes, if it has some and does not run, and all else the room that these leave: all,
// or nothing. The largest come first, each where most memory is left; where that fails, where least is.
func lodge(v ledger.View, a *ledger.App, room Room, rest func(Room) (Seating, error)) (Seating, error) {
	g := a.Tenant.Nodes.Group
	if g == nil || len(a.Tenant.Executors) > 0 {
		return rest(room)
	}
	var why error
	for _, tight := range []bool{false, true} {
		nodes, taken := pack(v.Live(), g.Core, room, tight)
		if nodes == nil {
			continue
		}
		s, err := rest(func(n *ledger.Node) units.Bytes { return room(n) - taken[n.Node] })
		if s.Group = nodes; err == nil {
			return s, nil
		}
		why = cmp.Or(why, err)
	}
	return Seating{}, cmp.Or(why, noPlace(v, g.Core))
}

// pack is a node for each of so many programs, nil where they do not fit side by side, and what they take of nodes.
func pack(nodes []*ledger.Node, sizes []units.Bytes, room Room, tight bool) (on []string,
	taken map[string]units.Bytes) {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(sizes[y], sizes[x]) })
	on, taken = make([]string, len(sizes)), map[string]units.Bytes{}
	for _, i := range order {
		var best *ledger.Node
		var left units.Bytes
		for _, n := range nodes {
			here := room(n) - taken[n.Node]
			if here >= sizes[i] && (best == nil || (here > left) != tight && here != left) {
				best, left = n, here
			}
		}
		if best == nil {
			return nil, nil
		}
		on[i] = best.Node
		taken[best.Node] += sizes[i]
	}
	return on, taken
}

// noPlace says why nodes do not hold core components of those sizes.
func noPlace(v ledger.View, sizes []units.Bytes) error {
	fit := func(nodes []*ledger.Node) bool {
		spread, _ := pack(nodes, sizes, Whole, false)
		tight, _ := pack(nodes, sizes, Whole, true)
		return spread != nil || tight != nil
	}
	var most, sum, all units.Bytes
	for _, size := range sizes {
		most, all = max(most, size), all+size
	}
	live := v.Live()
	if len(live) == 0 {
		return noNode(v)
	}
	largest := slices.MaxFunc(live, func(x, y *ledger.Node) int { return cmp.Compare(Whole(x), Whole(y)) })
	for _, n := range live {
		sum += Whole(n)
	}
	stay := slices.DeleteFunc(slices.Clone(v.Nodes()), (*ledger.Node).Draining)
	switch {
	case fit(live):
		return api.Errorf(api.KindConflict, "the %d core components, of %s together, do not fit the nodes now", len(sizes),
			all.Words())
	case fit(stay):
		return api.Errorf(api.KindTransient, "the %d core components fit the nodes only with those that are away", len(sizes))
	case most > Whole(largest):
		return api.Errorf(api.KindInvalid, "components: memory: a core one of %s fits no node: the largest, %s, gives %s",
			most.Words(), largest.Node, Whole(largest).Words())
	}
	return api.Errorf(api.KindInvalid, "components: count: %d core ones, of %s together, do not fit the nodes side by "+
		"side: these give %s", len(sizes), all.Words(), sum.Words())
}
