package ledger

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// Claimed is the memory that executors on n are promised, those counted that are to be replaced
// there.
func (v View) Claimed(n *Node) units.Bytes { return n.book.claims.promised }

// Free is the memory of n that no executor is promised; negative where n gives less than it did.
func (v View) Free(n *Node) units.Bytes { return n.Room() - n.book.claims.promised }

// Lenders appends the names of the nodes on which executors are lent, in order.
func Lenders(names []string, v View) []string {
	for name, c := range v.l.claims {
		if c.lent > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Freed is when memory was given back last, 0 for never since the planner's start.
func (v View) Freed() units.Instant { return v.l.freed }

// pend makes these the nodes whose executors of a are to be replaced: their memory is kept.
func pend(l *Ledger, a *App, nodes []string) {
	for _, node := range a.Tenant.Pending {
		claimed(claims{promised: -a.Tenant.Claim()}, node, l)
	}
	for _, node := range nodes {
		claimed(claims{promised: a.Tenant.Claim()}, node, l) // With "" of nobody.
	}
	a.Tenant.Pending = nodes
}

// checkRoom says why a cannot have executors of so much memory on nodes, one for each name, promised or lent: there is
// none, a node takes no executors, or its memory does not hold them beside all others.
func checkRoom(l *Ledger, a *App, claim units.Bytes, nodes []string, lent bool) error {
	if len(nodes) == 0 {
		return fmt.Errorf("application %s has no seats", a.ID)
	}
	if lent && !a.Promise.MayBorrow(a) {
		return fmt.Errorf("application %s is promised its memory", a.ID)
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
		left := l.View().Free(n)
		if lent {
			left = n.Borrowable()
		}
		if wanted[node] += claim; wanted[node] > left {
			return fmt.Errorf("executors of %s need %v of node %s, which has %v left", a.ID, wanted[node], node, max(0, left))
		}
	}
	return nil
}
