package component

import (
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Follow says what becomes of an application whose driver may be lost with its node: silent is for how long a
// driver that has registered has to say nothing beside that. A node that is away says nothing of a driver that
// speaks. A supervised driver on a node that is being drained begins elsewhere, too, but one that has stopped its
// context does not begin again.
func Follow(v ledger.View, a *ledger.App, silent time.Duration) []ledger.Lever {
	s := Of(a)
	if s.Node == "" && !a.Over() {
		return again(v, a, s)
	}
	n := v.Node(s.Node)
	lost := n == nil || n.Presence == ledger.Lost && (!s.Came || a.Clocks.Silent >= silent)
	over := a.Over() || !s.Component.Supervise || s.Attempt == MostAttempts
	moves := n != nil && n.Here() && n.Draining() && !over && place(v, a, s) != ""
	switch {
	case !lost && !moves:
		return nil
	case over:
		return []ledger.Lever{Lost{OfApp: ledger.OfApp{App: a.ID}, Node: s.Last, At: a.At(v.Now())}}
	case lost:
		return []ledger.Lever{Left{OfApp: ledger.OfApp{App: a.ID}, Node: s.Node, Reason: "was lost with it"}}
	}
	return []ledger.Lever{Left{OfApp: ledger.OfApp{App: a.ID}, Node: s.Node, Reason: "leaves it: it is being drained"}}
}

// again starts the driver of a anew, which has left its node, once nothing of a runs any more as far as nodes can
// tell.
func again(v ledger.View, a *ledger.App, s State) []ledger.Lever {
	if s.Exited || s.Attempt == 0 {
		return nil
	}
	for _, x := range a.Alive() {
		if n := v.Node(x.Node); n != nil && n.Here() && x.State == api.ExecutorRunning {
			return nil
		}
	}
	node := place(v, a, s)
	if node == "" {
		return nil
	}
	return []ledger.Lever{ledger.Anew{App: a.ID}, Again{OfApp: ledger.OfApp{App: a.ID}, Node: node}}
}

// place is the node that takes a's driver and has the most memory for it, "" for none.
func place(v ledger.View, a *ledger.App, s State) (node string) {
	var most units.Bytes
	for _, n := range v.Live() {
		if free := v.Free(n); free >= s.Component.Memory && free > most && told(v, a, n) == nil {
			node, most = n.Node, free
		}
	}
	return node
}

// Left: the driver of an application runs on a node no more, and is to begin again elsewhere. Nodes end its
// executors.
type Left struct {
	ledger.OfApp
	ledger.Pulled
	Node, Reason string
}

// Line is what it says.
func (f Left) Line() ledger.Line {
	return f.OfApp.Says("driver left", "the driver of %s on node %s %s", f.App, f.Node, f.Reason)
}

// Apply has its executors wait for the next one.
func (f Left) Apply(_ ledger.View, _ *ledger.App, s *State) error {
	if s.Node == "" || s.Node != f.Node {
		return fmt.Errorf("the driver of %s is on node %q, not on %s", f.App, s.Node, f.Node)
	}
	s.Node, s.Running, s.Came = "", false, false
	return nil
}

// Again: the driver of an application begins again on a node.
type Again struct {
	ledger.OfApp
	ledger.Pulled
	Node string
}

// Line is what it says.
func (f Again) Line() ledger.Line {
	return f.OfApp.Says("driver again", "the driver of %s begins again on node %s", f.App, f.Node)
}

// Apply counts it.
func (f Again) Apply(v ledger.View, a *ledger.App, s *State) error {
	if s.Component == nil || s.Node != "" || s.Exited || s.Attempt >= MostAttempts {
		return fmt.Errorf("the driver of %s cannot begin again: it is on node %q, after %d attempts", f.App, s.Node,
			s.Attempt)
	}
	s.Node, s.Last, s.Attempt, s.Exit, s.Code = f.Node, f.Node, s.Attempt+1, "", 0
	return room(v, a, f.Node, s.Component)
}

// Lost: the driver of an application was lost with its node, and does not begin again.
type Lost struct {
	ledger.OfApp
	ledger.Pulled
	Node string
	At   units.Seconds
}

// Line is what it says.
func (f Lost) Line() ledger.Line {
	return f.OfApp.Says("driver lost", "the driver of %s was lost with node %s", f.App, f.Node)
}

// Apply has no node run it any more.
func (f Lost) Apply(_ ledger.View, _ *ledger.App, s *State) error {
	if s.Exited || s.Last != f.Node { // It may have left it, to begin again.
		return fmt.Errorf("the driver of %s was on node %q last, not on %s", f.App, s.Last, f.Node)
	}
	s.Exited, s.Running, s.Exit, s.Code, s.Node = true, false, "lost with node "+f.Node, api.Unknown, ""
	return nil
}
