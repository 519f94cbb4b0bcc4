package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// Network says what becomes of messages between planner, nodes and drivers.
type Network struct {
	// Delay is what every message takes, Jitter the mean of what comes on top,
	// exponentially distributed.
	Delay, Jitter time.Duration
	// Loss and Duplicate are the shares of messages that are lost and that come
	// twice.
	Loss, Duplicate float64
	// Reorder lets a message overtake those sent before it over the same link.
	Reorder bool
}

// DefaultNetwork is that of a quiet rack.
func DefaultNetwork() Network {
	return Network{Delay: 300 * time.Microsecond, Jitter: 200 * time.Microsecond}
}

// Validate reports every fault of n at once.
func (n Network) Validate() error {
	var faults []error
	if n.Delay < 0 || n.Jitter < 0 || n.Delay > time.Minute || n.Jitter > time.Minute {
		faults = append(faults, fmt.Errorf("network: delay %v and jitter %v, want 0 to 1m", n.Delay, n.Jitter))
	}
	if !(n.Loss >= 0 && n.Loss <= 0.9) || !(n.Duplicate >= 0 && n.Duplicate <= 0.9) {
		faults = append(faults, fmt.Errorf("network: loss %v and duplicate %v, want 0 to 0.9", n.Loss, n.Duplicate))
	}
	return errors.Join(faults...)
}

// network carries messages.
type network struct {
	w     *World
	links uint64
	// out says that the bus is away: nobody is connected.
	out bool
	// back is when it last came back.
	back units.Instant
	// spare are messages that have arrived, to be used again.
	spare []*message
}

// message is on its way over a link.
type message struct {
	timer   timer
	link    *link
	deliver func()
	// status is what the planner gets where deliver is nil: most messages are
	// statuses, which need neither a closure nor memory of their own.
	status api.NodeStatus
}

// message returns a message that will call deliver, or bring a copy of status.
func (n *network) message(l *link, deliver func(), status *api.NodeStatus) *message {
	var m *message
	if last := len(n.spare) - 1; last >= 0 {
		m, n.spare = n.spare[last], n.spare[:last]
	} else {
		m = &message{}
		m.timer.rank, m.timer.owner = rankNet, m
	}
	m.link, m.deliver, m.timer.id = l, deliver, l.id
	if status != nil {
		m.status = status.Clone()
	}
	return m
}

// fire is the message's arrival.
func (m *message) fire(*timer) {
	l, deliver := m.link, m.deliver
	switch {
	case l.cut || l.net.out:
	case deliver != nil:
		deliver()
	default:
		w := l.net.w
		w.planners(func(c *control) { c.step(planner.Status{Status: &m.status}) })
		if w.control.engine == nil { // Only one that stands by need note it.
			w.control.overheard[m.status.Node] = w.now
		}
	}
	m.link, m.deliver = nil, nil
	l.net.spare = append(l.net.spare, m)
}

// link joins a node or a driver with the planner.
type link struct {
	net  *network
	id   uint64
	rand *rand.Rand
	// last is when the newest message will arrive, up to the planner and down.
	last [2]units.Instant
	// cut says that nothing gets through, stalled until when nothing arrives: it all
	// does then. back is when it was cut last no more.
	cut           bool
	stalled, back units.Instant
}

func (n *network) link() link {
	n.links++
	return link{net: n, id: n.links, rand: random(n.w.cfg.Seed, fmt.Sprintf("link %d", n.links))}
}

// up and down are the directions of a link.
const (
	up = iota
	down
)

// send has deliver called when the message arrives, if it does.
func (l *link) send(direction int, deliver func()) { l.post(direction, deliver, nil) }

// report sends a node's status to the planner as it is now.
func (l *link) report(s *api.NodeStatus) { l.post(up, nil, s) }

func (l *link) post(direction int, deliver func(), status *api.NodeStatus) {
	n := &l.net.w.cfg.Net
	if l.cut || l.net.out || (n.Loss > 0 && l.rand.Float64() < n.Loss) {
		return
	}
	l.carry(n, direction, deliver, status)
	if n.Duplicate > 0 && l.rand.Float64() < n.Duplicate {
		l.carry(n, direction, deliver, status)
	}
}

func (l *link) carry(n *Network, direction int, deliver func(), status *api.NodeStatus) {
	w := l.net.w
	at := w.now.Add(n.Delay)
	if n.Jitter > 0 {
		at = at.Add(time.Duration(float64(n.Jitter) * l.rand.ExpFloat64()))
	}
	at = max(at, l.stalled)
	if !n.Reorder {
		at = max(at, l.last[direction])
	}
	l.last[direction] = at
	w.queue.set(&l.net.message(l, deliver, status).timer, at)
}

// request sends a request up; serve answers it, and answer gets the reply. A
// planner that is down does not call serve's reply.
func (l *link) request(serve func(reply func(any)), answer func(any)) {
	answered := false
	l.send(up, func() {
		serve(func(body any) {
			l.send(down, func() {
				if !answered { // As on the bus, the first reply counts.
					answered = true
					answer(body)
				}
			})
		})
	})
}
