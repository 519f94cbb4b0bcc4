package estimate

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// postpone has those who are due after a do as much of their work after a's deadline as there
// is room for, which leaves a more until then. Nodes that serve by deadline do so: whoever is
// due first has what it asks for, and the others catch up. Work that is due by some moment
// after a's deadline has room if, with all that is due earlier, it is at most what the nodes can
// do in between (sharing.Later.PutOff). Promises stay promised.
func (o *Outlook) postpone(a *ledger.App, nodes []string, promises []Promise) []Promise {
	now, due := a.At(o.View.Now()), a.Promise.Deadline
	if due <= now || !InOrder(o.View, nodes) {
		return promises
	}
	cores := units.Cores(0)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(nodes))) {
		cores += o.View.Offered(name)
	}
	last := make([]int, 0, len(promises)) // Applications due after a, in order of deadline.
	for i, p := range promises {
		if p.Until > due && p.fastest > 0 {
			last = append(last, i)
		}
	}
	slices.SortFunc(last, func(i, k int) int {
		return cmp.Or(cmp.Compare(promises[i].Until, promises[k].Until), cmp.Compare(promises[i].App, promises[k].App))
	})
	later := 0.0 // Work after a's deadline of those so far, in core-seconds.
	for _, i := range last {
		x := &promises[i]
		moved := o.rules().Later.PutOff(sharing.Claim{Cores: x.Cores, Floor: supervisor.Default().Floor,
			Now: now, Due: due, Until: x.Until, Fastest: x.fastest}, cores, later)
		later += moved
		before := units.Cores((float64(x.Cores)*float64(x.Until-now) - moved) / float64(due-now))
		last := dag.Taken{Cores: units.Cores(moved / float64(x.Until-due)), From: due, Until: x.Until}
		x.Taken = dag.Taken{Cores: before, Until: due}
		promises = append(promises, Promise{App: x.App, Taken: last})
	}
	slices.SortStableFunc(promises, func(x, y Promise) int { return cmp.Compare(x.App, y.App) })
	return promises
}
