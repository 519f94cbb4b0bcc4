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
	hold(x, a, l, true)
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
	hold(x, a, l, false)
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

// hold has the memory of x, one of a's executors, counted on its node, or not any more.
func hold(x *Executor, a *App, l *Ledger, holds bool) {
	by := claims{promised: a.Tenant.Claim(), spare: x.Memory.Spare}
	if x.Lent() {
		by.promised, by.lent = 0, by.promised
	}
	if !holds {
		by = claims{-by.promised, -by.lent, -by.spare}
	}
	claimed(by, x.Node, l)
}

// told takes in what its node says of the memory of x, one of a's executors.
func told(x *Executor, a *App, l *Ledger, m api.ExecutorMemory) {
	m.Spare = min(m.Spare, a.Tenant.Claim())
	if !x.Gone && m.Spare != x.Memory.Spare {
		claimed(claims{spare: m.Spare - x.Memory.Spare}, x.Node, l)
	}
	x.Memory = m
}

// claimed changes what is claimed of a node.
func claimed(by claims, node string, l *Ledger) {
	c := l.claims[node]
	c = claims{c.promised + by.promised, c.lent + by.lent, c.spare + by.spare}
	if l.claims[node] = c; c == (claims{}) {
		delete(l.claims, node)
	}
	if n := l.nodes[node]; n != nil {
		if n.book.claims = c; by.spare > 0 && n.Lendable() > 0 {
			l.changed.touch(PartGrowth) // More may be seated.
		}
	}
	if by.promised < 0 || by.lent < 0 {
		l.freed = l.now
		l.changed.touch(PartFreed)
	}
}

// Least is the part that t's node, which offers so many cores, has of those with which t's application is in time, or
// that are reserved for it; 0 where that is not known or its deadline cannot be kept. It is as old as its newest
// targets: it changes with what the planner decides, not with time.
func (t *Allocation) Least(offered units.Cores) units.Cores {
	a := t.App
	if a.Band() != api.BandPromised || a.Tenant.Cores <= 0 {
		return 0
	}
	return max(a.Marks.Least, a.Reserved()) * t.Cores(offered) / a.Tenant.Cores
}
