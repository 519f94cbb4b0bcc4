package estimate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Promise is what an application has of cores that another one would like.
type Promise struct {
	App api.AppID
	dag.Taken
	// fastest is how soon App could end at all cores, in seconds, 0 where nothing is put off.
	fastest float64
}

// forever stands for the end of what nobody knows the end of, in seconds.
const forever units.Seconds = 1e9

// Promised is what others have been promised of the cores of nodes, on a's deadline clock, in
// order of id. Whose deadline can be kept has the least cores with which it is in time, until
// it is due: what of that can come after a's deadline does (postpone). One that has a reservation
// has that until it is due. One that is queued has
// its part of these nodes, where it may come to all nodes. One that is left alone has what it
// can use, of half of a node, for as long as it runs. The others share what is left, so they
// have been promised nothing.
func (p Policy) Promised(v ledger.View, a *ledger.App, nodes []string) []Promise {
	offered := make(map[*ledger.App]units.Cores)
	for _, name := range nodes {
		for _, t := range v.Allocations(name) {
			if b := t.App; b.Running() && b.ID != a.ID {
				offered[b] += p.available(t, v.Node(name))
			}
		}
	}
	var promises []Promise
	for _, b := range slices.SortedFunc(maps.Keys(offered), func(x, y *ledger.App) int {
		return cmp.Compare(x.ID, y.ID)
	}) {
		x := Promise{App: b.ID, Taken: dag.Taken{Cores: offered[b], Until: forever}}
		if !b.Tenant.Launch.Mode.Unmanaged() {
			need, soonest := needs(v.Now(), b)
			if need <= 0 || b.Tenant.Cores <= 0 {
				continue
			}
			x.Cores, x.fastest = min(need*offered[b]/b.Tenant.Cores, offered[b]), soonest
			x.Until = units.FromDuration(b.Instant(b.Promise.Deadline).Sub(a.Promise.Start))
		}
		if x.Cores > 0 {
			promises = append(promises, x)
		}
	}
	return p.postpone(v, a, nodes, append(promises, p.promisedWaiting(v, a, nodes)...))
}

// needs is what b, which runs, has been promised of its nodes, 0 for nothing, and how soon it could end at all cores,
// in seconds, 0 where nothing is put off.
func needs(now units.Instant, b *ledger.App) (cores units.Cores, soonest float64) {
	switch reserved := b.Reservation.Held(); {
	case reserved > 0:
		return reserved, 0
	case b.Band() != api.BandPromised || b.Promise.Late || b.Profile == nil:
		return 0, 0
	}
	c := CourseOf(b)
	return Least(now, b, c), fastest(b, c)
}

// promisedWaiting is what those that are queued have been promised of nodes.
func (p Policy) promisedWaiting(v ledger.View, a *ledger.App, nodes []string) []Promise {
	if len(v.Waiting()) == 0 || len(nodes) == 0 {
		return nil
	}
	var here, all units.Cores
	seen := make(map[string]bool, len(nodes))
	for _, name := range nodes {
		if !seen[name] {
			seen[name] = true
			here += v.Offered(name)
		}
	}
	for _, n := range v.Nodes() {
		if n.Live() {
			all += n.Offered
		}
	}
	var promises []Promise
	for _, b := range v.Waiting() {
		if b.ID == a.ID || b.Band() != api.BandPromised || b.Profile == nil || all <= 0 {
			continue
		}
		c := CourseOf(b)
		cores := min(Least(v.Now(), b, c)*here/all, here)
		if until := units.FromDuration(b.Instant(b.Promise.Deadline).Sub(a.Promise.Start)); cores > 0 && until > 0 {
			promises = append(promises, Promise{b.ID, dag.Taken{Cores: cores, Until: until}, fastest(b, c)})
		}
	}
	return promises
}

// available is what t's application can have of its node, n.
func (p Policy) available(t *ledger.Allocation, n *ledger.Node) units.Cores {
	b := t.App
	switch {
	case n == nil:
		return 0
	case b.Tenant.Launch.Mode.Unmanaged():
		cores := min(units.Cores(n.StageSlots(b.Tenant.Launch, len(t.Executors))),
			units.Cores(p.rules().Later.LeftAlone)*n.Offered)
		if most := b.Tenant.Cap; most > 0 {
			cores = min(cores, most)
		}
		return cores
	}
	return n.Offered
}

// Taken are promises as a forecast takes them.
func Taken(promises []Promise) []dag.Taken {
	taken := make([]dag.Taken, 0, len(promises))
	for _, p := range promises {
		taken = append(taken, p.Taken)
	}
	return taken
}

// supply is what a's nodes offer it: without what others have been promised, unless it has
// been promised something itself.
func (p Policy) supply(v ledger.View, a *ledger.App) dag.Supply {
	s := dag.Supply{Cores: a.Tenant.Cores, Slots: a.Tenant.Slots}
	nodes, capped := a.Seats(), units.Cores(0)
	for _, name := range nodes {
		capped += min(v.Offered(name), a.Tenant.Cap)
	}
	if a.Tenant.Cap > 0 {
		s.Cores = min(s.Cores, capped)
	}
	if a.Promise.Deadline <= 0 || a.Band() == api.BandPromised {
		return s
	}
	s.Taken = Taken(p.Promised(v, a, nodes))
	return s
}
