package estimate

import (
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Limit is how long queries and jobs of a, which has a profile, may take: as its user says, and as paced runs that
// failed have shown.
func Limit(a *ledger.App) dag.Bound {
	return dag.Bound{Most: a.Tenant.Launch.JobMost, Factor: a.Profile.Body.Habit.FailedAt}
}

// LegsBegan is when the legs of a that have begun did so (dag.LegOf), nil where they have no bound.
func LegsBegan(a *ledger.App) map[int]units.Seconds {
	if Limit(a) == (dag.Bound{}) {
		return nil
	}
	began := make(map[int]units.Seconds)
	for _, s := range a.Order {
		leg, _, known := dag.LegOf(s.Annotation, a.Profile.Graph)
		if at, has := began[leg]; known && (!has || s.ReadyAt < at) {
			began[leg] = s.ReadyAt
		}
	}
	return began
}
