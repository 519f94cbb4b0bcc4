package ledger

import (
	"cmp"
	"fmt"

	"github.com/sparkpacer/pacer/api"
)

// Anew: an application begins again, by another driver: with other executors in the place of those that it had, whose
// driver has gone, and with none of its stages. Executors on nodes that take none now are replaced where there is room.
type Anew struct{ App api.AppID }

func (Anew) lever() {} // Give seats again that were lost.

func (f Anew) apply(l *Ledger) error {
	a, err := l.app(f.App, partState|partMarks|partFolded)
	if err != nil {
		return err
	}
	if !a.Running() || !a.held.awaits {
		return fmt.Errorf("application %s does not begin again: it is %s", a.ID, a.Outcome.State)
	}
	waiting := a.Tenant.Pending
	pend(l, a, nil)
	nodes := make([]string, 0, len(a.Tenant.Executors)+len(waiting))
	for _, x := range a.Alive() {
		x.Gone = true
		x.Exit = cmp.Or(x.Exit, "its driver was lost")
		l.free(a, x)
		nodes = append(nodes, x.Node)
	}
	var pending []string
	for _, node := range append(nodes, waiting...) {
		if n := l.nodes[node]; n != nil && n.Live() && l.View().Free(n) >= a.Tenant.Claim() {
			l.add(a, node, false)
		} else {
			pending = append(pending, "")
		}
	}
	pend(l, a, pending)
	l.batch.dropTargets(a)
	l.batch.dropStages(a)
	a.Marks = Marks{}
	a.Promise.Queries, a.Promise.Targeted = nil, false
	return nil
}
