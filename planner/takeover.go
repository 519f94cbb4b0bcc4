package planner

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/ledger"
)

// A planner that has lost its state, or comes after another one, takes over what runs: nodes
// first, which say what runs there, then applications, whose drivers register again (reclaim).

// takeBack is how long another planner must have had a node before this one, which had it
// earlier and serves, takes it back: by then one of two that served at once is gone.
const takeBack = 30 * time.Second

// settle succeeds the planner that n follows, if that does not serve any more: one planner
// serves on a bus, and this one has for a while. A node that was this one's and
// follows another was taken from it, which is not done in turn before takeBack. Of the applications that
// n does not know to be over it is told; those that were taken over have their executors
// there, too.
func (f nodes) settle(n *ledger.Node) {
	if n.Allegiance.Follows != "" {
		w, uptime := &n.Allegiance, f.view.Uptime()
		if (!w.Ours || uptime-w.Since >= takeBack) && w.Succeeds != w.Follows && f.view.Identity() != "" &&
			uptime >= admission.Newcomer {
			f.record(ledger.NodeClaimed{Node: n.Node, From: n.Allegiance.Follows})
		}
		return
	}
	for _, o := range slices.Clone(n.Allegiance.Theirs) {
		switch a, ended := f.view.App(o.App), f.view.EndedApp(o.App); {
		case a != nil && o.Owner != a.Tenant.Launch.Owner:
		case a != nil && a.Running():
			f.adopt(n, a, o.Executors)
		case a != nil && a.Over(), a == nil && ended != nil &&
			o.Owner == api.OwnerOf(api.ContextOf(ended.Detail.Submission, ended.Detail.Context)):
			f.record(ledger.NodeCleared{Node: n.Node, App: o.App})
		}
	}
}

// adopt takes executors over that n runs for a. One whose id another one has waits until one of
// the two has exited: a driver takes one of each id.
func (f nodes) adopt(n *ledger.Node, a *ledger.App, all []ledger.UnknownExecutor) {
	fits := slices.DeleteFunc(slices.Clone(all), func(x ledger.UnknownExecutor) bool {
		known := a.Executor(x.ID)
		return known != nil && !known.Gone
	})
	fact := ledger.Reclaimed{App: a.ID, Node: n.Node, Executors: fits}
	if !a.Promise.Reclaimed {
		fact.Name = a.Name
	}
	if len(fits) == 0 || !f.record(fact) {
		return
	}
	executors{f.core}.makeRoom(n)
	f.resize(a)
}

// returned notes which executors have exited while n followed another planner, which was told of
// that: n does not tell it twice. One that n has never run it is still to start, unless its driver
// has one of that id: that one has exited, or the other planner has started it elsewhere, and a
// driver takes one of each id.
func (f nodes) returned(n *ledger.Node, s *api.NodeStatus) {
	for _, t := range slices.Clone(f.view.Allocations(n.Node)) {
		for _, x := range slices.Clone(t.Executors) {
			told := slices.ContainsFunc(s.Executors, func(o api.ExecutorStatus) bool {
				return o.App == t.App.ID && o.ID == x.ID
			})
			if !told && (x.Registered || x.Starts || x.Worked > 0 || x.State != api.ExecutorStarting) {
				f.gone(t.App, x, "it exited while its node followed another planner")
			}
		}
	}
}
