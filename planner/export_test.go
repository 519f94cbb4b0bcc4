package planner

import (
	"fmt"
	"slices"
)

// Inconsistent compares what the engine keeps by node, by application and for the
// end of a step with what a walk over everything finds, and says the first
// difference: the slow oracle of tenant.go, open and concern.
func (e *Engine) Inconsistent() string {
	found := make(map[string]int)
	for _, a := range sorted(e.apps) {
		if fault := a.inconsistent(); fault != "" {
			return fmt.Sprintf("application %s: %s", a.ID, fault)
		}
		for _, x := range a.Executors {
			t := e.tenant(a, x.Node)
			if here := t != nil && slices.Contains(t.executors, x); here == x.Gone {
				return fmt.Sprintf("executor %s of %s: gone is %v, and on its node is %v", x.ID, a.ID, x.Gone, here)
			}
			if !x.Gone {
				found[x.Node]++
			}
		}
	}
	for node, here := range e.tenants {
		if !slices.IsSortedFunc(here, func(x, y *tenant) int { return x.compare(y.app.ID) }) {
			return "the tenants of " + node + " are not in order"
		}
		for _, t := range here {
			found[node] -= len(t.executors)
		}
	}
	for node, left := range found {
		if left != 0 {
			return fmt.Sprintf("node %s has %d executors more than its tenants", node, left)
		}
	}
	if !slices.Equal(e.applications(), sorted(e.apps)) || !slices.Equal(e.inOrder(), sorted(e.nodes)) {
		return "the line-up is not that of the applications or nodes"
	}
	return ""
}

func (a *app) inconsistent() string {
	var open []*stage
	for _, s := range a.order {
		if s.Done == nil {
			open = append(open, s)
		}
		if s.dirty {
			return fmt.Sprintf("stage %v has changed and was not saved", s.key())
		}
		if !slices.IsSortedFunc(s.Targets, func(x, y target) int { return compareIDs(x.Executor, y.Executor) }) {
			return fmt.Sprintf("the targets of stage %v are not in order", s.key())
		}
	}
	slices.SortFunc(open, compareStages)
	switch {
	case !slices.Equal(a.open(), open):
		return "its open stages are not those that are not done"
	case a.dirty || a.touched || a.flush || a.concerned:
		return "it has changed and was not looked at"
	}
	return ""
}
