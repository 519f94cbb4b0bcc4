package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// leaveWait is how long an executor that was asked to leave may take to hand its
// blocks on once no stage is bound to it; then its node stops it, and Spark makes
// anew what was lost.
const leaveWait = time.Minute

// drainNode empties a node: it gets no new executors, and those that it has
// leave as soon as their applications have others to go on with.
func (e *Engine) drainNode(q api.ControlRequest) (api.ControlReply, error) {
	n, err := e.knownNode(q.Node)
	if err != nil {
		return api.ControlReply{}, err
	}
	if !n.Draining {
		n.Draining, n.dirty, e.dirty[n.Node] = true, true, true
		e.relist()
		e.growth++
		e.occur(NodeDraining{Node: n.Node})
	}
	e.vacate(0)
	stay := 0
	for _, a := range e.applications() {
		if a.running() && e.stays(a, n.Node) {
			stay++
		}
	}
	message := fmt.Sprintf("node %s drains: it gets no new executors", n.Node)
	if stay > 0 {
		message += fmt.Sprintf("; %d of its applications have no executors elsewhere and stay until they have or end", stay)
	}
	return api.ControlReply{Message: message}, nil
}

// undrainNode lets a node have executors again, of running applications too.
func (e *Engine) undrainNode(q api.ControlRequest) (api.ControlReply, error) {
	n, err := e.knownNode(q.Node)
	if err != nil {
		return api.ControlReply{}, err
	}
	if !n.Draining {
		return api.ControlReply{Message: fmt.Sprintf("node %s was not draining", n.Node)}, nil
	}
	n.Draining, n.dirty, e.dirty[n.Node] = false, true, true
	e.relist()
	e.growth++
	e.occur(NodeJoined{Node: n.Node, Offered: n.Offered, Memory: n.Memory})
	return api.ControlReply{Message: fmt.Sprintf("node %s takes executors again", n.Node)}, nil
}

func (e *Engine) knownNode(name string) (*node, error) {
	if n := e.nodes[name]; n != nil {
		return n, nil
	}
	return nil, api.Errorf(api.KindNotFound, "node %q is not known: `pacer nodes` lists them", name)
}

// vacate asks the executors of draining nodes to leave, those of an application
// together and only once it has others to go on with, so that nothing is lost
// and nothing waits.
func (e *Engine) vacate(dt time.Duration) {
	for _, n := range e.draining() {
		for _, a := range e.applications() {
			if a.running() && e.elsewhere(a) {
				e.leave(a, n)
			}
		}
	}
	for _, a := range e.applications() {
		if a.running() {
			e.left(a, dt)
		}
	}
}

// elsewhere reports whether a has executors that stay.
func (e *Engine) elsewhere(a *app) bool {
	return slices.ContainsFunc(a.alive(), func(x *executor) bool {
		n := e.nodes[x.Node]
		return x.Registered && !x.Leaving && n != nil && n.live()
	})
}

// leave asks a's executors on n to go; one that its driver has never seen goes
// at once.
func (e *Engine) leave(a *app, n *node) {
	for _, x := range a.alive() {
		if x.Node != n.Node || x.Leaving {
			continue
		}
		x.Leaving, a.Resized, a.grown = true, true, 0
		a.touch()
		if !x.Registered {
			e.gone(a, x, "its node is being drained")
		}
	}
	e.count(a)
}

// left stops waiting for executors that have had nothing to do for leaveWait.
func (e *Engine) left(a *app, dt time.Duration) {
	for _, x := range a.Executors {
		if !x.Leaving || x.Gone {
			continue
		}
		if a.bound(x.ID) {
			x.leaving = 0
		} else if x.leaving += dt; x.leaving >= leaveWait {
			e.gone(a, x, "its node is being drained")
		}
	}
}

// bound reports whether a running stage has the executor.
func (a *app) bound(id api.ExecutorID) bool {
	return slices.ContainsFunc(a.order, func(s *stage) bool {
		return s.Done == nil && slices.ContainsFunc(s.Ready.Bindings, func(b api.Binding) bool { return b.Executor == id })
	})
}

// grow gives a executors on live nodes where it has none: nodes that have come
// since it registered. They are as many as it would have got there then. Like
// replacements, they come when the driver speaks. Nothing is looked at while
// neither nodes nor a's executors have changed since the last time.
func (e *Engine) grow(a *app) {
	if a.GaveUp || a.grown == e.growth {
		return
	}
	a.grown = e.growth
	taken := 0
	if e.cfg.MaxNodes > 0 {
		if taken = e.spread(a); taken >= e.cfg.MaxNodes {
			return
		}
	}
	var free []seat
	for _, n := range e.inOrder() {
		if !n.live() || e.stays(a, n.Node) || slices.Contains(a.Pending, n.Node) {
			continue
		}
		if more := room(a, n, e.width(a)); more > 0 {
			free = append(free, seat{node: n, executors: more})
		}
	}
	for _, s := range e.place(a, free, taken) {
		e.growOn(a, s)
	}
}

func (e *Engine) growOn(a *app, s seat) {
	for range s.executors {
		e.addExecutor(a, s.node)
	}
	a.Pool += s.executors
	a.Resized = true
	e.count(a)
	e.occur(AppGrown{App: a.ID, Node: s.node.Node, Executors: s.executors})
}

// room is how many executors of a, at most width, fit n's memory with the sizes
// that a's executors have already.
func room(a *app, n *node, width int) int {
	return fitting(n, a.use(), width)
}

// count sets a's Cores and Slots to those of the nodes that it has executors on.
func (e *Engine) count(a *app) {
	a.Cores, a.Slots = 0, 0
	seen := make(map[string]bool)
	for _, x := range a.alive() {
		if n := e.nodes[x.Node]; n != nil && !x.Leaving && !seen[x.Node] {
			seen[x.Node] = true
			a.Cores += n.Offered
			a.Slots += slotsOn(n, a.Launch)
		}
	}
	a.touch()
}

// unstarted gives up executors on a lost node that no driver has seen: they were
// asked for when the node was gone already.
func (e *Engine) unstarted(n *node) {
	for _, a := range e.applications() {
		for _, x := range a.alive() {
			if a.running() && x.Node == n.Node && !x.Registered {
				e.gone(a, x, "its node is lost")
			}
		}
	}
}
