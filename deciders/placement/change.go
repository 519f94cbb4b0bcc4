package placement

import (
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Replacement is the node for an executor of a that ran on the named one, whose memory is kept for it. It is that node
// or, if it takes no executors or gives less memory than is taken there, the node with the fewest of a's executors that
// has room; nil while there is none.
func (p Policy) Replacement(o *estimate.Outlook, a *ledger.App, name string) *ledger.Node {
	v := o.View
	if n := v.Node(name); n != nil && n.Live() && p.Left(v, n, a) >= 0 {
		return n
	}
	count := make(map[string]int)
	for _, x := range a.Alive() {
		count[x.Node]++
	}
	most := p.Most(a)
	bound := most > 0 && spread(v, a, name) >= most
	nodes := slices.DeleteFunc(v.Live(), func(n *ledger.Node) bool {
		return bound && count[n.Node] == 0 || p.Left(v, n, a) < a.Tenant.Claim()
	})
	if len(nodes) == 0 {
		return nil
	}
	if most == 0 {
		return slices.MinFunc(nodes, func(x, y *ledger.Node) int { return count[x.Node] - count[y.Node] })
	}
	nodes = fewest(nodes, count)
	seats := make([]Seat, len(nodes))
	for i, n := range nodes {
		seats[i] = Seat{Node: n, Executors: 1}
	}
	return p.place(o, a, 1, a.Tenant.Claim(), seats)[0].Node
}

// fewest are the nodes of which the count is least.
func fewest(nodes []*ledger.Node, count map[string]int) []*ledger.Node {
	least := slices.MinFunc(nodes, func(x, y *ledger.Node) int { return count[x.Node] - count[y.Node] })
	return slices.DeleteFunc(nodes, func(n *ledger.Node) bool { return count[n.Node] > count[least.Node] })
}

// Growth are the seats on live nodes where a has no executors, or fewer than fill the node for one
// stage: nodes that have come since it registered, or whose memory was taken then. They have as many
// as it would have got there then; nothing is taken of a node whose memory is kept for one that
// waits. crowded says that others' take the memory of some node.
func (p Policy) Growth(o *estimate.Outlook, a *ledger.App) (seats []ledger.Lever, crowded bool) {
	v, most, more := o.View, p.Most(a), true
	if most > 0 {
		most -= spread(v, a, "")
		more = most > 0
	}
	kept := make(map[string]bool)
	given := waiting.Given(v)
	for _, b := range v.Waiting() {
		kept[waiting.Of(b).Node] = true
		if len(given[b.ID]) > 0 {
			p.spare(v, b, given[b.ID], kept)
		}
	}
	var free, filling []Seat
	launch, width := &a.Tenant.Launch, width(o, a, a.Tenant.PerNode)
	nodes := v.Nodes()
	if !more {
		nodes = held(v, a)
	}
	for _, n := range nodes {
		if !n.Live() || slices.Contains(a.Tenant.Pending, n.Node) {
			continue
		}
		if v.Allocation(a, n.Node).Stays() {
			lacks, fit := lacks(a, n), 0
			if lacks > 0 && !kept[n.Node] {
				fit = fits(launch, p.Left(v, n, a), lacks)
			}
			if fit > 0 {
				filling = append(filling, Seat{Node: n, Executors: fit})
			}
			crowded = crowded || fit < lacks
			continue
		}
		if !more {
			continue // All its executors there leave.
		}
		if s := seat(launch, n, p.Left(v, n, a), width); s.Executors > 0 && !kept[n.Node] {
			free = append(free, s)
		} else {
			crowded = crowded || fits(launch, n.Room(), 1) > 0
		}
	}
	for _, s := range slices.Concat(filling, p.place(o, a, most, launch.Claim(), free)) {
		seats = append(seats, ledger.Seated{App: a.ID, Nodes: slices.Repeat([]string{s.Node.Node}, s.Executors),
			Lent: p.Borrows(a)})
	}
	return seats, crowded
}

// held are the nodes on which a has executors, in order of name.
func held(v ledger.View, a *ledger.App) (nodes []*ledger.Node) {
	for _, x := range a.Alive() {
		if n := v.Node(x.Node); n != nil {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(x, y *ledger.Node) int { return strings.Compare(x.Node, y.Node) })
	return slices.Compact(nodes)
}

// spare adds the nodes that a, which waits for executors of others to leave, gets then: where they leave, and where it
// fits already.
func (p Policy) spare(v ledger.View, a *ledger.App, given []waiting.Giving, kept map[string]bool) {
	for _, g := range given {
		kept[g.Executor().Node] = true
	}
	for _, n := range v.Nodes() {
		if p.Left(v, n, a) >= a.Tenant.Claim() {
			kept[n.Node] = true
		}
	}
}

// lacks is how many executors a, which has some on n, misses there to fill it with one stage. Where its
// user's memory is bound it has what it was given.
func lacks(a *ledger.App, n *ledger.Node) int {
	if a.Tenant.Launch.Bounded {
		return 0
	}
	lacks := n.PerStage(a.Tenant.Launch)
	for _, x := range a.Alive() {
		if x.Node == n.Node && !x.Leaving {
			lacks--
		}
	}
	return max(0, lacks)
}

// spread is how many nodes a is on or waits for, but for gone. Nodes that drain are not counted: it is to have others
// in their place.
func spread(v ledger.View, a *ledger.App, gone string) int {
	names := make(map[string]bool)
	for _, x := range a.Alive() {
		if n := v.Node(x.Node); !x.Leaving && (n == nil || !n.Draining()) {
			names[x.Node] = true
		}
	}
	for _, name := range a.Tenant.Pending {
		if name != "" && name != gone {
			names[name] = true
		}
	}
	return len(names)
}

// Vacate asks the executors on nodes that drain to go, of applications that may leave these.
func Vacate(v ledger.View) (levers []ledger.Lever) {
	for _, n := range v.Draining() {
		for a := range v.Running() {
			if !v.Allocation(a, n.Node).Stays() || !vacates(v, a) {
				continue
			}
			for _, x := range a.Alive() {
				if x.Node == n.Node && !x.Leaving {
					levers = append(levers, ledger.ExecutorLeaving{App: a.ID, ID: x.ID})
				}
			}
		}
	}
	return levers
}

// vacates reports whether a's executors are to leave nodes that drain: all of them
// together and only once it has others to go on with, so that nothing is lost and
// nothing waits.
func vacates(v ledger.View, a *ledger.App) bool {
	return slices.ContainsFunc(a.Alive(), func(x *ledger.Executor) bool {
		n := v.Node(x.Node)
		return x.Registered && !x.Leaving && n != nil && n.Live()
	})
}

// Extent is what the nodes offer that a has executors on which stay.
func Extent(v ledger.View, a *ledger.App) (cores units.Cores, slots int) {
	if a.Tenant.Launch.Attach != nil {
		return extentAttached(v, a)
	}
	count := make(map[string]int)
	for _, x := range a.Alive() {
		if n := v.Node(x.Node); n != nil && !x.Leaving {
			if count[x.Node]++; count[x.Node] == 1 {
				cores += n.Offered
			}
			if count[x.Node] <= n.PerStage(a.Tenant.Launch) {
				slots += n.Slots(a.Tenant.Launch)
			}
		}
	}
	return cores, slots
}
