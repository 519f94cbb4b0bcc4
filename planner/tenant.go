package planner

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/units"
)

// tenant is what an application has on one node: its executors that are not gone,
// in order of id. Who is where is kept by node, so that neither a Plan nor a
// status makes anybody walk all applications.
type tenant struct {
	app       *app
	executors []*executor
	entry     *planEntry // Its part of the node's Plan, nil when that is to be made.
	used      units.Work // What the status at hand says that they used since the one before.
}

func (t *tenant) compare(id api.AppID) int { return cmp.Compare(t.app.ID, id) }

// settleIn enters an executor that has come.
func (e *Engine) settleIn(a *app, x *executor) {
	here := e.tenants[x.Node]
	i, found := slices.BinarySearchFunc(here, a.ID, (*tenant).compare)
	if !found {
		here = slices.Insert(here, i, &tenant{app: a})
		e.tenants[x.Node] = here
	}
	here[i].executors, here[i].entry = append(here[i].executors, x), nil
}

// moveOut strikes an executor that is gone.
func (e *Engine) moveOut(a *app, x *executor) {
	here := e.tenants[x.Node]
	i, found := slices.BinarySearchFunc(here, a.ID, (*tenant).compare)
	if !found {
		return
	}
	here[i].executors = slices.DeleteFunc(here[i].executors, func(y *executor) bool { return x == y })
	here[i].entry = nil
	if len(here[i].executors) > 0 {
		return
	}
	if here = slices.Delete(here, i, i+1); len(here) == 0 {
		delete(e.tenants, x.Node)
		return
	}
	e.tenants[x.Node] = here
}

// tenant is what a has on the node, nil for nothing.
func (e *Engine) tenant(a *app, node string) *tenant {
	here := e.tenants[node]
	if i, found := slices.BinarySearchFunc(here, a.ID, (*tenant).compare); found {
		return here[i]
	}
	return nil
}

// stays reports whether a has executors on the node that are not asked to leave.
func (e *Engine) stays(a *app, node string) bool {
	t := e.tenant(a, node)
	return t != nil && slices.ContainsFunc(t.executors, func(x *executor) bool { return !x.Leaving })
}

// spread is how many nodes a is on or waits for, those that drain not counted: it
// is to have others in their place.
func (e *Engine) spread(a *app) int {
	names := make(map[string]bool)
	for _, x := range a.alive() {
		if n := e.nodes[x.Node]; !x.Leaving && (n == nil || !n.Draining) {
			names[x.Node] = true
		}
	}
	for _, name := range a.Pending {
		names[name] = true
	}
	return len(names)
}

// site is n as placement sees it for so many executors of a.
func (e *Engine) site(a *app, n *node, executors int) site {
	s := site{name: n.Node, offered: n.Offered, free: n.Memory}
	if n.Memory == 0 {
		// It does not say: taken to have enough, as in seat.
		s.free = unsaid
	}
	for _, t := range e.tenants[n.Node] {
		if t.app.running() {
			s.apps++
			s.free -= t.app.claim(len(t.executors))
		}
	}
	s.needed = a.claim(executors)
	return s
}

// unsaid stands for the memory of a node that does not say what it has.
const unsaid = units.Bytes(1 << 60)

// claim is the memory that so many executors of a may take.
func (a *app) claim(executors int) units.Bytes {
	use := a.use()
	use.Executors = executors
	return use.Static()
}

// use is an executor of a as package memory sees it, with the sizes that it has
// already. How many there are is for the caller to say.
func (a *app) use() memory.App {
	return memory.App{ID: a.ID, Heap: a.Launch.Heap, Overhead: a.Launch.Overhead, Fixed: true, OffHeap: a.Launch.OffHeap}
}
