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

// queue is a heap of timers in the fixed order (at, rank, id, seq).
type queue struct {
	heap []*timer
	seq  uint64
}

func (a *timer) before(b *timer) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.rank != b.rank:
		return a.rank < b.rank
	case a.id != b.id:
		return a.id < b.id
	}
	return a.seq < b.seq
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
		q.heap = append(q.heap, t)
		t.at0 = len(q.heap)
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
	q.heap[last] = nil
	q.heap = q.heap[:last]
	t.at0 = 0
	if i < last {
		q.heap[i], moved.at0 = moved, i+1
		q.fix(i)
	}
}

// next takes the first timer out; nil when there is none.
func (q *queue) next() *timer {
	if len(q.heap) == 0 {
		return nil
	}
	t := q.heap[0]
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
	t := q.heap[i]
	for i > 0 {
		parent := (i - 1) / arity
		p := q.heap[parent]
		if !t.before(p) {
			break
		}
		q.heap[i], p.at0 = p, i+1
		i, moved = parent, true
	}
	q.heap[i], t.at0 = t, i+1
	return moved
}

func (q *queue) down(i int) {
	t := q.heap[i]
	for {
		least, first := t, i*arity+1
		at := i
		for c := first; c < min(first+arity, len(q.heap)); c++ {
			if q.heap[c].before(least) {
				least, at = q.heap[c], c
			}
		}
		if least == t {
			break
		}
		q.heap[i], least.at0 = least, i+1
		i = at
	}
	q.heap[i], t.at0 = t, i+1
}
