package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/units"
)

// seat is the room that an application gets on one node.
type seat struct {
	node      *node
	executors int
	offHeap   units.Bytes
}

// seats decides how many executors a gets on each node (design 10.9): when it is
// paced, as many as its DAG has stages that can run side by side, at most MaxPool, or
// fewer if these may take turns (perNode); one otherwise. A node gives fewer where its
// memory holds fewer, and none where not even one fits.
func (e *Engine) seats(a *app) ([]seat, error) {
	seats, err := e.seatsFor(a)
	if err != nil || a.Mode != modePaced || a.observed() {
		// An observed application is held back by nothing, so not by turns either.
		return seats, err
	}
	cores, slots := extent(a, seats)
	shape := e.shape(a.profile.graph, len(seats), a.Deadline, cores, slots, a.at(e.now))
	a.PerNode, a.Open = e.cfg.perNode(a.profile.graph, shape), shape.Open
	if slices.ContainsFunc(seats, func(s seat) bool { return s.executors > a.PerNode }) {
		return e.seatsFor(a)
	}
	return seats, nil
}

// extent is what the nodes of seats offer to a: cores, and slots for one stage.
func extent(a *app, seats []seat) (cores units.Cores, slots int) {
	for _, s := range seats {
		cores += s.node.Offered
		slots += slotsOn(s.node, a.Launch)
	}
	return cores, slots
}

// seatsFor is seats with as many executors on a node as a.width says.
func (e *Engine) seatsFor(a *app) ([]seat, error) {
	nodes := e.liveNodes()
	if len(nodes) == 0 && slices.ContainsFunc(e.inOrder(), func(n *node) bool { return n.here() && n.foreign }) {
		return nil, api.Errorf(api.KindTransient, "the nodes run executors of another planner: see `pacer nodes`")
	}
	if len(nodes) == 0 && slices.ContainsFunc(sorted(e.nodes), (*node).here) {
		return nil, api.Errorf(api.KindTransient, "every node is being drained: see `pacer nodes`")
	}
	if len(nodes) == 0 {
		return nil, api.Errorf(api.KindTransient, "no node is connected to the planner: start `pacer up` or a node controller")
	}
	var seats []seat
	for _, n := range nodes {
		if s := e.seat(a, n, e.width(a)); s.executors > 0 {
			seats = append(seats, s)
		}
	}
	if len(seats) == 0 {
		largest := slices.MaxFunc(nodes, func(x, y *node) int { return int(x.Memory/units.MiB - y.Memory/units.MiB) })
		return nil, api.Errorf(api.KindInvalid, "an executor of %v heap and %v overhead fits no node: the largest gives %v",
			a.Launch.Heap, a.Launch.Overhead, largest.Memory)
	}
	return e.place(a, seats, 0), nil
}

// width is how many executors a should have on a node.
func (e *Engine) width(a *app) int {
	switch {
	case a.Mode != modePaced:
		return 1
	case a.PerNode > 0:
		return a.PerNode
	}
	return e.cfg.together(a.profile.graph)
}

// place chooses the seats that a, which is on some nodes already, takes, in their
// order: all, or those on the least committed nodes, up to MaxNodes in all.
func (e *Engine) place(a *app, seats []seat, taken int) []seat {
	if e.cfg.MaxNodes == 0 {
		return seats
	}
	sites := make([]site, len(seats))
	for i, s := range seats {
		sites[i] = e.site(a, s.node, s.executors)
	}
	var chosen []seat
	for _, i := range leastCommitted(sites, e.cfg.MaxNodes-taken) {
		chosen = append(chosen, seats[i])
	}
	return chosen
}

// seat decides on one node. A node that does not say its memory (0) is taken to
// have enough for the executors, and nothing to share.
func (e *Engine) seat(a *app, n *node, width int) seat {
	use := a.use()
	use.Fixed = a.Launch.OffHeapFixed
	use.Executors = fitting(n, use, width)
	s := seat{node: n, executors: use.Executors, offHeap: a.Launch.OffHeap}
	if n.Memory == 0 || use.Fixed || use.Executors == 0 {
		return s
	}
	off, err := memory.AtStart(n.Memory, use, e.cfg.Applications)
	if err != nil || off < max(e.cfg.LeastOffHeap, executionHeap(a.Launch.Heap)) {
		off = 0
	}
	s.offHeap = off
	return s
}

// fitting is how many executors such as use says, at most width, fit n's memory.
func fitting(n *node, use memory.App, width int) int {
	for ; n.Memory > 0 && width > 0; width-- {
		use.Executors = width
		if memory.Pool(n.Memory, []memory.App{use}) >= 0 {
			break
		}
	}
	return width
}

// executionHeap is what Spark would use for execution on the heap: 60 % of it
// after 300 MiB. Off-heap memory replaces that, so less would be a loss.
func executionHeap(heap units.Bytes) units.Bytes { return max(0, heap-300*units.MiB) * 6 / 10 }

