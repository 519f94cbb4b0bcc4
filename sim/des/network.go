package des

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Delays says what becomes of messages.
type Delays struct {
	// Delay is what every message takes, Jitter the mean of what comes on top,
	// exponentially distributed.
	Delay, Jitter time.Duration
	// Loss and Duplicate are the shares of messages that are lost and that come
	// twice.
	Loss, Duplicate float64
	// Reorder lets a message overtake those sent before it over the same link.
	Reorder bool
}

// QuietRack is the network of a quiet rack.
func QuietRack() Delays {
	return Delays{Delay: 300 * time.Microsecond, Jitter: 200 * time.Microsecond}
}

// Validate reports every fault of d at once.
func (d Delays) Validate() error {
	var faults []error
	if d.Delay < 0 || d.Jitter < 0 || d.Delay > time.Minute || d.Jitter > time.Minute {
		faults = append(faults, fmt.Errorf("network: delay %v and jitter %v, want 0 to 1m", d.Delay, d.Jitter))
	}
	if !(d.Loss >= 0 && d.Loss <= 0.9) || !(d.Duplicate >= 0 && d.Duplicate <= 0.9) {
		faults = append(faults, fmt.Errorf("network: loss %v and duplicate %v, want 0 to 0.9", d.Loss, d.Duplicate))
	}
	return errors.Join(faults...)
}

// Network carries messages on a clock.
type Network struct {
	Delays
	// Out says that it is away: nothing arrives. Back is when it last came back.
	Out  bool
	Back units.Instant

	clock *Clock
	rank  Rank
	seed  uint64
	links uint64
	spare []*message // Those that have arrived, to be used again.
}

// NewNetwork returns a network whose messages arrive as timers of that rank.
func NewNetwork(c *Clock, r Rank, seed uint64, d Delays) *Network {
	return &Network{Delays: d, clock: c, rank: r, seed: seed}
}

// message is on its way over a link.
type message struct {
	timer   Timer
	link    *Link
	deliver func()
}

// Fire is the message's arrival.
func (m *message) Fire(*Timer) {
	l, deliver := m.link, m.deliver
	m.link, m.deliver = nil, nil
	if !l.Cut && !l.net.Out {
		deliver()
	}
	l.net.spare = append(l.net.spare, m)
}

// Link joins one part of a world with the rest.
type Link struct {
	// Cut says that nothing gets through; Back is when it was cut last no more.
	Cut  bool
	Back units.Instant
	// Stalled is until when nothing arrives: it all does then.
	Stalled units.Instant

	net  *Network
	id   uint64
	rand *rand.Rand
	last [2]units.Instant // When the newest message will arrive, by direction.
}

// Link returns the network's next link.
func (n *Network) Link() Link {
	n.links++
	return Link{net: n, id: n.links, rand: Random(n.seed, fmt.Sprintf("link %d", n.links))}
}

// Direction is one of a link's two.
type Direction int

// The directions: to those that serve, and back.
const (
	Up Direction = iota
	Down
)

// Send has deliver called when the message arrives, if it does, and again for a duplicate. It
// returns how many copies are under way.
func (l *Link) Send(d Direction, deliver func()) (copies int) {
	if l.Cut || l.net.Out || (l.net.Loss > 0 && l.rand.Float64() < l.net.Loss) {
		return 0
	}
	l.carry(d, deliver)
	if l.net.Duplicate > 0 && l.rand.Float64() < l.net.Duplicate {
		l.carry(d, deliver)
		return 2
	}
	return 1
}

func (l *Link) carry(d Direction, deliver func()) {
	n := l.net
	at := n.clock.now.Add(n.Delay)
	if n.Jitter > 0 {
		at = at.Add(time.Duration(float64(n.Jitter) * l.rand.ExpFloat64()))
	}
	at = max(at, l.Stalled)
	if !n.Reorder {
		at = max(at, l.last[d])
	}
	l.last[d] = at
	m := n.message()
	m.link, m.deliver, m.timer.id = l, deliver, l.id
	n.clock.Set(&m.timer, at)
}

func (n *Network) message() *message {
	if last := len(n.spare) - 1; last >= 0 {
		m := n.spare[last]
		n.spare = n.spare[:last]
		return m
	}
	m := &message{}
	m.timer = NewTimer(n.rank, 0, m)
	return m
}

// Request sends a request up: serve answers it, and answer gets the first reply that
// arrives. Nobody answers where serve does not call reply.
func (l *Link) Request(serve func(reply func(any)), answer func(any)) {
	answered := false
	l.Send(Up, func() {
		serve(func(body any) {
			l.Send(Down, func() {
				if !answered { // As on the bus, the first reply counts.
					answered = true
					answer(body)
				}
			})
		})
	})
}
