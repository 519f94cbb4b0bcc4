package planner

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// nodes is the part of an engine that sees to executors and nodes.
type nodes struct {
	*core
	levers *levers
	// silence is what the uptime will be at least when the next node is lost or forgotten.
	silence time.Duration
	doubts  doubts
}

// gone notes that x runs no more. A running application gets another one when
// its driver speaks next: executors also exit when their driver dies, and must
// not be replaced then.
func (f *nodes) gone(a *ledger.App, x *ledger.Executor, reason string) {
	f.lost(a, x, reason, false)
}

// lost records that x runs no more; unstarted says that it has never run.
func (f *nodes) lost(a *ledger.App, x *ledger.Executor, reason string, unstarted bool) {
	if x.Gone {
		return
	}
	node := x.Node
	if !a.Running() {
		node = ""
	}
	f.record(ledger.ExecutorLost{App: a.ID, ID: x.ID, Node: node, Reason: reason, Unstarted: unstarted,
		Leaving: x.Leaving})
}

// starts reports whether x's node, which is here, still starts it: a driver that has lost an
// executor by this id may mean one that another planner has started for it while both served.
// Whether x exits its node tells. In mode off it tells no more than that. One that is to leave is
// not missed: its driver's word is enough.
func (f *nodes) starts(a *ledger.App, x *ledger.Executor) bool {
	n := f.view.Node(x.Node)
	return !x.Gone && !x.Leaving && x.Starts && n != nil && n.Here() && a.Promise.Mode != ledger.Off
}

// replace starts new executors for those that are gone, each on its node, where memory is
// kept for it, or, if that is away, on another one. Without a node that has room they wait.
// Placing one elsewhere may free memory for the next: repeat until none finds a node.
func (f *nodes) replace(a *ledger.App) {
	for waiting := len(a.Tenant.Pending) + 1; len(a.Tenant.Pending) < waiting; {
		waiting = len(a.Tenant.Pending)
		f.replaceOnce(a)
	}
}

// replaceOnce looks once at each executor of a that is to be replaced.
func (f *nodes) replaceOnce(a *ledger.App) {
	since := f.now.Add(-f.cfg.Replacing.Within)
	for _, name := range slices.Clone(a.Tenant.Pending) {
		n := f.places.Replacement(f.view, a, name)
		if n == nil {
			continue
		}
		if lost := f.replacements(a, since); lost >= f.cfg.Replacing.Most*a.Tenant.Pool {
			f.giveUp(a, lost+1)
			return
		}
		f.levers.apply(ledger.ReplacementSent{App: a.ID, ID: a.Tenant.Next(), Lost: name, Node: n.Node, Since: since})
	}
}

// replacements are those of a that count against the bound.
func (f *nodes) replacements(a *ledger.App, since units.Instant) int {
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
func (f *nodes) giveUp(a *ledger.App, lost int) {
	f.record(ledger.ReplacementStopped{App: a.ID, Lost: lost, Window: f.cfg.Replacing.Within})
	f.say(a.ID, fmt.Sprintf(
		"%d executors were lost within %v and no task ended in between, the last one by %s: no more are started", lost,
		f.cfg.Replacing.Within.Round(time.Second), a.LastExit()))
}

// resize counts again what a's nodes offer.
func (f *nodes) resize(a *ledger.App) {
	cores, slots := placement.Extent(f.view, a)
	if cores == a.Tenant.Cores && slots == a.Tenant.Slots || cores == 0 && a.Tenant.Launch.Attach != nil {
		return // One whose cluster manager has given it nothing yet, or nothing any more, is thought to get some.
	}
	f.record(ledger.Resized{App: a.ID, Cores: cores, Slots: slots})
}

// leaveWait is how long an executor that was asked to leave may take to hand its
// blocks on once no stage is bound to it and it has no tasks; then its node stops it, and
// Spark makes anew what was lost.
const leaveWait = time.Minute

// worksFor is for how long an executor counts as having tasks of which its node has told that:
// some statuses may be lost.
const worksFor = 5 * time.Second

// left stops waiting for executors that have had nothing to do for leaveWait. Of one whose node
// is not here nobody knows what it does: it is waited for until its driver has lost it, or its
// node is back.
func (f *nodes) left(a *ledger.App, dt time.Duration) {
	if a.Tenant.Launch.Attach != nil {
		return // It is its driver's to say that they have gone.
	}
	for _, x := range a.Tenant.Executors {
		if !x.Leaving || x.Gone {
			continue
		}
		idle := x.Idle + dt
		n := f.view.Node(x.Node)
		if n == nil || !n.Here() || a.Bound(x.ID) || f.view.Uptime()-x.Worked < worksFor {
			idle = 0 // Tasks run on unbound ones, too, where an application is not gated.
		}
		if idle != x.Idle {
			f.record(ledger.ExecutorIdle{App: a.ID, ID: x.ID, For: idle})
		}
		if idle >= leaveWait {
			f.gone(a, x, whyLeaving(x, n))
		}
	}
}

// unstarted gives up executors of a on lost nodes that its driver has not seen, when it has
// told all that it knows: they were asked for when the node was gone already. One that has run
// tasks its driver has: what it has told of may have been another one of that id. So it is with
// one that its node has seen run.
func (f *nodes) unstarted(a *ledger.App) {
	for _, x := range a.Tenant.Executors {
		if x.Gone || x.Registered || x.Worked > 0 || x.State != api.ExecutorStarting {
			continue
		}
		if n := f.view.Node(x.Node); n != nil && n.Presence == ledger.Lost {
			f.lost(a, x, "its node is lost", true)
		}
	}
}

// reported takes in the exits that a node's status tells. An executor that was given up as
// unstarted and is there is its application's again: its driver may have it by now.
func (f *nodes) reported(n *ledger.Node, s *api.NodeStatus) {
	for i := range s.Executors {
		told := &s.Executors[i]
		a := f.view.App(told.App)
		if a == nil {
			continue
		}
		switch x := a.Executor(told.ID); {
		case x == nil || x.Node != n.Node:
		case told.State == api.ExecutorExited:
			if !x.Gone {
				if told.Refused {
					f.say(a.ID, fmt.Sprintf("node %s does not hold executor %s: %s", n.Node, x.ID, told.Exit))
					f.record(ledger.ExecutorRefused{App: a.ID, ID: x.ID, Node: n.Node, User: a.Tenant.Owner.User, Why: told.Exit})
				}
				f.gone(a, x, cmp.Or(told.Exit, "it exited"))
			}
		case x.Unstarted && a.Running():
			f.up(x, ledger.ExecutorUp{App: a.ID, ID: x.ID, Told: true})
		}
	}
}

// up notes that x is there. One that had counted as gone may have no room.
func (f *nodes) up(x *ledger.Executor, fact ledger.ExecutorUp) {
	gone := x.Gone
	if f.record(fact) && gone {
		f.makeRoom(f.view.Node(x.Node))
	}
}
