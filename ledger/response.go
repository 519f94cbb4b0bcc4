package ledger

import (
	"cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Hold says at how many cores an executor is held while it works for a stage (Facet.Holds): for so long from when that
// began.
type Hold struct {
	Stage    api.StageKey
	Executor api.ExecutorID
	Cores    units.Cores
	Began    units.Instant
	For      units.Seconds
}

// Compare puts holds in order of stage and executor.
func (h Hold) Compare(x Hold) int {
	return cmp.Or(cmp.Compare(h.Stage.Stage, x.Stage.Stage), cmp.Compare(h.Stage.Attempt, x.Stage.Attempt),
		api.CompareExecutors(h.Executor, x.Executor))
}

// holdGrace is how long after the end of its level an executor is held at most, should
// no Plan say what comes next: the planner's death leaves no stage held.
const holdGrace units.Seconds = 2

// lasts is how long h counts from now on, 0 for none.
func (h Hold) lasts(now units.Instant) units.Seconds {
	if h.Cores == 0 {
		return 0
	}
	return max(0, h.For-units.FromDuration(now.Sub(h.Began))) + holdGrace
}
