package placement

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/sparkpacer/pacer/deciders/devices"
	"github.com/sparkpacer/pacer/ledger"
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
	// Room is all of its memory.
	Room units.Bytes
	// Norm is that of prophet, 0 where nothing is known; Packs and Dot are of tetris. They are made where the order
	// asks for them.
	Norm  float64
	Packs bool
	Dot   float64
}

// share is what each application on s would have of its cores, with one more.
func (s *Site) share() units.Cores { return s.Offered / units.Cores(s.Apps+1) }

// fits reports whether the executors that would come fit beside the others.
func (s *Site) fits() bool { return s.Needed <= s.Free }

// An Order puts the better of two sites first. It is total: names decide between equals.
type Order func(a, b *Site) int

// comers are executors that are to be placed: what their application's stages want of each of its nodes, and how the
// node of a site is loaded.
type comers struct {
	uses []devices.Use
	load func(site int) devices.Load
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

// choose chooses at most that many of n sites, those that order puts first, and returns their indices in rising order.
// It is pure: the choice depends on what the sites are, not on their order. Names must differ. It keeps the best sites
// so far alone: a cluster has thousands, and few get in.
func choose(n, most int, site func(i int) Site, order Order) []int {
	type placed struct {
		Site
		i int
	}
	best, next := make([]placed, 0, min(n, most)), placed{}
	for next.i = range n {
		next.Site = site(next.i)
		if len(best) == most {
			if order(&best[most-1].Site, &next.Site) <= 0 {
				continue
			}
			best = best[:most-1]
		}
		at := sort.Search(len(best), func(k int) bool { return order(&next.Site, &best[k].Site) < 0 })
		best = slices.Insert(best, at, next)
	}
	chosen := make([]int, 0, len(best))
	for i := range best {
		chosen = append(chosen, best[i].i)
	}
	slices.Sort(chosen)
	return chosen
}

// byName is what decides between equals.
func byName(a, b *Site) int { return strings.Compare(a.Name, b.Name) }

// site is n for executors that take so much of its memory.
func site(v ledger.View, n *ledger.Node, needed units.Bytes) Site {
	s := Site{Name: n.Node, Offered: n.Offered, Free: v.Free(n), Needed: needed, Room: n.Room()}
	for _, t := range n.Tenants() {
		if t.App.Running() {
			s.Apps++
		}
	}
	return s
}

// leastCommitted is worst-fit (spreading) by application, as cluster schedulers know it:
// memory that fits, then more cores for each application, then more memory left. Each
// application counts alike, because what it will ask for is its controllers' answer to a
// deadline, which nobody knows when it comes.
func leastCommitted(a, b *Site) int {
	by := cmp.Or(fitting(a, b), cmp.Compare(b.share(), a.share()), cmp.Compare(b.Free-b.Needed, a.Free-a.Needed))
	if by != 0 {
		return by // Most differ before their names are looked at.
	}
	return byName(a, b)
}
