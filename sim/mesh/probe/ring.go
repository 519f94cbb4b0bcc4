package probe

import (
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// follow takes those that come after this worker: not itself, and no more than it has to know.
func (w *Worker) follow(next []Node) {
	if i := slices.Index(next, w.self); i >= 0 {
		next = next[:i]
	}
	w.ring = next[:min(len(next), w.config.Successors)]
}

// nearer reports whether the first of next, of which a scheduler tells unasked, is to come after this worker. None that
// is farther away is: a scheduler that was cut off for a while takes those between for dead, but they answer here.
func (w *Worker) nearer(next []Node) bool {
	away := func(n Node) int { return (int(n-w.self) + w.config.Workers) % w.config.Workers }
	return len(next) > 0 && (len(w.ring) == 0 || away(next[0]) <= away(w.ring[0]))
}

// rotate hands on what is marked, and the state if it is new.
func (w *Worker) rotate(now units.Instant) {
	if len(w.ring) == 0 { // A scheduler, another one each time, knows who comes after this worker.
		w.rotates = true
		w.insist(now, Node(-1-int(w.seq)%w.config.Schedulers), AskRing{})
		return
	}
	for i := range w.queue.marked {
		w.queue.marked[i].Hops++
	}
	w.insist(now, w.ring[0], Rotate{w.queue.marked, w.state})
	w.queue.marked, w.fresh, w.rotates = nil, false, w.config.Tries > 0
}

// bury has a worker that does not answer count as dead, and what it was sent handed to the next one at once.
func (w *Worker) bury(now units.Instant, dead Node, sent Rotate) {
	for i := range w.config.Schedulers {
		w.send(Node(-1-i), 0, Dead(dead))
	}
	for _, p := range sent.Probes {
		if p.Hops--; !w.has(&p) {
			w.queue.marked = append(w.queue.marked, p)
		}
	}
	w.follow(slices.DeleteFunc(slices.Clone(w.ring), func(n Node) bool { return n == dead }))
	w.rotate(now)
}

// mend goes on with the successors that a scheduler knows: with none the marked probes stay here. Where it
// tells of them unasked, the round goes on as any other.
func (w *Worker) mend(now units.Instant, asked bool) {
	w.queue.still = len(w.ring) == 0 || w.config.Rules[rotation] != 0
	if !asked {
		return
	}
	if w.rotates = false; !w.queue.still {
		w.rotate(now)
		return
	}
	for _, p := range w.queue.marked {
		w.queue.enqueue(now, w.left(now), p)
	}
	w.queue.marked = nil
}

// rotated takes what the worker before hands on, once.
func (w *Worker) rotated(now units.Instant, m Message, body Rotate) {
	if w.config.Tries > 0 {
		w.send(m.From, m.Seq, Ack{Next: slices.Clone(w.ring)})
		if m.Seq <= w.heard[m.From] {
			return
		}
		w.heard[m.From] = m.Seq
	}
	w.take(now, body.Probes, body.State)
}
