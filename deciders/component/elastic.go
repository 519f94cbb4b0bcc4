package component

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// FollowGroup says what becomes of members of a whose nodes are lost or are not there any more, and of elastic ones
// whose nodes are being drained.
func FollowGroup(v ledger.View, a *ledger.App) (levers []ledger.Lever) {
	g := GroupOf(a)
	for _, m := range g.Members {
		if m.Node == "" {
			continue
		}
		n := v.Node(m.Node)
		switch {
		case n == nil || n.Presence == ledger.Lost:
			lost := MemberLost{OfApp: ledger.OfApp{App: a.ID}, ID: g.ID(m), Node: m.Node}
			if !g.Elastic(m) {
				return []ledger.Lever{lost} // The application fails, and the others go with it.
			}
			levers = append(levers, lost)
		case n.Draining() && g.Elastic(m) && !m.Leaving:
			levers = append(levers, MemberWanted{OfApp: ledger.OfApp{App: a.ID}, ID: g.ID(m), Node: m.Node,
				For: "the drain of its node"})
		}
	}
	return levers
}

// Grow starts elastic members that wait where there is memory, each on the node that has the most of it left.
func Grow(v ledger.View) (levers []ledger.Lever) {
	free := map[string]units.Bytes{}
	for a := range v.Running() {
		g := GroupOf(a)
		for i, m := range g.Members {
			if !g.Comes(m) || a.Outcome.Killed != "" {
				continue
			}
			memory, best := g.Component(m.Of).Memory, ""
			for _, n := range v.Live() {
				if _, seen := free[n.Node]; !seen {
					free[n.Node] = v.Free(n)
				}
				if free[n.Node] >= memory && (best == "" || free[n.Node] > free[best]) && told(v, a, n) == nil {
					best = n.Node
				}
			}
			if best != "" {
				free[best] -= memory
				levers = append(levers, MemberStarted{OfApp: ledger.OfApp{App: a.ID}, Of: m.Of, Index: i, Node: best})
			}
		}
	}
	return levers
}

// Leave has elastic members leave nodes on which so much memory is wanted for an application, the newest first.
func Leave(v ledger.View, wanted map[string]units.Bytes, to api.AppID) (levers []ledger.Lever) {
	for _, a := range slices.Backward(v.Apps()) {
		g := GroupOf(a)
		for _, m := range slices.Backward(g.Members) {
			if m.Node == "" || !g.Elastic(m) || m.Leaving || wanted[m.Node] <= 0 {
				continue
			}
			wanted[m.Node] -= g.Component(m.Of).Memory
			levers = append(levers, MemberWanted{OfApp: ledger.OfApp{App: a.ID}, ID: g.ID(m), Node: m.Node, For: string(to)})
		}
	}
	return levers
}

// MemberStarted: the elastic member at a place of an application's starts on a node.
type MemberStarted struct {
	ledger.OfApp
	ledger.Pulled
	Of    api.ExecutorID
	Index int
	Node  string
}

// Line is what it says.
func (f MemberStarted) Line() ledger.Line {
	return f.OfApp.Says("component starts", "an elastic component %s of %s starts on node %s", f.Of, f.App, f.Node)
}

// Apply puts it there.
func (f MemberStarted) Apply(v ledger.View, a *ledger.App, g *Group) error {
	if f.Index < 0 || f.Index >= len(g.Members) || !g.Comes(g.Members[f.Index]) || !a.Running() {
		return fmt.Errorf("no elastic component of %s waits at place %d", f.App, f.Index)
	}
	g.Members = slices.Clone(g.Members)
	g.put(v, f.Index, f.Node)
	g.fill(v, f.Index)
	return g.fit(v, a)
}

// MemberWanted: an elastic member of an application is to leave a node, whose memory is wanted.
type MemberWanted struct {
	ledger.OfApp
	ledger.Pulled
	ID        api.ExecutorID
	Node, For string
}

// Line is what it says.
func (f MemberWanted) Line() ledger.Line {
	return f.OfApp.Says("component wanted", "component %s of %s leaves node %s for %s", f.ID, f.App, f.Node, f.For)
}

// Apply has its node stop it; it has its memory until that has.
func (f MemberWanted) Apply(_ ledger.View, _ *ledger.App, g *Group) error {
	i := g.of(f.ID, f.Node)
	if i < 0 || !g.Elastic(g.Members[i]) {
		return fmt.Errorf("%s of %s on node %q is no elastic component", f.ID, f.App, f.Node)
	}
	g.Members = slices.Clone(g.Members)
	g.Members[i].Leaving = true
	return nil
}

// MemberLost: a member of an application was lost with its node.
type MemberLost struct {
	ledger.OfApp
	ledger.Pulled
	ID   api.ExecutorID
	Node string
}

// Line is what it says.
func (f MemberLost) Line() ledger.Line {
	return f.OfApp.Says("component lost", "component %s of %s was lost with node %s", f.ID, f.App, f.Node)
}

// Apply has no node run it any more; an elastic one comes again.
func (f MemberLost) Apply(_ ledger.View, _ *ledger.App, g *Group) error {
	i := g.of(f.ID, f.Node)
	if i < 0 {
		return fmt.Errorf("%s of %s on node %q is no component of it", f.ID, f.App, f.Node)
	}
	g.Members = slices.Clone(g.Members)
	g.Members[i].end("lost with node "+f.Node, api.Unknown, g.Elastic(g.Members[i]))
	return nil
}
