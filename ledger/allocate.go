package ledger

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// allocate enters an executor that has come. An application that runs on no node is nowhere.
func (l *Ledger) allocate(a *App, x *Executor) {
	if x.Node == "" {
		return
	}
	here := l.allocations[x.Node]
	i, found := slices.BinarySearchFunc(here, a.ID, (*Allocation).compare)
	if !found {
		here = slices.Insert(here, i, &Allocation{App: a})
		l.allocations[x.Node] = here
		l.nodes[x.Node].lodge(here)
	}
	at, _ := slices.BinarySearchFunc(here[i].Executors, x, func(y, x *Executor) int {
		return api.CompareExecutors(y.ID, x.ID)
	})
	here[i].Executors, here[i].entry = slices.Insert(here[i].Executors, at, x), nil
	claim(l, x.Node, a.Tenant.Claim())
}

// free strikes an executor that is gone.
func (l *Ledger) free(a *App, x *Executor) {
	here := l.allocations[x.Node]
	i, found := slices.BinarySearchFunc(here, a.ID, (*Allocation).compare)
	if !found {
		return
	}
	here[i].Executors = slices.DeleteFunc(here[i].Executors, func(y *Executor) bool { return x == y })
	here[i].entry = nil
	claim(l, x.Node, -a.Tenant.Claim())
	if len(here[i].Executors) > 0 {
		return
	}
	if here = slices.Delete(here, i, i+1); len(here) == 0 {
		delete(l.allocations, x.Node)
	} else {
		l.allocations[x.Node] = here
	}
	l.nodes[x.Node].lodge(here)
}

// allocation is what a has on the node, nil for nothing.
func (l *Ledger) allocation(a *App, node string) *Allocation {
	if a == nil {
		return nil
	}
	here := l.allocations[node]
	if i, found := slices.BinarySearchFunc(here, a.ID, (*Allocation).compare); found {
		return here[i]
	}
	return nil
}

// claim changes what is claimed of a node.
func claim(l *Ledger, node string, by units.Bytes) {
	if l.claims[node] += by; l.claims[node] == 0 {
		delete(l.claims, node)
	}
	if n := l.nodes[node]; n != nil {
		n.book.claimed = l.claims[node]
	}
	if by < 0 {
		l.freed = l.now
		l.changed.touch(PartFreed)
	}
}
