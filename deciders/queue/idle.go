package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// idleAfter is for how long an executor runs no task until its memory counts as idle.
const idleAfter = time.Minute

// isIdle reports whether x of a has run no task for idleAfter, as far as its node can tell. An executor that shows no
// page, or whose node is not here, does not count as idle.
func isIdle(v ledger.View, a *ledger.App, x *ledger.Executor) bool {
	n := v.Node(x.Node)
	return a.Running() && !x.Gone && x.State == api.ExecutorRunning && n != nil && n.Here() &&
		v.Uptime()-x.Worked >= idleAfter && v.Now().Sub(a.Instant(x.Since)) >= idleAfter
}

// Idle is the memory of nodes that executors hold which have run no task for a minute, in order of node and
// application, where somebody waits for memory.
func Idle(v ledger.View) (all []api.IdleMemory) {
	if len(v.Waiting()) == 0 {
		return nil
	}
	for _, n := range v.Nodes() {
		for _, t := range v.Allocations(n.Node) {
			held := api.IdleMemory{App: t.App.ID, Node: n.Node}
			for _, x := range t.Executors {
				if isIdle(v, t.App, x) {
					held.Memory += t.App.Tenant.Claim()
				}
			}
			if held.Memory > 0 {
				all = append(all, held)
			}
		}
	}
	return all
}

// sayIdle says who holds memory without a task on the nodes that could hold so much, "" of nobody.
func sayIdle(v ledger.View, claim units.Bytes) string {
	var held units.Bytes
	var by []api.AppID
	for _, m := range Idle(v) {
		if n := v.Node(m.Node); n.Live() && n.Room() >= claim {
			held += m.Memory
			by = append(by, m.App)
		}
	}
	slices.Sort(by)
	switch by = slices.Compact(by); len(by) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s holds %v and has run no task there for a minute", by[0], held)
	}
	return fmt.Sprintf("%s and %d more hold %v and have run no task there for a minute", by[0], len(by)-1, held)
}
