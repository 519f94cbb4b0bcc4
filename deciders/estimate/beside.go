package estimate

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
	"slices"
)

// Aiming are the parameters of the equations by which a's stages get their deadlines.
func (o *Outlook) Aiming(a *ledger.App) dag.Params {
	q := o.Of(a)
	if q.Aim == 0 {
		return q
	}
	nodes := a.Seats()
	b := beside(o.View, a, nodes)
	if b.Others {
		// Its driver takes longer there, in proportion. Its last stage does not: that has its quota
		// whoever else runs, so there is no margin beside that (docs/decisions/029).
		q.Margin += units.Seconds(o.Slowdown(a)) * a.Profile.Graph.Overhead(a.Profile.Match.Remaining())
	}
	q.Alpha = o.rules().Aims.Alpha(q.Alpha, b)
	return q
}

// beside is what runs beside a on nodes, which are its own.
func beside(v ledger.View, a *ledger.App, nodes []string) (found sharing.Beside) {
	var soonest units.Instant // When the first of them is due, 0 where none is.
	for _, name := range nodes {
		for _, t := range v.Allocations(name) {
			b := t.App
			if b.ID == a.ID || !b.Running() {
				continue
			}
			found.Others = true
			if b.Band() == api.BandShared || b.Unmanaged() || b.Reserved() > 0 {
				found.Unheld = true
				continue
			}
			if due := b.Instant(b.Promise.Deadline); soonest == 0 || due < soonest {
				soonest = due
			}
		}
	}
	found.First, found.InOrder = soonest > a.Instant(a.Promise.Deadline), InOrder(v, nodes)
	return found
}

// InOrder reports whether all those nodes serve one application after the other, by deadline.
func InOrder(v ledger.View, nodes []string) bool {
	return !slices.ContainsFunc(nodes, func(name string) bool {
		n := v.Node(name)
		return n != nil && !supervisor.InOrder(n.Dividing.Strategy)
	})
}
