package queue

import (
	"slices"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Overcommitted are the applications on n for which its memory does not reach, and those for whose
// deadlines its cores do not, where it offered so many: of each the last by deadline (edf).
// All that come before them keep theirs.
func (p Policy) Overcommitted(v ledger.View, n *ledger.Node, offered units.Cores) (memory, cores []*ledger.App) {
	here := slices.Clone(v.Allocations(n.Node))
	slices.SortFunc(here, func(x, y *ledger.Allocation) int { return edf(v.Now(), x.App, y.App) })
	room, left := n.Room(), n.Offered
	for _, t := range here {
		a := t.App
		claim := units.Bytes(0)
		for _, x := range t.Executors {
			if !x.Lent() {
				claim += a.Tenant.Claim()
			}
		}
		if claim > room {
			memory = append(memory, a)
		} else {
			room -= claim
		}
		if !a.Running() {
			continue
		}
		if least := t.Least(offered); least > left {
			cores = append(cores, a)
		} else {
			left -= least
		}
	}
	return memory, cores
}
