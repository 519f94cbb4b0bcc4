package estimate

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// besideAlpha is the share of the deadline at which stages are aimed that others follow, beside
// executors without a quota, and besideAlphaFirst beside other applications on nodes that
// serve by deadline, where that is less than otherwise: what an application can have of the
// machine there differs from second to second, and what is lost early can be made up for only
// while stages are to come. What is not needed of that is theirs (dag.Params.Aim). Under the
// other strategies who asks for more takes it from those who need it as much, unless they are
// due later: there it is for the one that is due first.
const (
	besideAlpha      = 0.94
	besideAlphaFirst = 0.88
)

// Aiming are the parameters of the equations by which a's stages get their deadlines.
func (p Policy) Aiming(v ledger.View, a *ledger.App) dag.Params {
	q := p.Of(a)
	if q.Aim == 0 {
		return q
	}
	nodes := a.Seats()
	others, unheld, first := beside(v, a, nodes)
	if others {
		// Its driver takes longer there, in proportion. Its last stage does not: that has its quota
		// whoever else runs, so there is no margin beside that (docs/decisions/029).
		q.Margin += units.Seconds(Slowdown(a)) * a.Profile.Graph.Overhead(a.Profile.Match.Remaining())
	}
	switch {
	case others && (first || InOrder(v, nodes)):
		q.Alpha = min(q.Alpha, besideAlphaFirst)
	case unheld:
		q.Alpha = min(q.Alpha, besideAlpha)
	}
	return q
}

// beside reports whether other applications run on nodes, which are a's, whether the executors of
// one have no quota: it has no deadline that can be kept, or is left alone; and whether a is due
// first of those whose deadline can be kept, of several.
func beside(v ledger.View, a *ledger.App, nodes []string) (others, unheld, first bool) {
	var soonest units.Instant // When the first of them is due, 0 where none is.
	for _, name := range nodes {
		for _, t := range v.Allocations(name) {
			b := t.App
			if b.ID == a.ID || !b.Running() {
				continue
			}
			others = true
			if b.Band() == api.BandShared || b.Tenant.Launch.Mode.HandsOff() {
				unheld = true
				continue
			}
			if due := b.Instant(b.Promise.Deadline); soonest == 0 || due < soonest {
				soonest = due
			}
		}
	}
	return others, unheld, soonest > a.Instant(a.Promise.Deadline)
}

// InOrder reports whether all those nodes serve one application after the other, by deadline.
func InOrder(v ledger.View, nodes []string) bool {
	for _, name := range nodes {
		if n := v.Node(name); n != nil && !supervisor.InOrder(n.Dividing.Strategy) {
			return false
		}
	}
	return true
}
