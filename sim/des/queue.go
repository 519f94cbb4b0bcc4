package des

import (
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// Rank orders what happens at one instant: the lowest first.
type Rank uint8

// Timer is something that will happen. Its owner keeps it and sets it again and
// again, so that a step of the world makes no garbage.
type Timer struct {
	at    units.Instant
	seq   uint64 // Of its entry in the queue; 0 when it is not set.
	id    uint64 // The owner's number: the order inside a rank.
	rank  Rank
	owner Firer
}

// Firer is whose timer it is: Fire is called when t fires. Those that there are
// thousands of are Firers themselves, so that no closure of each has to be fetched.
type Firer interface{ Fire(t *Timer) }

// Call is a Firer without a type of its own.
type Call func()

// Fire implements Firer.
func (c Call) Fire(*Timer) { c() }

// NewTimer returns a timer that is not set. Timers of one rank fire by the numbers of
// their owners.
func NewTimer(r Rank, id uint64, owner Firer) Timer { return Timer{rank: r, id: id, owner: owner} }

// IsSet reports whether it will fire.
func (t *Timer) IsSet() bool { return t.seq > 0 }

// When is when it fires, or fired last.
func (t *Timer) When() units.Instant { return t.at }

// entry says when a timer fires. One whose seq is not its timer's any more is void:
// entries are not looked for when a timer is set again, since a heap that tells each
// timer its place touches the memory of many timers for one that fires.
type entry struct {
	at    units.Instant
	order uint64 // Rank and owner.
	seq   uint64
	t     *Timer
}

func (t *Timer) entry() entry {
	const ownerBits = 56
	return entry{at: t.at, order: uint64(t.rank)<<ownerBits | t.id, seq: t.seq, t: t}
}

func (a *entry) void() bool { return a.seq != a.t.seq }

func (a *entry) before(b *entry) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.order != b.order:
		return a.order < b.order
	}
	return a.seq < b.seq
}

// queue is a heap of timers in the fixed order (at, rank, id, seq).
type queue struct {
	heap []entry
	seq  uint64
	// voids is how many entries are void.
	voids int
}

// set lets t fire at the given instant, whether it was set or not.
func (q *queue) set(t *Timer, at units.Instant) {
	if t.IsSet() && t.at == at {
		return
	}
	q.cancel(t)
	q.seq++
	t.at, t.seq = at, q.seq
	q.heap = append(q.heap, t.entry())
	q.up(len(q.heap) - 1)
}

// cancel takes t out.
func (q *queue) cancel(t *Timer) {
	if !t.IsSet() {
		return
	}
	t.seq = 0
	if q.voids++; q.voids > len(q.heap)/2 {
		q.sweep()
	}
}

// sweep takes the void entries out.
func (q *queue) sweep() {
	q.heap, q.voids = slices.DeleteFunc(q.heap, func(e entry) bool { return e.void() }), 0
	for i := len(q.heap) / arity; i >= 0 && i < len(q.heap); i-- {
		q.down(i)
	}
}

// first is when the first timer fires; false when there is none.
func (q *queue) first() (units.Instant, bool) {
	for len(q.heap) > 0 {
		if !q.heap[0].void() {
			return q.heap[0].at, true
		}
		q.voids--
		q.pop()
	}
	return 0, false
}

// next takes the first timer out; nil when there is none.
func (q *queue) next() *Timer {
	if _, ok := q.first(); !ok {
		return nil
	}
	t := q.heap[0].t
	t.seq = 0
	q.pop()
	return t
}

// pop takes the first entry out.
func (q *queue) pop() {
	last := len(q.heap) - 1
	q.heap[0], q.heap[last] = q.heap[last], entry{}
	if q.heap = q.heap[:last]; last > 0 {
		q.down(0)
	}
}

const arity = 4

func (q *queue) up(i int) {
	e := q.heap[i]
	for i > 0 {
		parent := (i - 1) / arity
		if !e.before(&q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = e
}

func (q *queue) down(i int) {
	e := q.heap[i]
	for {
		least, at := &e, i
		for c := i*arity + 1; c < min(i*arity+1+arity, len(q.heap)); c++ {
			if q.heap[c].before(least) {
				least, at = &q.heap[c], c
			}
		}
		if at == i {
			break
		}
		q.heap[i] = *least
		i = at
	}
	q.heap[i] = e
}
