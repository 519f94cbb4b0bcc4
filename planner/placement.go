package planner

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// site is a node as placement sees it: what an application that came would find
// there.
type site struct {
	name    string
	offered units.Cores
	// apps are the running applications that have executors there, free is the
	// memory that they leave, negative when they may want more than there is, and
	// needed what the application that comes would add.
	apps         int
	free, needed units.Bytes
}

// share is what each application on s would have of its cores, with one more.
func (s *site) share() units.Cores { return s.offered / units.Cores(s.apps+1) }

// fits reports whether the executors that would come fit beside the others.
func (s *site) fits() bool { return s.needed <= s.free }

// compareSites puts the less committed of two nodes first: one whose memory holds
// the new executors beside the others', then the one with more cores for each
// application, then the one with more memory left. Names decide between equals,
// so that the order is total.
func compareSites(a, b *site) int {
	if a.fits() != b.fits() {
		if a.fits() {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.share(), a.share()), cmp.Compare(b.free-b.needed, a.free-a.needed), cmp.Compare(a.name, b.name))
}

// leastCommitted chooses at most that many of sites, those that compareSites puts
// first, and returns their indices in rising order; 0 chooses all. It is pure: the
// choice depends on what the sites are, not on their order. Names must differ.
//
// It is worst-fit (spreading) by application, as cluster schedulers know it: each
// application counts alike, because what it will ask for is its controllers'
// answer to a deadline, which nobody knows when it comes.
func leastCommitted(sites []site, most int) []int {
	chosen := make([]int, len(sites))
	for i := range chosen {
		chosen[i] = i
	}
	if most == 0 || most >= len(sites) {
		return chosen
	}
	slices.SortFunc(chosen, func(i, j int) int { return compareSites(&sites[i], &sites[j]) })
	chosen = chosen[:most]
	slices.Sort(chosen)
	return chosen
}
