package planner

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// lent is what is remembered of them.
type lent struct {
	// disputes are the nodes of which it was told that another one says it is the same machine, by incarnation.
	disputes map[string]string
	// strange are the applications of which it was told that their drivers name executors that cannot be.
	strange map[api.AppID]bool
}

// ground is what is found once for a batch of changes: the nodes by machine, and what nodes hold. Crowded are nodes
// that are to be trimmed after it.
type ground struct {
	machines map[string][]*ledger.Node
	held     map[string]*holding
	crowded  []string
}

// holding is how many executors of running applications a node holds. Share is how many it may hold of the application
// asks, if that is not "".
type holding struct {
	of    map[api.AppID]int
	all   int
	asks  api.AppID
	share int
}

func heldBy(v ledger.View, node string) *holding {
	h := &holding{of: map[api.AppID]int{}}
	for _, here := range v.Allocations(node) {
		if here.App.Running() {
			h.of[here.App.ID] = len(here.Executors)
			h.all += len(here.Executors)
		}
	}
	return h
}

// add counts executors that have come, and returns how many there are; h may be nil.
func (h *holding) add(id api.AppID, n int) int {
	if h == nil {
		return 0
	}
	h.of[id], h.all, h.asks = h.of[id]+n, h.all+n, ""
	return h.all
}

// takes reports whether the node may hold one more of that application.
func (h *holding) takes(id api.AppID) bool {
	if h.all < api.MostExecutors {
		return true
	}
	if h.asks != id {
		h.of[id]++
		h.asks, h.share = id, api.Level(h.of, api.MostExecutors)
		h.of[id]--
	}
	return h.of[id] < h.share
}

// machines are the nodes that attach and are here, by the id of the boot of their machine: of one that nodes are at
// odds about there are several.
func machines(v ledger.View) map[string][]*ledger.Node {
	all := map[string][]*ledger.Node{}
	for _, n := range v.Nodes() {
		if n.Attaches() && n.Here() && n.Machine != ledger.UntoldMachine {
			all[n.Machine] = append(all[n.Machine], n)
		}
	}
	return all
}

// nodeOf is the node of an executor that had that one, "" where there is none, or several say that they are its
// machine. Its plugin tells the machine: which names a node says that it has proves nothing. Of a node that has not
// spoken since the planner started it is known only that it had what it has.
func nodeOf(all map[string][]*ledger.Node, is ledger.Attached, had string) string {
	if of := all[is.Machine]; len(of) == 1 && (of[0].Spoken() || of[0].Node == had) {
		return of[0].Node
	}
	return ""
}

// standing is what of a node says whose executors can be held back.
type standing struct {
	machine, incarnation string
	presence             ledger.Presence
	offered              units.Cores
	executors, unpaced   int
}
