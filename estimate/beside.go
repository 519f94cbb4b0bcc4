package estimate

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// besideMargin is by how much earlier an application is aimed at that runs beside executors
// without a quota. They take what it leaves of the machine at each moment, so its last task,
// its driver's answer and its exit take 0.1 to 0.2 s longer each (docs/decisions/029).
const besideMargin units.Seconds = 0.25

// besideAlpha is the share of the deadline at which stages are aimed that others follow, beside
// executors without a quota, where that is less than otherwise: what an application can have
// of the machine there differs from second to second, and what is lost early can be made up
// for only while stages are to come.
const besideAlpha = 0.94

// Aiming are the parameters of the equations by which a's stages get their deadlines.
func (p Policy) Aiming(v ledger.View, a *ledger.App) dag.Params {
	q := p.Of(a)
	if q.Aim > 0 && beside(v, a) {
		q.Margin += besideMargin
		q.Alpha = min(q.Alpha, besideAlpha)
	}
	return q
}

// beside reports whether another application runs on a's nodes whose executors have no quota:
// one without a deadline that can be kept, or one that is left alone.
func beside(v ledger.View, a *ledger.App) bool {
	for _, x := range a.Alive() {
		for _, t := range v.Allocations(x.Node) {
			if b := t.App; b.ID != a.ID && b.Running() && (b.Band() == api.BandShared || b.Tenant.Launch.Mode.HandsOff()) {
				return true
			}
		}
	}
	return false
}
