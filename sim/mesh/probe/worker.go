package probe

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// doing is what a worker's slot does.
type doing uint8

const (
	free doing = iota
	fetching
	running
)

// Worker is a node monitor with one slot.
type Worker struct {
	post
	queue queue
	state Shared
	// fresh says that state is to go to the next worker.
	fresh bool

	doing   doing
	current Probe
	attempt Attempt
	until   units.Instant // When what runs ends by its estimate.
	fetch   uint32        // The number of the newest GetTask.

	phase time.Duration
	slot  units.Instant // When the round ends.

	ring    []Node          // Those after it, the next one first.
	rotates bool            // A Rotate is not acknowledged.
	heard   map[Node]uint32 // The number of the newest Rotate of each worker before it.
}

// NewWorker returns an idle worker, whose rounds end at phase and each Config.Round later. After it in the ring are the
// workers with the next numbers.
func NewWorker(c *Config, self Node, phase time.Duration) *Worker {
	w := &Worker{post: post{config: c, self: self}, queue: queue{config: c}, phase: phase % c.Round, state: Shared{At: -1},
		heard: map[Node]uint32{}}
	for i := 1; i <= min(c.Successors, c.Workers-1); i++ {
		w.ring = append(w.ring, Node((int(self)+i)%c.Workers))
	}
	w.queue.still = len(w.ring) == 0 || c.Rules[rotation] != 0
	return w
}

// Step takes a message and appends what follows to out.
func (w *Worker) Step(now units.Instant, m Message, out []Action) []Action {
	w.out = out
	switch body := m.Body.(type) {
	case Enqueue:
		w.take(now, body.Probes, body.State)
	case Rotate:
		w.rotated(now, m, body)
	case Task:
		w.answered(m.From, m.Seq)
		w.learn(now, body.State)
		switch {
		case w.doing != fetching || m.Seq != w.fetch:
		case body.No == 0:
			w.doing = free
		default:
			w.doing, w.attempt, w.until = running, body.Attempt, now.Add(w.current.Estimate)
			w.send(Shell, 0, Run(body.Attempt))
		}
	case Ended:
		if w.doing == running && Attempt(body) == w.attempt {
			w.doing = free
			w.insist(now, w.current.Scheduler, Finished(body))
		}
	case Ask:
		runs := w.doing == running && w.attempt == Attempt(body) ||
			slices.ContainsFunc(w.open, func(l letter) bool { return l.Message.Body == any(Finished(body)) })
		w.send(m.From, m.Seq, Ack{Runs: runs})
	case Ack:
		if _, is := w.answered(m.From, m.Seq).(Rotate); is {
			if w.rotates = false; len(w.ring) > 0 && w.ring[0] == m.From {
				w.follow(append(w.ring[:1:1], body.Next...))
			}
		}
	case Successors:
		if asked := w.answered(m.From, m.Seq) != nil; asked || w.nearer(body) {
			w.follow(body)
			w.mend(now, asked)
		}
	case Undelivered:
		r, is := body.Message.Body.(Rotate) // A scheduler is asked for ever.
		if is && w.answered(body.To, body.Message.Seq) != nil {
			w.bury(now, body.To, r)
		}
	case Tick:
		for _, a := range w.again(now) {
			w.bury(now, a.To, a.Message.Body.(Rotate))
		}
		if w.wants() && now >= w.slot {
			w.rotate(now)
		}
	}
	if w.doing == free {
		if p, found := w.queue.next(now); found {
			w.start(now, p)
		}
	}
	if w.wants() && w.slot <= now {
		round, phase := units.Instant(w.config.Round), units.Instant(w.phase)
		w.slot = phase + (now-phase+round)/round*round
	}
	out, w.out = w.out, nil
	return out
}

// Due is when Step wants a Tick, if it does.
func (w *Worker) Due() (at units.Instant, wanted bool) {
	at = w.due(never)
	if w.wants() {
		at = min(at, w.slot)
	}
	return at, at < never
}

// wants reports whether there is something to tell the next worker at the end of the round.
func (w *Worker) wants() bool {
	return !w.rotates && !w.queue.still && (len(w.queue.marked) > 0 || w.fresh)
}

// left is how long the slot is taken, by the estimate (delta).
func (w *Worker) left(now units.Instant) time.Duration {
	if w.doing == free {
		return 0
	}
	return max(0, w.until.Sub(now))
}

// shared is the state as this worker knows it.
func (w *Worker) shared() Shared {
	if w.config.Rules[state] != 0 {
		return *w.config.board
	}
	return w.state
}

// learn takes a newer state, and cuts the queue by it.
func (w *Worker) learn(now units.Instant, s Shared) {
	if s.At <= w.state.At {
		return
	}
	w.state, w.fresh = s, w.config.Rules[state] == 0
	if w.config.Rules[bounds] == 0 {
		w.queue.cut(now, w.left(now), w.shared())
	}
}

// take runs the first of probes if nothing runs, and enqueues the others.
func (w *Worker) take(now units.Instant, probes []Probe, s Shared) {
	w.learn(now, s)
	for _, p := range probes {
		if w.has(&p) {
			continue
		}
		if w.doing == free {
			w.start(now, p)
			continue
		}
		w.queue.enqueue(now, w.left(now), p)
		w.queue.cut(now, w.left(now), w.shared())
	}
}

// has reports whether a probe of p's task is here already. Where messages get lost there may be several: one that was
// handed on and handed on again because no answer came, and one that its scheduler has sent again. All but one are
// dropped where they meet, or they would breed.
func (w *Worker) has(p *Probe) bool {
	same := func(q Probe) bool { return q.Job == p.Job && q.Task == p.Task }
	return w.config.Tries > 0 && (w.doing != free && same(w.current) || slices.ContainsFunc(w.queue.waiting, same) ||
		slices.ContainsFunc(w.queue.marked, same))
}

// start asks for a probe's task.
func (w *Worker) start(now units.Instant, p Probe) {
	w.doing, w.current, w.until = fetching, p, now.Add(p.Estimate)
	w.fetch = w.insist(now, p.Scheduler, GetTask{p.Job, p.Task})
}
