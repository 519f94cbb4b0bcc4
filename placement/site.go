package placement

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/units"
)

// Site is a node as an Order sees it: what an application that came would find there.
type Site struct {
	Name    string
	Offered units.Cores
	// Apps are the running applications that have executors there, Free is the
	// memory that they leave, negative when they may want more than there is, and
	// Needed what the application that comes would add.
	Apps         int
	Free, Needed units.Bytes
}

// share is what each application on s would have of its cores, with one more.
func (s *Site) share() units.Cores { return s.Offered / units.Cores(s.Apps+1) }

// fits reports whether the executors that would come fit beside the others.
func (s *Site) fits() bool { return s.Needed <= s.Free }

// Values of Policy.Order.
const (
	LeastCommitted = "least-committed"
	MostMemory     = "most-memory"
)

// An Order puts the better of two sites first. It is total: names decide between equals.
type Order func(a, b *Site) int

// orders is the table of the orders.
func orders() []struct {
	name  string
	order Order
} {
	return []struct {
		name  string
		order Order
	}{
		{LeastCommitted, leastCommitted},
		{MostMemory, mostMemory},
	}
}

// Orders are the values of Policy.Order.
func Orders() []string {
	var names []string
	for _, o := range orders() {
		names = append(names, o.name)
	}
	return names
}

// order is the one of that name, the first of the table for one that is not known.
func order(name string) Order {
	for _, o := range orders() {
		if o.name == name {
			return o.order
		}
	}
	return orders()[0].order
}

// fitting puts sites first whose memory holds the new executors beside the others'.
func fitting(a, b *Site) int {
	switch {
	case a.fits() == b.fits():
		return 0
	case a.fits():
		return -1
	}
	return 1
}

// choose chooses at most that many of sites, those that order puts first, and returns
// their indices in rising order; 0 chooses all. It is pure: the choice depends on what the
// sites are, not on their order. Names must differ.
func choose(sites []Site, most int, order Order) []int {
	chosen := make([]int, len(sites))
	for i := range chosen {
		chosen[i] = i
	}
	if most == 0 || most >= len(sites) {
		return chosen
	}
	slices.SortFunc(chosen, func(i, j int) int { return order(&sites[i], &sites[j]) })
	chosen = chosen[:most]
	slices.Sort(chosen)
	return chosen
}

// byName is what decides between equals.
func byName(a, b *Site) int { return strings.Compare(a.Name, b.Name) }

// site is n for so many executors of a.
func site(v ledger.View, a *ledger.App, n *ledger.Node, executors int) Site {
	s := Site{Name: n.Node, Offered: n.Offered, Free: n.Memory}
	if n.Memory == 0 {
		// It does not say: taken to have enough.
		s.Free = unsaid
	}
	for _, t := range v.Allocations(n.Node) {
		if t.App.Running() {
			s.Apps++
			s.Free -= claim(t.App, len(t.Executors))
		}
	}
	s.Needed = claim(a, executors)
	return s
}

// unsaid stands for the memory of a node that does not say what it has.
const unsaid = units.Bytes(1 << 60)

// claim is the memory that so many executors of a may take.
func claim(a *ledger.App, executors int) units.Bytes {
	u := use(a)
	u.Executors = executors
	return u.Static()
}

// use is an executor of a as package memory sees it, with the sizes that it has
// already. How many there are is for the caller to say.
func use(a *ledger.App) memory.App {
	l := &a.Tenant.Launch
	return memory.App{ID: a.ID, Heap: l.Heap, Overhead: l.Overhead, Fixed: true, OffHeap: l.OffHeap}
}

// leastCommitted is worst-fit (spreading) by application, as cluster schedulers know it:
// memory that fits, then more cores for each application, then more memory left. Each
// application counts alike, because what it will ask for is its controllers' answer to a
// deadline, which nobody knows when it comes.
func leastCommitted(a, b *Site) int {
	return cmp.Or(fitting(a, b), cmp.Compare(b.share(), a.share()), cmp.Compare(b.Free-b.Needed, a.Free-a.Needed), byName(a, b))
}
