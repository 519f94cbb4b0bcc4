package ledger

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// lodgers are the applications of which a node runs a component, in order of id.
func lodgers(node string, l *Ledger) (here []*App) {
	for _, a := range sorted(l.apps) {
		if a.held.lodges.Node == node {
			here = append(here, a)
		}
	}
	return here
}

// lodge moves a's component from was to where it is now.
func lodge(was Lodging, a *App, l *Ledger) {
	now := a.held.lodges
	if was == now {
		return
	}
	if was.Node != "" {
		claimed(claims{promised: -was.Memory}, was.Node, l)
		l.batch.nodes[was.Node] = true
		if n := l.nodes[was.Node]; n != nil {
			n.book.lodgers = slices.DeleteFunc(slices.Clone(n.book.lodgers), func(b *App) bool { return b == a })
		}
	}
	if now.Node != "" {
		claimed(claims{promised: now.Memory}, now.Node, l)
		l.batch.nodes[now.Node] = true
		if n := l.nodes[now.Node]; n != nil {
			at, _ := slices.BinarySearchFunc(n.book.lodgers, a.ID, func(b *App, id api.AppID) int {
				return cmp.Compare(b.ID, id)
			})
			n.book.lodgers = slices.Insert(slices.Clone(n.book.lodgers), at, a)
		}
	}
}
