package probe

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// queue is a worker's probes that wait, and those that are marked.
type queue struct {
	config *Config
	// waiting has the head first; load is the sum of their estimates (alpha).
	waiting []Probe
	load    time.Duration
	marked  []Probe
	// still says that probes are handed on to nobody.
	still bool
}

// turned reports whether p was all around the ring. It stays where it is then. Until it is overdue it may be overtaken,
// and counts for nothing when the queue is cut: or it would hold up all who are shorter, and drive them away.
func (q *queue) turned(p *Probe) bool {
	return q.config.Rules[guard] == 0 && int(p.Hops) >= q.config.Workers
}

// enqueue is Algorithm 1 but for its lines 21 to 23, which are cut: it finds p its place, or marks it. What runs takes
// so much longer (delta).
func (q *queue) enqueue(now units.Instant, running time.Duration, p Probe) {
	wait, at := running+q.load, len(q.waiting)
	switch q.config.Rules[order] {
	case 0:
		for ; at > 0 && q.overtakes(now, wait, &p, &q.waiting[at-1]); at-- {
			wait -= q.waiting[at-1].Estimate
		}
	case 2:
		at = 0
	}
	if at == 0 || now.Add(wait) <= p.due() || p.due() <= now || q.turned(&p) || q.still {
		q.waiting = slices.Insert(q.waiting, at, p)
		q.load += p.Estimate
		return
	}
	q.marked = append(q.marked, p)
}

// overtakes reports whether p, which would wait so long behind other, goes before it.
func (q *queue) overtakes(now units.Instant, wait time.Duration, p, other *Probe) bool {
	switch {
	case p.Arrival < other.Arrival:
		return other.Estimate > p.Estimate || now.Add(wait) > p.due()
	case p.Estimate > other.Estimate:
		return false
	case q.config.Rules[overtake] != 0:
		return other.due().Add(p.Estimate) <= now
	}
	return now.Add(wait-other.Estimate+p.Estimate) <= other.due() && other.due() > now
}

// cut marks the last probes while the queue exceeds the shared state.
func (q *queue) cut(now units.Instant, running time.Duration, s Shared) {
	if q.still {
		return
	}
	if q.config.Rules[load] == 0 {
		running = 0
	}
	n, sum := len(q.waiting), running+q.load
	for i := range q.waiting {
		if p := &q.waiting[i]; p.due() > now && q.turned(p) {
			n, sum = n-1, sum-p.Estimate
		}
	}
	for i := len(q.waiting) - 1; i >= 0 && q.exceeds(float64(n), sum, s); i-- {
		if p := q.waiting[i]; (p.due() > now || q.config.Rules[overdue] != 0) && !q.turned(&p) {
			q.waiting = slices.Delete(q.waiting, i, i+1)
			q.load -= p.Estimate
			n, sum = n-1, sum-p.Estimate
			q.marked = append(q.marked, p)
		}
	}
}

// exceeds reports whether so many probes, and so much work, are too much.
func (q *queue) exceeds(n float64, sum time.Duration, s Shared) bool {
	if q.config.Rules[bound] != 0 {
		return n >= s.Probes || sum >= s.Load
	}
	return n > s.Probes || sum > s.Load
}

// next takes out the probe that a free worker runs: the head or, where none waits, the best of those that are marked,
// which is the oldest that is overdue, or else the shortest.
func (q *queue) next(now units.Instant) (p Probe, found bool) {
	if len(q.waiting) > 0 {
		p, q.waiting = q.waiting[0], q.waiting[1:]
		q.load -= p.Estimate
		return p, true
	}
	if len(q.marked) == 0 || q.config.Rules[idle] != 0 {
		return p, false
	}
	best := 0
	for i := range q.marked {
		a, b := &q.marked[i], &q.marked[best]
		late, other := a.due() <= now, b.due() <= now
		if late && !other || late == other && (late || a.Estimate == b.Estimate) && a.Arrival < b.Arrival ||
			!late && !other && a.Estimate < b.Estimate {
			best = i
		}
	}
	p = q.marked[best]
	q.marked = slices.Delete(q.marked, best, best+1)
	return p, true
}
