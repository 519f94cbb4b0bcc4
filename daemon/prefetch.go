package daemon

import (
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/units"
)

// prefetchFrom is the number of executors from which on a tick reads them on two
// CPUs: below, waking the second takes as long as it saves.
const prefetchFrom = 64

// prefetch is one executor's CPU time as a second goroutine reads it, from the
// last executor to the first, while the loop goes from the first to the last. They
// end where they meet, so that a second CPU that is slow, or busy with something
// else, holds up nothing. A time that is read belongs to the round, the tick, that it was read in.
type prefetch struct {
	taken, read atomic.Uint64 // Rounds in which the loop came by, and it was read.
	used        units.Work    // Of the goroutine, and of the loop once read says so.
}

// take returns what was read in the round, and ends the reading here.
func (a *prefetch) take(round uint64) (used units.Work, ok bool) {
	a.taken.Store(round)
	if a.read.Load() != round {
		return 0, false
	}
	return a.used, true
}

// fill reads for the round unless the loop has been here. It is false then.
func (a *prefetch) fill(group *cgroup.Group, round uint64) bool {
	if a.taken.Load() == round {
		return false
	}
	if used, err := group.Used(); err == nil { // The loop finds the fault itself.
		a.used = used
		a.read.Store(round)
	}
	return true
}

// startPrefetch has the executors of the round read from the end, beside the caller,
// unless they are few or that of an earlier round still goes on. mu is held.
func (x *executors) startPrefetch() {
	if len(x.order) < prefetchFrom || runtime.GOMAXPROCS(0) < 2 || !x.prefetching.CompareAndSwap(false, true) {
		return
	}
	order, round := x.order, x.round.Load()
	go func() {
		defer x.prefetching.Store(false)
		for _, h := range slices.Backward(order) {
			if x.round.Load() != round || !h.prefetch.fill(h.group, round) {
				return
			}
		}
	}()
}
