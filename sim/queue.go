package sim

import "github.com/sparkpacer/pacer/units"

// rank orders what happens at one instant: the plant moves first, then what it
// shows is read, then what is said travels on.
type rank uint8

const (
	rankFault rank = iota
	rankPlant
	rankDriver
	rankNet
	rankNode
	rankPlanner
	rankCheck
)

// timer is something that will happen. Its owner keeps it and sets it again and
// again, so that a step of the world makes no garbage.
type timer struct {
	at   units.Instant
	seq  uint64
	id   uint64 // The owner's number: the order inside a rank.
	rank rank
	at0  int // Place in the heap plus one; 0 when it is not set.
	fire func()
}

// entry is a timer's place in the heap, with what most comparisons need at hand.
type entry struct {
	at    units.Instant
	order uint64 // Rank and owner.
	t     *timer
}

func (t *timer) entry() entry {
	const ownerBits = 56
	return entry{at: t.at, order: uint64(t.rank)<<ownerBits | t.id, t: t}
}

func (a *entry) before(b *entry) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.order != b.order:
		return a.order < b.order
	}
	return a.t.seq < b.t.seq
}

// queue is a heap of timers in the fixed order (at, rank, id, seq).
type queue struct {
	heap []entry
	seq  uint64
}

// set lets t fire at the given instant, whether it was set or not.
func (q *queue) set(t *timer, at units.Instant) {
	if t.at0 > 0 && t.at == at {
		return
	}
	t.at = at
	q.seq++
	t.seq = q.seq
	if t.at0 == 0 {
		q.heap = append(q.heap, t.entry())
		t.at0 = len(q.heap)
	} else {
		q.heap[t.at0-1].at = at
	}
	q.fix(t.at0 - 1)
}

// cancel takes t out.
func (q *queue) cancel(t *timer) {
	if t.at0 == 0 {
		return
	}
	i, last := t.at0-1, len(q.heap)-1
	moved := q.heap[last]
	q.heap[last] = entry{}
	q.heap = q.heap[:last]
	t.at0 = 0
	if i < last {
		q.heap[i], moved.t.at0 = moved, i+1
		q.fix(i)
	}
}

// next takes the first timer out; nil when there is none.
func (q *queue) next() *timer {
	if len(q.heap) == 0 {
		return nil
	}
	t := q.heap[0].t
	q.cancel(t)
	return t
}

const arity = 4

func (q *queue) fix(i int) {
	if !q.up(i) {
		q.down(i)
	}
}

func (q *queue) up(i int) (moved bool) {
	e := q.heap[i]
	for i > 0 {
		parent := (i - 1) / arity
		p := &q.heap[parent]
		if !e.before(p) {
			break
		}
		q.heap[i], p.t.at0 = *p, i+1
		i, moved = parent, true
	}
	q.heap[i], e.t.at0 = e, i+1
	return moved
}

func (q *queue) down(i int) {
	e := q.heap[i]
	for {
		least, at, first := &e, i, i*arity+1
		for c := first; c < min(first+arity, len(q.heap)); c++ {
			if q.heap[c].before(least) {
				least, at = &q.heap[c], c
			}
		}
		if at == i {
			break
		}
		q.heap[i], least.t.at0 = *least, i+1
		i = at
	}
	q.heap[i], e.t.at0 = e, i+1
}
