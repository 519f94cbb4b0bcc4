package ledger

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// mostShortages bounds how many shortages of an application are kept: of more the first ones.
const mostShortages = 32

// noteShortages takes in which applications are short of cores on n, and ends the shortages of
// those that are not any more.
func noteShortages(l *Ledger, n *Node, s *api.NodeStatus) {
	for i := range s.Shortages {
		if a := l.apps[s.Shortages[i].App]; a != nil && a.Running() {
			l.batch.change(a, partFigures)
			a.lack(n.Node, a.At(l.now), s.Shortages[i])
		}
	}
	for _, t := range l.allocations[n.Node] {
		a := t.App
		at := a.shortOn(n.Node)
		if at < 0 || slices.ContainsFunc(s.Shortages, func(x api.Shortage) bool { return x.App == a.ID }) {
			continue
		}
		l.batch.change(a, partFigures)
		a.Tenant.Short[at].End = a.At(l.now)
	}
}

// lack notes that a is short on a node at a moment of its deadline clock.
func (a *App) lack(node string, at units.Seconds, now api.Shortage) {
	of := a.shortOn(node)
	switch {
	case of < 0 && len(a.Tenant.Short) >= mostShortages:
		return
	case of < 0:
		a.Tenant.Short = append(a.Tenant.Short, api.AppShortage{Node: node, Begin: at, Shortage: now})
	default:
		s := &a.Tenant.Short[of]
		now.GivenUp = now.GivenUp || s.GivenUp
		if s.Asked-s.Had >= now.Asked-now.Had {
			s.GivenUp = now.GivenUp
		} else {
			s.Shortage = now
		}
	}
}

// shortOn is the place of a's shortage on a node that lasts, -1 for none.
func (a *App) shortOn(node string) int {
	return slices.IndexFunc(a.Tenant.Short, func(x api.AppShortage) bool { return x.Node == node && x.End == 0 })
}
