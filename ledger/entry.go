package ledger

import (
	"maps"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// planEntry is what makes one application's part of a Plan new or not: whatever
// passes with time is left out.
type planEntry struct {
	app       api.AppID
	deadline  units.Seconds
	band      api.Band
	least     units.Cores
	most      units.Cores
	reserved  bool
	executors []api.ExecutorID
	// driver and components are how those of executors are started that have names.
	driver     *api.Component
	components map[api.ExecutorID]*api.Component
	// lent are those of executors whose memory is lent, taken those of them that go.
	lent, taken []api.ExecutorID
	targets     []planTarget
}

type planTarget struct {
	stage    api.StageKey
	executor api.ExecutorID
	rev      uint64
	hold     units.Cores
}

// sameExecutors reports whether o differs from p at most in targets and deadline: who
// runs where is the same.
func (p *planEntry) sameExecutors(o *planEntry) bool {
	return p.app == o.app && slices.Equal(p.executors, o.executors)
}

func (p *planEntry) equal(o *planEntry) bool {
	return p == o || p.app == o.app && p.deadline == o.deadline && p.band == o.band && p.least == o.least &&
		p.most == o.most && p.reserved == o.reserved && p.driver == o.driver &&
		maps.Equal(p.components, o.components) &&
		slices.Equal(p.executors, o.executors) && slices.Equal(p.lent, o.lent) && slices.Equal(p.taken, o.taken) &&
		slices.Equal(p.targets, o.targets)
}
