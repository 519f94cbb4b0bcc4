package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// executors are those of applications whose executors this planner starts.
type executors struct{ *core }

// starts reports whether x's node, which is here, still starts it: a driver that has lost an
// executor by this id may mean one that another planner has started for it while both served.
// Whether x exits its node tells. In mode off it tells no more than that. An executor that is to leave is
// not missed: its driver's word is enough.
func (f executors) starts(a *ledger.App, x *ledger.Executor) bool {
	n := f.view.Node(x.Node)
	return !x.Gone && !x.Leaving && x.Starts && n != nil && n.Here() && a.Promise.Mode != ledger.Off
}

// replace starts new executors for those that are gone, each on its node, where memory is
// kept for it, or, if that is away, on another one. Without a node that has room they wait.
// Placing one elsewhere may free memory for the next: repeat until none finds a node.
func (f executors) replace(a *ledger.App) {
	for waiting := len(a.Tenant.Pending) + 1; len(a.Tenant.Pending) < waiting; {
		waiting = len(a.Tenant.Pending)
		f.replaceOnce(a)
	}
}

// replaceOnce looks once at each executor of a that is to be replaced.
func (f executors) replaceOnce(a *ledger.App) {
	since := f.now.Add(-f.cfg.Replacing.Within)
	for _, name := range slices.Clone(a.Tenant.Pending) {
		n := f.places.Replacement(f.outlook, a, name)
		if n == nil {
			continue
		}
		if lost := f.replacements(a, since); lost >= f.cfg.Replacing.Most*a.Tenant.Pool {
			f.giveUp(a, lost+1)
			return
		}
		f.apply(ledger.ReplacementSent{App: a.ID, ID: a.Tenant.Next(), Lost: name, Node: n.Node, Since: since,
			Lent: f.places.Borrows(a)})
	}
}

// replacements are those of a that count against the bound.
func (f executors) replacements(a *ledger.App, since units.Instant) int {
	n := 0
	for _, at := range a.Tenant.Replaced {
		if at >= since {
			n++
		}
	}
	return n
}

// giveUp replaces no executor of a any more: one that cannot live is then Spark's to deal
// with.
func (f executors) giveUp(a *ledger.App, lost int) {
	f.record(ledger.ReplacementStopped{App: a.ID, Lost: lost, Window: f.cfg.Replacing.Within})
	f.say(a.ID, fmt.Sprintf(
		"%d executors were lost within %v and no task ended in between, the last one by %s: no more are started", lost,
		f.cfg.Replacing.Within.Round(time.Second), a.LastExit()))
}

// leaveWait is how long an executor that was asked to leave may take to hand its
// blocks on once no stage is bound to it and it has no tasks; then its node stops it, and
// Spark makes anew what was lost.
const leaveWait = time.Minute

// worksFor is for how long an executor counts as having tasks of which its node has told that:
// some statuses may be lost.
const worksFor = 5 * time.Second

// expire stops waiting for executors that were asked to leave and have had nothing to do for leaveWait. An executor
// whose node is not here is waited for until its driver has lost it, or its
// node is back.
func (f executors) expire() {
	for a := range f.view.Running() {
		f.idle(a)
	}
}

func (f executors) idle(a *ledger.App) {
	if a.Tenant.Launch.Attach != nil {
		return // It is its driver's to say that they have gone.
	}
	for _, x := range a.Tenant.Executors {
		if !x.Leaving || x.Gone {
			continue
		}
		idle := x.Idle + f.said.passed
		n := f.view.Node(x.Node)
		if n == nil || !n.Here() || a.Bound(x.ID) || f.view.Uptime()-x.Worked < worksFor {
			idle = 0 // Tasks run on unbound ones, too, where an application is not gated.
		}
		if idle != x.Idle {
			f.record(ledger.ExecutorIdle{App: a.ID, ID: x.ID, For: idle})
		}
		if idle >= leaveWait {
			f.gone(a, x, whyLeaving(a, x, n))
		}
	}
}

// toldAll reports whether the driver that speaks has told all that it knows.
func (f executors) toldAll() bool { return f.said.idle }

// unstarted gives up executors of a on lost nodes that its driver has not seen, when it has
// told all that it knows: they were asked for when the node was gone already. One that has run
// tasks its driver has: what it has told of may have been another one of that id. So it is with
// one that its node has seen run.
func (f executors) unstarted(a *ledger.App) {
	for _, x := range a.Tenant.Executors {
		if x.Gone || x.Registered || x.Worked > 0 || x.State != api.ExecutorStarting {
			continue
		}
		if n := f.view.Node(x.Node); n != nil && n.Presence == ledger.Lost {
			lose(f.core, a, x, "its node is lost", true)
		}
	}
}

// up notes that x is there. An executor that had counted as gone may have no room.
func (f executors) up(x *ledger.Executor, fact ledger.ExecutorUp) {
	gone := x.Gone
	if f.record(fact) && gone {
		f.makeRoom(f.view.Node(x.Node))
	}
}

// makeRoom takes back what this planner has promised of n and nobody has seen run, while more is
// taken of its memory than it gives: while two planners serve, each promises the same memory,
// and what runs there goes on. Memory that is kept for replacements goes first, then executors,
// the newest first. They wait until there is room.
func (f executors) makeRoom(n *ledger.Node) {
	if n == nil || f.view.Free(n) >= 0 {
		return
	}
	for a := range f.view.Running() {
		for f.view.Free(n) < 0 && slices.Contains(a.Tenant.Pending, n.Node) &&
			f.apply(ledger.PlaceGivenBack{App: a.ID, Node: n.Node}) {
		}
	}
	for f.view.Free(n) < 0 {
		a, x := promised(f.view, n)
		if x == nil {
			return
		}
		if f.gone(a, x, "node "+n.Node+" has no memory for it: another planner has started executors there"); !x.Gone {
			return
		}
		f.resize(a)
	}
}

// promised is the newest executor of the newest application that n is to start and of which nobody
// has told, nil where there is none.
func promised(v ledger.View, n *ledger.Node) (newest *ledger.App, found *ledger.Executor) {
	for _, t := range v.Allocations(n.Node) {
		if a := t.App; newest == nil || a.Promise.Start >= newest.Promise.Start {
			for _, x := range t.Executors {
				if unseen(x) {
					newest, found = a, x
				}
			}
		}
	}
	return newest, found
}

// unseen reports whether neither x's driver nor its node has ever told of x.
func unseen(x *ledger.Executor) bool {
	return !x.Registered && x.State == api.ExecutorStarting && !x.Starts && x.CPU == 0
}
