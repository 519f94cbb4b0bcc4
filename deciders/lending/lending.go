package lending

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/memory/forecast"
	"github.com/sparkpacer/pacer/units"
)

// Off is the value of planner.lend by which nothing is lent.
const Off = "off"

// Params say how memory is lent.
type Params struct {
	// By is the forecast of what executors leave of their memory, one of Modes.
	By string
	// Every is the time between two samples of what they use.
	Every time.Duration
}

// Modes are the values of planner.lend: nothing is lent, or what a forecast of that name leaves.
func Modes() []string { return append([]string{Off}, forecast.Names()...) }

// Borrows reports whether executors that a gets now are lent their memory.
func Borrows(a *ledger.App) bool {
	return a.Promise.MayBorrow(a) && facet.Of(a).Takings < mostTakings
}

// Left is how much of n's memory a may take for executors, where memory is lent.
func Left(v ledger.View, n *ledger.Node, a *ledger.App) units.Bytes {
	switch {
	case !a.Promise.MayBorrow(a):
		return v.Free(n)
	case Borrows(a):
		return n.Borrowable()
	}
	return v.Free(n) - n.Lent()
}

// unit is what an application is lent on a node.
type unit struct {
	app       *ledger.App
	executors []*ledger.Executor
	since     units.Instant // When the newest of them came.
	// lent is what they claim, spare what of that they are foretold to leave.
	lent, spare units.Bytes
	// whole says that it has executors nowhere else.
	whole bool
}

// before orders units: those of applications that go on elsewhere are taken first, the youngest first, then those of
// others, of which the application goes first that came last.
func before(x, y *unit) int {
	switch {
	case !x.whole && y.whole:
		return -1
	case x.whole && !y.whole:
		return 1
	case x.whole:
		return cmp.Or(cmp.Compare(y.app.Promise.Start, x.app.Promise.Start), cmp.Compare(y.app.ID, x.app.ID))
	}
	return cmp.Or(cmp.Compare(y.since, x.since), cmp.Compare(y.app.ID, x.app.ID))
}

// Back takes back what nodes lack that lend more than they have. Executors of applications that are promised their
// memory by now keep theirs.
func Back(v ledger.View) (levers []ledger.Lever) {
	gone := make(map[*ledger.Executor]bool)
	for _, name := range ledger.Lenders(nil, v) {
		n := v.Node(name)
		if n == nil || !n.Here() {
			continue
		}
		kept := keeps(v, n)
		levers = append(levers, kept...)
		levers = append(levers, takes(v, n, gone)...)
	}
	return levers
}

// keeps has executors on n keep their memory whose applications are promised it since they came, as far as there is
// some: after too many takings what nobody is lent.
func keeps(v ledger.View, n *ledger.Node) (levers []ledger.Lever) {
	free, lacks := v.Free(n), n.Borrowable() < 0
	for _, t := range v.Allocations(n.Node) {
		a := t.App
		if !a.Running() || Borrows(a) || a.Promise.MayBorrow(a) && lacks {
			continue
		}
		for _, x := range t.Executors {
			if x.Lent() && !x.Taken() && a.Tenant.Claim() <= free {
				free -= a.Tenant.Claim()
				levers = append(levers, ledger.ClaimKept{App: a.ID, ID: x.ID, Node: n.Node})
			}
		}
	}
	return levers
}

// takes takes units of n, in their order, until the rest is no more than the node has, but for those that need not go
// then. The executors in gone were taken in this round.
func takes(v ledger.View, n *ledger.Node, gone map[*ledger.Executor]bool) (levers []ledger.Lever) {
	var lent, spare units.Bytes
	free := v.Free(n)
	var here []*unit
	for _, t := range v.Allocations(n.Node) {
		if !t.App.Running() {
			for _, x := range t.Executors {
				if !x.Lent() {
					free += t.App.Tenant.Claim() // They end.
				}
			}
			continue
		}
		u := &unit{app: t.App}
		for _, x := range t.Executors {
			if x.Taken() {
				continue
			}
			if spare += x.Memory.Spare; x.Lent() {
				u.executors, u.since = append(u.executors, x), max(u.since, t.App.Instant(x.Since))
				u.lent, u.spare = u.lent+t.App.Tenant.Claim(), u.spare+x.Memory.Spare
			}
		}
		if lent += u.lent; len(u.executors) > 0 {
			here = append(here, u)
		}
	}
	fits := func(lent, spare units.Bytes) bool { return lent <= free+n.LendableOf(spare) }
	var taken []*unit
	for len(here) > 0 && !fits(lent, spare) {
		for _, u := range here {
			u.whole = !slices.ContainsFunc(u.app.Alive(), func(x *ledger.Executor) bool {
				return x.Node != n.Node && !x.Leaving && !gone[x]
			})
		}
		u := slices.MinFunc(here, before)
		here = slices.DeleteFunc(here, func(o *unit) bool { return o == u })
		lent, spare, taken = lent-u.lent, spare-u.spare, append(taken, u)
	}
	for _, u := range taken {
		if fits(lent+u.lent, spare+u.spare) {
			lent, spare = lent+u.lent, spare+u.spare
			continue
		}
		for _, x := range u.executors {
			gone[x] = true
			levers = append(levers, ledger.ExecutorTaken{App: u.app.ID, ID: x.ID, Node: n.Node,
				Why: fmt.Sprintf("node %s needs it for executors that are promised theirs", n.Node)})
		}
	}
	return levers
}

// IsOut reports whether a goes on without executors, for all were taken.
func IsOut(a *ledger.App) bool {
	return a.Running() && facet.Of(a).Takings > 0 && len(a.Alive()) == 0 && a.Outcome.Killed == ""
}

// Out are the applications that go on without executors, in the order in which they get some again: as they came.
func Out(v ledger.View) (all []*ledger.App) {
	for a := range v.Running() {
		if IsOut(a) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(x, y *ledger.App) int {
		return cmp.Or(cmp.Compare(x.Promise.Start, y.Promise.Start), cmp.Compare(x.ID, y.ID))
	})
	return all
}

// Places says where applications wait from which all executors were taken, before those that have not started.
func Places(v ledger.View) (levers []ledger.Lever) {
	all := Out(v)
	of := len(all) + len(v.Waiting())
	for i, a := range all {
		if s := facet.Of(a); s.Place != i+1 || s.Of != of {
			levers = append(levers, Placed{OfApp: ledger.OfApp{App: a.ID}, Place: i + 1, Of: of})
		}
	}
	return levers
}

// Taken is the fact that a node takes by itself what x, of a, is lent, nil where that is known.
func Taken(a *ledger.App, x *ledger.Executor) []ledger.Lever {
	if !a.Running() || x.Gone || x.Taken() || !x.Lent() {
		return nil
	}
	return []ledger.Lever{ledger.ExecutorTaken{App: a.ID, ID: x.ID, Node: x.Node,
		Why: fmt.Sprintf("executors on node %s use nearly all of its memory", x.Node)}}
}
