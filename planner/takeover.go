package planner

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/admission"
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// A planner that has lost its state, or comes after another one, takes over what runs: nodes
// first, which say what runs there, then applications, whose drivers register again (reclaim).

// takeBack is how long another planner must have had a node before this one, which had it
// earlier and serves, takes it back: by then the two have found each other, and the other one
// stands by or is gone.
const takeBack = 30 * time.Second

// settle succeeds the planner that n follows, if that does not serve any more: one planner
// serves on a bus (Peers), and this one has for a while. A node that was this one's and
// follows another was taken from it, which is not done in turn before takeBack. Of the applications that
// n does not know to be over it is told; those that were taken over have their executors
// there, too.
func (f *fleet) settle(n *ledger.Node) {
	if n.Allegiance.Follows != "" {
		w, uptime := &n.Allegiance, f.view.Uptime()
		if (!w.Ours || uptime-w.Since >= takeBack) && w.Succeeds != w.Follows && f.view.Identity() != "" && uptime >= admission.Newcomer {
			f.record(ledger.NodeClaimed{Node: n.Node, From: n.Allegiance.Follows})
			f.occur(NodeClaimed{Node: n.Node, Planner: n.Allegiance.Follows})
		}
		return
	}
	for _, o := range slices.Clone(n.Allegiance.Theirs) {
		switch a, ended := f.view.App(o.App), f.view.EndedApp(o.App); {
		case a != nil && o.Owner != a.Tenant.Launch.Owner:
		case a != nil && a.Running():
			f.adopt(n, a, o.Executors)
		case a != nil && a.Over(), a == nil && ended != nil && o.Owner == api.OwnerOf(ended.Detail.Submission):
			f.record(ledger.NodeCleared{Node: n.Node, App: o.App})
		}
	}
}

// adopt takes executors over that n runs for a. One whose id another one has waits until one of
// the two has exited: a driver takes one of each id.
func (f *fleet) adopt(n *ledger.Node, a *ledger.App, all []ledger.StrangerExecutor) {
	fits := slices.DeleteFunc(slices.Clone(all), func(x ledger.StrangerExecutor) bool {
		known := a.Executor(x.ID)
		return known != nil && !known.Gone
	})
	had := a.Promise.Reclaimed
	if len(fits) == 0 || !f.record(ledger.Reclaimed{App: a.ID, Node: n.Node, Executors: fits}) {
		return
	}
	f.resize(a)
	if !had {
		f.occur(AppReclaimed{App: a.ID, AppName: a.Name, Executors: len(fits)})
	}
}
