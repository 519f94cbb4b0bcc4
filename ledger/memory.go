package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Claimed is the memory that executors on n take, those counted that are to be replaced
// there.
func (v View) Claimed(n *Node) units.Bytes { return n.book.claimed }

// Free is the memory of n that nobody has claimed; negative where n gives less than it did.
func (v View) Free(n *Node) units.Bytes { return n.Room() - n.book.claimed }

// Freed is when memory was given back last, 0 for never since the planner's start.
func (v View) Freed() units.Instant { return v.l.freed }

// pend makes these the nodes whose executors of a are to be replaced: their memory is kept.
func pend(l *Ledger, a *App, nodes []string) {
	for _, node := range a.Tenant.Pending {
		claim(l, node, -a.Tenant.Claim())
	}
	for _, node := range nodes {
		claim(l, node, a.Tenant.Claim()) // With "" of nobody.
	}
	a.Tenant.Pending = nodes
}

// checkRoom says why an application cannot have executors of so much memory on nodes, one for each name: there is none,
// a node takes no executors, or its memory does not hold them beside all others.
func checkRoom(l *Ledger, id api.AppID, claim units.Bytes, nodes []string) error {
	if len(nodes) == 0 {
		return fmt.Errorf("application %s has no seats", id)
	}
	wanted := make(map[string]units.Bytes, len(nodes))
	for _, node := range nodes {
		n, err := l.node(node, 0)
		if err != nil {
			return err
		}
		if !n.Live() {
			return fmt.Errorf("node %s takes no executors", node)
		}
		if wanted[node] += claim; wanted[node] > l.View().Free(n) {
			return fmt.Errorf("executors of %s need %v of node %s, which has %v left", id, wanted[node], node,
				max(0, l.View().Free(n)))
		}
	}
	return nil
}
