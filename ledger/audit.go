package ledger

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// Audit compares the ledger's indices, and what it keeps for the end of a batch, with what
// a walk over everything finds, and says the first difference; "" for none. It is to be
// called after a Close. It cuts a snapshot, so that the next call finds what has changed since and
// would not be copied.
func (l *Ledger) Audit() string {
	found := make(map[string]int)
	for _, a := range sorted(l.apps) {
		if fault := a.audit(); fault != "" {
			return fmt.Sprintf("application %s: %s", a.ID, fault)
		}
		for _, x := range a.Tenant.Executors {
			if x.Node == "" {
				continue // It is free, or nothing is known of it.
			}
			t := l.View().Allocation(a, x.Node)
			if here := t != nil && slices.Contains(t.Executors, x); here == x.Gone {
				return fmt.Sprintf("executor %s of %s: gone is %v, and on its node is %v", x.ID, a.ID, x.Gone, here)
			}
			if !x.Gone {
				found[x.Node]++
			}
		}
	}
	for node, here := range l.allocations {
		if !slices.IsSortedFunc(here, func(x, y *Allocation) int { return x.compare(y.App.ID) }) {
			return "the allocations of " + node + " are not in order"
		}
		for _, t := range here {
			found[node] -= len(t.Executors)
		}
	}
	for node, left := range found {
		if left != 0 {
			return fmt.Sprintf("node %s has %d executors more than its allocations", node, left)
		}
	}
	if fault := auditMemory(l); fault != "" {
		return fault
	}
	for id, p := range l.profiles.stored {
		if fault := auditHeld(p); fault != "" {
			return fmt.Sprintf("profile %s: %s", id.name, fault)
		}
	}
	if v := l.View(); !slices.Equal(v.Apps(), sorted(l.apps)) || !slices.Equal(v.Nodes(), sorted(l.nodes)) {
		return "the line-up is not that of the applications or nodes"
	}
	l.View().Snapshot()
	return ""
}

// auditMemory compares who waits and what is claimed of nodes with what applications are and
// have.
func auditMemory(l *Ledger) string {
	waiting := []*App{}
	found := make(map[string]claims)
	for _, a := range sorted(l.apps) {
		if a.Queued() {
			waiting = append(waiting, a)
		}
		if a.Queued() && len(a.Tenant.Executors) > 0 {
			return fmt.Sprintf("application %s is queued with %d executors", a.ID, len(a.Tenant.Executors))
		}
		for _, x := range a.Alive() {
			of := found[x.Node]
			if of.spare += x.Memory.Spare; x.Lent() {
				of.lent += a.Tenant.Claim()
			} else {
				of.promised += a.Tenant.Claim()
			}
			found[x.Node] = of
		}
		for _, node := range a.Tenant.Pending {
			of := found[node]
			of.promised += a.Tenant.Claim()
			found[node] = of
		}
		for _, on := range a.held.lodges {
			of := found[on.Node]
			of.promised += on.Memory
			found[on.Node] = of
			if n := l.nodes[on.Node]; n != nil && !slices.Contains(n.book.lodgers, a) {
				return fmt.Sprintf("node %s does not have component %s of %s", on.Node, on.ID, a.ID)
			}
		}
	}
	if !slices.Equal(waiting, l.View().Waiting()) {
		return "those that wait are not those that are queued"
	}
	maps.DeleteFunc(found, func(_ string, of claims) bool { return of == claims{} })
	if !maps.Equal(found, l.claims) {
		return fmt.Sprintf("the claims of nodes are %v, of executors %v", l.claims, found)
	}
	for _, n := range sorted(l.nodes) {
		if fault := auditHeld(n); fault != "" {
			return fmt.Sprintf("node %s: %s", n.Node, fault)
		}
		if n.book.claims != found[n.Node] || !slices.Equal(n.book.tenants, l.allocations[n.Node]) {
			return fmt.Sprintf("node %s has claims of %v, and %d tenants", n.Node, n.book.claims, len(n.book.tenants))
		}
	}
	return ""
}

func (a *App) audit() string {
	var open []*Stage
	for _, s := range a.Order {
		if s.Done == nil {
			open = append(open, s)
		}
		if s.copied != nil && !reflect.DeepEqual(s.copied, s.copy()) {
			return fmt.Sprintf("stage %v has changed, and snapshots have it as it was", s.Key())
		}
		if !slices.IsSortedFunc(s.Targets, func(x, y Target) int { return api.CompareExecutors(x.Executor, y.Executor) }) {
			return fmt.Sprintf("the targets of stage %v are not in order", s.Key())
		}
	}
	slices.SortFunc(open, CompareStages)
	switch c := a.copies; {
	case c.executors != nil && !reflect.DeepEqual(c.executors, copyExecutors(a.Tenant.Executors)):
		return "an executor has changed, and snapshots have it as it was"
	case c.profile != nil && !reflect.DeepEqual(c.profile, a.Profile.copy()):
		return "its profile has changed, and snapshots have it as it was"
	case !slices.Equal(a.opened, open):
		return "its open stages are not those that are not done"
	}
	return auditHeld(a)
}

// auditHeld looks for values of facets of x that cannot be, and for those that were changed where they stand.
func auditHeld[T Subject](x T) string {
	kinds, has := *kindsOf[T](), *facetsOf(x)
	for place, h := range has.list {
		if err := kinds[place].check(h.value); err != nil {
			return err.Error()
		}
		if _, sum, _ := encodeFacet(h.value); h.value != nil && sum != h.sum {
			return kinds[place].name + " has changed, and is stored as it was"
		}
	}
	anew := has
	anew.count(kinds)
	if !reflect.DeepEqual(anew.effect, has.effect) {
		return fmt.Sprintf("its facets say %+v, and it is %+v", anew.effect, has.effect)
	}
	return ""
}
