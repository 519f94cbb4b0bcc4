package ledger

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// Lodgers are the applications of which n runs components, in order of id.
func Lodgers(n *Node) []*App { return n.book.lodgers }

// Ports are those at which components listen on nodes of which of is true.
func Ports(of func(node string) bool, v View) map[int]bool {
	taken := map[int]bool{}
	for a := range v.Running() {
		for _, on := range a.held.lodges {
			if on.Component != nil && of(on.Node) {
				taken[on.Component.Port] = true
			}
		}
	}
	return taken
}

// lodgesOn reports whether node runs a component of a.
func lodgesOn(node string, a *App) bool {
	return slices.ContainsFunc(a.held.lodges, func(on Lodging) bool { return on.Node == node })
}

// lodgers are the applications of which a node runs a component, in order of id.
func lodgers(node string, l *Ledger) (here []*App) {
	for _, a := range sorted(l.apps) {
		if lodgesOn(node, a) {
			here = append(here, a)
		}
	}
	return here
}

// lodge moves a's components from was to where they are now.
func lodge(was []Lodging, a *App, l *Ledger) {
	now := a.held.lodges
	if slices.Equal(was, now) {
		return
	}
	for _, on := range was {
		if !stays(on, now) {
			claimed(claims{promised: -on.Memory}, on.Node, l)
		}
		lodgeOn(on.Node, a, l)
	}
	for _, on := range now {
		if !stays(on, was) {
			claimed(claims{promised: on.Memory}, on.Node, l)
		}
		lodgeOn(on.Node, a, l)
	}
}

// stays reports whether a component is where it is by others, too.
func stays(on Lodging, others []Lodging) bool {
	return slices.ContainsFunc(others, func(x Lodging) bool { return x.ID == on.ID && x.Node == on.Node })
}

// lodgeOn has a node know whether it runs a component of a.
func lodgeOn(node string, a *App, l *Ledger) {
	l.batch.nodes[node] = true
	n := l.nodes[node]
	if n == nil {
		return
	}
	at, has := slices.BinarySearchFunc(n.book.lodgers, a.ID, func(b *App, id api.AppID) int {
		return cmp.Compare(b.ID, id)
	})
	switch lodges := lodgesOn(node, a); {
	case lodges && !has:
		n.book.lodgers = slices.Insert(slices.Clone(n.book.lodgers), at, a)
	case has && !lodges:
		n.book.lodgers = slices.Delete(slices.Clone(n.book.lodgers), at, at+1)
	}
}
