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

// Ends reports whether anybody knows until when p is.
func (p Promise) Ends() bool { return p.Until < forever }

// forever stands for the end of what nobody knows the end of, in seconds.
const forever units.Seconds = 1e9

// Promised is what others have been promised of the cores of nodes, on a's deadline clock, in
// order of id. Whose deadline can be kept has the least cores with which it is in time, until
// it is due: what of that can come after a's deadline does (postpone). An application that has a reservation has that
// until it is due. An application that is queued has its part of these nodes, where it may come to all nodes. An
// application that is left alone has what it can use, of half of a node, for as long as it runs. The others share what
// is left, so they have been promised nothing.
func (o *Outlook) Promised(a *ledger.App, nodes []string) []Promise {
	offered := make(map[*ledger.App]units.Cores)
	for _, name := range nodes {
		for _, t := range o.View.Allocations(name) {
			if b := t.App; b.Running() && b.ID != a.ID {
				offered[b] += o.available(t, o.View.Node(name))
			}
		}
	}
	var promises []Promise
	for _, b := range slices.SortedFunc(maps.Keys(offered), func(x, y *ledger.App) int {
		return cmp.Compare(x.ID, y.ID)
	}) {
		x := Promise{App: b.ID, Taken: dag.Taken{Cores: offered[b], Until: forever}}
		if !b.Unmanaged() {
			need, soonest := o.needs(b)
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
	return o.postpone(a, nodes, append(promises, o.promisedWaiting(a, nodes)...))
}

// needs is what b, which runs, has been promised of its nodes, 0 for nothing, and how soon it could end at all cores,
// in seconds, 0 where nothing is put off.
func (o *Outlook) needs(b *ledger.App) (cores units.Cores, soonest float64) {
	switch reserved := b.Reserved(); {
	case reserved > 0:
		return reserved, 0
	case b.Band() != api.BandPromised || b.Promise.Late || b.Profile == nil:
		return 0, 0
	}
	x := o.timed(b)
	return x.least, x.fastest
}

// promisedWaiting is what those that are queued have been promised of nodes.
func (o *Outlook) promisedWaiting(a *ledger.App, nodes []string) []Promise {
	if len(o.View.Waiting()) == 0 || len(nodes) == 0 {
		return nil
	}
	var here, all units.Cores
	seen := make(map[string]bool, len(nodes))
	for _, name := range nodes {
		if !seen[name] {
			seen[name] = true
			here += o.View.Offered(name)
		}
	}
	for _, n := range o.View.Nodes() {
		if n.Live() {
			all += n.Offered
		}
	}
	var promises []Promise
	for _, b := range o.View.Waiting() {
		if b.ID == a.ID || b.Band() != api.BandPromised || b.Profile == nil || all <= 0 {
			continue
		}
		c := o.timed(b)
		cores := min(c.least*here/all, here)
		if until := units.FromDuration(b.Instant(b.Promise.Deadline).Sub(a.Promise.Start)); cores > 0 && until > 0 {
			promises = append(promises, Promise{b.ID, dag.Taken{Cores: cores, Until: until}, c.fastest})
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
	case b.Unmanaged():
		cores := min(units.Cores(n.StageSlots(b.Tenant.Launch, len(t.Executors))),
			units.Cores(p.rules().Later.LeftAlone)*n.Offered)
		if most := b.Tenant.Cap; most > 0 {
			cores = min(cores, most)
		}
		return cores
	}
	return t.Cores(n.Offered)
}

// taken are promises as a forecast takes them.
func taken(promises []Promise) []dag.Taken {
	all := make([]dag.Taken, 0, len(promises))
	for _, p := range promises {
		all = append(all, p.Taken)
	}
	return all
}

// supply is what a's nodes offer it: without what others have been promised, unless it has
// been promised something itself.
func (o *Outlook) supply(a *ledger.App) dag.Supply {
	s := dag.Supply{Cores: a.Tenant.Cores, Slots: a.Tenant.Slots}
	nodes, capped := a.Seats(), units.Cores(0)
	for _, name := range nodes {
		capped += min(o.View.Offered(name), a.Tenant.Cap)
	}
	if a.Tenant.Cap > 0 {
		s.Cores = min(s.Cores, capped)
	}
	if a.Promise.Deadline <= 0 || a.Band() == api.BandPromised {
		return s
	}
	s.Taken = taken(o.Promised(a, nodes))
	return s
}
