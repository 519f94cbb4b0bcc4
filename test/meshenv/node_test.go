package meshenv

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/mesh/probe"
	"github.com/sparkpacer/pacer/units"
)

// world carries the messages of nodes.
type world interface {
	// enter gives a node its place: all its functions.
	enter(*node)
	// pass lets time pass. After it nothing moves, and nodes may be looked at.
	pass(d time.Duration)
}

// engine is a worker or a scheduler.
type engine interface {
	Step(now units.Instant, m probe.Message, out []probe.Action) []probe.Action
	Due() (at units.Instant, wanted bool)
}

// node is an engine, its place in a world, and what can be seen of it from outside.
type node struct {
	engine
	self probe.Node
	work *work
	dead atomic.Bool

	send  func(probe.Action)
	later func(d time.Duration, m probe.Message) // Has it told m.
	wake  func(at units.Instant)                 // Has it told a Tick then, and not when it was to be before.
	cut   func(bool)                             // Cuts its connection, or joins it again.

	// Of a worker: what runs, and who was handed something last.
	runs probe.Attempt
	next probe.Node
	// Of a scheduler: tasks that it has told a peer to be new, and to be over; jobs in the order of their ends.
	begun, over int
	completed   []int32
	took        time.Duration // All jobs together.
}

// step tells a node something, and carries out what it wants.
func (n *node) step(now units.Instant, m probe.Message) {
	if n.dead.Load() {
		return
	}
	if e, is := m.Body.(probe.Ended); is {
		n.work.jobs[e.Job].ran[e.Task].Add(1)
		n.runs = probe.Attempt{}
	}
	for _, a := range n.Step(now, m, nil) {
		n.act(now, a)
	}
	if at, wanted := n.Due(); wanted {
		n.wake(max(at, now))
	} else {
		n.wake(des.Never)
	}
}

func (n *node) act(now units.Instant, a probe.Action) {
	switch body := a.Message.Body.(type) {
	case probe.Run:
		n.runs = probe.Attempt(body)
		n.later(n.work.jobs[body.Job].tasks[body.Task], probe.Message{Body: probe.Ended(body)})
		return
	case probe.Completed:
		n.completed = append(n.completed, int32(body))
		n.work.left.Add(-1)
		n.took += now.Sub(n.work.jobs[body].at)
		return
	case probe.Rotate:
		n.next = a.To
	case probe.Delta:
		if a.To == -1 || a.To == -2 && n.self == -1 { // One peer of all that are told.
			n.begun, n.over = n.begun+max(0, body.Probes), n.over-min(0, body.Probes)
		}
	}
	n.send(a)
}

// simulated is a world of the simulator.
type simulated struct {
	t       *testing.T
	clock   des.Clock
	network *des.Network
	nodes   map[probe.Node]*node
	links   map[probe.Node]*des.Link
}

func newSimulated(t *testing.T, d des.Delays, seed uint64) *simulated {
	s := &simulated{t: t, nodes: map[probe.Node]*node{}, links: map[probe.Node]*des.Link{}}
	s.network = des.NewNetwork(&s.clock, 0, seed, d)
	return s
}

func (s *simulated) pass(d time.Duration) {
	if err := s.clock.Pass(s.clock.Now().Add(d)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *simulated) enter(n *node) {
	link := s.network.Link()
	s.nodes[n.self], s.links[n.self] = n, &link
	step := func(m probe.Message) { n.step(s.clock.Now(), m) }
	timer := des.NewTimer(1, uint64(len(s.nodes)), des.Call(func() { step(probe.Message{Body: probe.Tick{}}) }))
	n.wake = func(at units.Instant) { s.clock.Set(&timer, at) }
	n.later = func(d time.Duration, m probe.Message) { s.clock.After(d, 1, 0, func() { step(m) }) }
	n.cut = func(cut bool) { link.Cut = cut }
	n.send = func(a probe.Action) {
		link.Send(des.Up, func() {
			if !s.links[a.To].Cut {
				s.nodes[a.To].step(s.clock.Now(), a.Message)
			}
		})
	}
}