// fill gives a its executors: one per node in turn, so that the lowest ids are
// on different nodes.
func (e *Engine) fill(a *app, seats []seat) {
	if !a.Launch.OffHeapFixed {
		a.Launch.OffHeap = slices.MinFunc(seats, func(x, y seat) int { return int((x.offHeap - y.offHeap) / units.MiB) }).offHeap
	}
	for k := 0; ; k++ {
		more := false
		for _, s := range seats {
			if k < s.executors {
				e.addExecutor(a, s.node)
				more = true
			}
		}
		if !more {
			break
		}
	}
	a.Pool = len(a.Executors)
}

func (e *Engine) addExecutor(a *app, n *node) *executor {
	x := &executor{ID: api.ExecutorID(strconv.Itoa(a.NextID)), Node: n.Node, State: api.ExecutorStarting, Since: a.at(e.now)}
	a.NextID++
	a.Executors = append(a.Executors, x)
	e.settleIn(a, x)
	a.touch()
	return x
}

// gone notes that x runs no more. A running application gets another one when
// its driver speaks next: executors also exit when their driver dies, and must
// not be replaced then.
func (e *Engine) gone(a *app, x *executor, reason string) {
	if x.Gone {
		return
	}
	x.Gone, x.Registered = true, false
	if x.Exit == "" {
		x.Exit = reason
	}
	e.moveOut(a, x)
	e.concern(a)
	a.grown = 0
	a.touch()
	if !a.running() {
		return
	}
	for _, s := range a.open() {
		before := len(s.Targets)
		s.Targets = slices.DeleteFunc(s.Targets, func(t target) bool { return t.Executor == x.ID })
		s.dirty = s.dirty || len(s.Targets) != before
	}
	if x.Leaving {
		e.occur(ExecutorLeft{App: a.ID, Executor: x.ID, Node: x.Node})
		return
	}
	e.occur(ExecutorGone{App: a.ID, Executor: x.ID, Node: x.Node, Reason: reason})
	if !a.GaveUp {
		a.Pending = append(a.Pending, x.Node)
	}
}

// replace starts new executors for those that are gone, each on its node or, if
// that is away, on the live node with the fewest. Without a live node they wait.
func (e *Engine) replace(a *app) {
	if len(a.Pending) == 0 {
		return
	}
	pending := a.Pending
	a.Pending = nil
	for _, name := range pending {
		n := e.replacementNode(a, name)
		if n == nil {
			a.Pending = append(a.Pending, name)
			continue
		}
		if e.mayReplace(a) {
			a.Replaced = append(a.Replaced, e.now)
			x := e.addExecutor(a, n)
			e.occur(ExecutorReplaced{App: a.ID, Executor: x.ID, Node: n.Node})
		}
	}
	if a.GaveUp {
		a.Pending = nil
	}
	a.dirty = true
}

// lastExit is how the executor ended that was lost last.
func (a *app) lastExit() string {
	exit := "unknown causes"
	for _, x := range a.Executors {
		if x.Gone && x.Exit != "" {
			exit, _, _ = strings.Cut(x.Exit, "\n")
		}
	}
	return exit
}

// dead says why a has no executor and will get none, "" while it has hope.
func (a *app) dead() string {
	if !a.GaveUp || !a.running() || len(a.alive()) > 0 {
		return ""
	}
	return "no executor lives and no more are started: " + a.lastExit()
}

func (e *Engine) replacementNode(a *app, name string) *node {
	if n := e.nodes[name]; n != nil && n.live() {
		return n
	}
	count := make(map[string]int)
	for _, x := range a.alive() {
		count[x.Node]++
	}
	bound := e.cfg.MaxNodes > 0 && e.spread(a) >= e.cfg.MaxNodes
	nodes := slices.DeleteFunc(e.liveNodes(), func(n *node) bool {
		return bound && count[n.Node] == 0 || room(a, n, count[n.Node]+1) <= count[n.Node]
	})
	if len(nodes) == 0 {
		return nil
	}
	if e.cfg.MaxNodes == 0 {
		return slices.MinFunc(nodes, func(x, y *node) int { return count[x.Node] - count[y.Node] })
	}
	return slices.MinFunc(nodes, func(x, y *node) int {
		there, other := e.site(a, x, 1), e.site(a, y, 1)
		return cmp.Or(count[x.Node]-count[y.Node], compareSites(&there, &other))
	})
}

// mayReplace counts against the bound and gives up, for good, when it is
// reached: an executor that cannot live is then Spark's to deal with.
func (e *Engine) mayReplace(a *app) bool {
	if a.GaveUp {
		return false
	}
	since := e.now.Add(-e.cfg.ReplacementWindow)
	a.Replaced = slices.DeleteFunc(a.Replaced, func(at units.Instant) bool { return at < since })
	if len(a.Replaced) < e.cfg.Replacements*a.Pool {
		return true
	}
	a.GaveUp = true
	a.say(fmt.Sprintf("%d executors were lost within %v, the last one by %s: no more are started", len(a.Replaced)+1,
		e.cfg.ReplacementWindow.Round(time.Second), a.lastExit()))
	e.occur(ReplacementEnded{App: a.ID, Count: len(a.Replaced) + 1, Window: e.cfg.ReplacementWindow})
	a.touch()
	return false
}
