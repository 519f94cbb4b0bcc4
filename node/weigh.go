package node

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// weights decide which part executors have of a CPU that is short. A quota holds its own
// executor back; a weight holds back who shares what others leave, and leaves nothing idle.
type weights struct {
	by *sharing.Weights
	// behind says that the Plan has an application with a deadline that can be kept, to which
	// those who share have to yield.
	behind bool
	// contended counts the ticks for which others have left too little to one that comes first.
	contended int
	// parts are those of all executors at work that share.
	parts float64
	// all is the weight of all executors, as it was last written, even when they were last to
	// have that of Even or more.
	all  Weight
	even units.Instant
}

// take notes who is in a Plan.
func (w *weights) take(p *api.Plan) {
	w.behind = slices.ContainsFunc(p.Apps, func(a api.PlanApp) bool {
		return promised(&a) && len(a.Executors) > 0 && !a.Launch.Mode.Unmanaged()
	})
}

// weighEach sets the weight of each executor that runs.
func (w *weights) weighEach(execs []*executor, now units.Instant, out *journal) {
	w.parts = 0
	for _, x := range execs {
		if x.shares && !x.isComponent() && x.weighed() && w.hasPlace(x, now) {
			w.parts += x.part
		}
	}
	for _, x := range execs {
		if !x.weighed() {
			continue
		}
		if of := w.of(x, now); of != x.weight {
			x.weight = of
			out.act(Action{Kind: ActSetWeight, Key: x.key, Weight: of})
		}
	}
}

// weighed reports whether x's weight is written: that of one that was found is its manager's.
func (x *executor) weighed() bool {
	return x.alive() && x.life.here && !x.unmanaged && !x.life.attached
}

// hasPlace reports whether x is weighed by its application's place. It is not once it has started and has neither a
// target nor tasks, and has had none for a while. Nor is it if it is stopped: its driver may be about to exit,
// with a deadline to keep.
func (w *weights) hasPlace(x *executor, now units.Instant) bool {
	if !x.life.listed {
		return false
	}
	if len(x.controls) > 0 || x.worked(now) || x.life.state == api.ExecutorStarting {
		x.busy = now // A start beside busy executors would take ten times as long.
		return true
	}
	return x.busy > 0 && x.weight != w.by.Low && now.Sub(x.busy) < w.by.Rest
}

// of is x's weight: its place among those at work, low for the others. An executor that shares has its class's part,
// and yields to applications whose deadlines can be kept: then all that share have one weight behind together, however
// many they are.
func (w *weights) of(x *executor, now units.Instant) Weight {
	switch {
	case x.isComponent():
		return w.driver(x)
	case !w.hasPlace(x, now):
		return w.by.Low
	case x.place > 0:
		return x.place
	case !x.shares:
		return sharing.Normal
	case w.behind:
		return Weight(x.part/w.parts) * w.by.Behind
	}
	return Weight(x.part)
}

// driver is x's weight beside all executors together: that of a driver of its band elsewhere (DriverSession.scala).
func (w *weights) driver(x *executor) Weight {
	if x.shares {
		return w.by.DriverBehind
	}
	return w.by.DriverFirst
}

// weighAll sets the weight of all executors by who of them is at work. It rises by steps, and
// falls below Even when that has been too much for Rest: the next stage usually
// comes at once, and its driver has enough with half of each CPU. No weight is written while no executor starts or is
// at work, or for executors that are left alone.
func (w *weights) weighAll(execs []*executor, now units.Instant, out *journal) {
	all := w.together(execs, now)
	if all == sharing.Unset {
		return
	}
	if all >= w.by.Even {
		w.even = now
	}
	switch {
	case w.all == sharing.Unset:
	case all > w.all:
		all = min(all, w.all*w.by.Rise)
	case now.Sub(w.even) < w.by.Rest:
		all = max(all, min(w.all, w.by.Even))
	}
	if all != w.all {
		w.all = all
		out.act(Action{Kind: ActSetWeight, Weight: all})
	}
}

// together is the weight that all executors are to have, sharing.Unset while nobody starts or is at
// work. An executor that starts does so beside drivers, not with the weight that an earlier application, or a node
// controller that was killed, has left.
func (w *weights) together(execs []*executor, now units.Instant) Weight {
	all := sharing.Unset
	for _, x := range execs {
		switch {
		case x.isComponent(): // It stands beside them.
		case x.weighed() && x.life.state == api.ExecutorStarting && w.first(x):
			all = w.by.Even
		case x.weighed() && x.life.state == api.ExecutorStarting, x.works(now) && !w.first(x):
			all = max(all, w.by.Shared)
		case !x.works(now):
		case w.contended >= w.by.Crowded:
			return w.by.Promised
		default:
			return w.by.Even
		}
	}
	return all
}

// works reports whether x has run tasks since the last tick, and its weight is the node's to write.
func (x *executor) works(now units.Instant) bool {
	return x.weighed() && x.life.listed && x.worked(now)
}

// first reports whether x has a deadline to keep, or one that is late and nobody beside it to
// yield to.
func (w *weights) first(x *executor) bool { return !x.shares || x.hasDeadline && !w.behind }

// crowd notes of a tick whether others leave too little to an executor that comes first. Until that has lasted, a tick
// in which executors had what they are to have at least begins it anew. The mean says too much after a driver's start,
// and executors that come before drivers have them hand out tasks so late that other applications' use the cores.
func (w *weights) crowd(execs []*executor, c *capacity, now units.Instant) {
	switch {
	case !c.contended || !c.short && w.contended < w.by.Crowded:
		w.contended = 0
	case slices.ContainsFunc(execs, func(x *executor) bool { return x.works(now) && w.first(x) }):
		w.contended = min(w.contended+1, w.by.Crowded)
	}
}
