package mesh

import (
	"container/heap"
	"math"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// sampling is a system that sends more probes than a job has tasks, and gives a task to the worker that asks first.
// What Eagle has beyond Sparrow is off in a zero value.
type sampling struct {
	in *world
	// perTask and least are how many probes a job sends: so many a task, and at least so many.
	perTask, least int
	// cutoff is the estimate above which a job is long, 0 for none: it is placed centrally, on the workers of longOn.
	cutoff time.Duration
	longOn span
	// A short probe that meets a long task is sent again to a worker without one, so often, and then to shortOn.
	rounds  int
	shortOn span
	// sticky has a worker go on with a job while that has tasks.
	sticky bool
	// key orders queues, the least first; a probe is passed by others' estimates up to bound. nil is FIFO.
	key   func(job int) time.Duration
	bound func(own time.Duration) time.Duration
	// author counts long tasks and orders queues as the author's simulator does.
	author bool

	workers []slot
	shuffle []int32
	given   []int32 // How many tasks of each job have been given away.
	ended   []int32
	central waits
}

// span is a range of workers.
type span struct{ from, to int }

// slot is a worker.
type slot struct {
	busy  bool
	long  int // Long tasks that run or wait here; what author counts as such.
	queue []entry
	place int           // In the heap of central.
	clear units.Instant // When its long tasks have ended, by their estimates.
}

// entry is a probe that waits, or a long task.
type entry struct {
	job, task int32 // The task of a long job, -1 of a short one.
	passed    time.Duration
	tries     int
}

func newSampling(w *world, s sampling) *sampling {
	s.in = w
	s.workers, s.given, s.ended = make([]slot, w.Workers), make([]int32, len(w.jobs)), make([]int32, len(w.jobs))
	for i := range s.workers {
		s.shuffle = append(s.shuffle, int32(i))
	}
	s.central.of = s.workers
	for i := s.longOn.from; i < s.longOn.to; i++ {
		s.workers[i].place = len(s.central.order)
		s.central.order = append(s.central.order, int32(i))
	}
	return &s
}

// newSparrow is Sparrow: two probes a task.
func newSparrow(w *world) (system, error) { return newSampling(w, sampling{perTask: 2}), nil }

// newEagle is Eagle as it was published.
func newEagle(w *world) (system, error) {
	short := int(math.Ceil(w.Shape.partition * float64(w.Workers)))
	s := newSampling(w, sampling{perTask: 2, least: 20, cutoff: w.Shape.cutoff, rounds: 5, sticky: true,
		shortOn: span{0, max(1, short)}, longOn: span{min(short, w.Workers-1), w.Workers},
		bound: func(own time.Duration) time.Duration { return 5 * own }})
	s.key = func(job int) time.Duration {
		return s.in.jobs[job].Estimate * time.Duration(len(s.in.jobs[job].Durations)-int(s.ended[job]))
	}
	return s, nil
}

// newEagleThesis is Eagle as the author of Peacock describes it: a job is long above 2000 s. Short probes that meet
// its tasks go at once to the first fifth of the workers, which are among those of long jobs.
func newEagleThesis(w *world) (system, error) {
	part := func(p float64) int { return max(1, int(p*float64(w.Workers))) }
	s := newSampling(w, sampling{perTask: 2, cutoff: 2000 * time.Second, sticky: true,
		longOn: span{0, part(0.8)}, shortOn: span{0, part(0.2)},
		bound: func(time.Duration) time.Duration { return 1000 * time.Second }})
	s.key = func(job int) time.Duration {
		return s.in.jobs[job].Estimate * time.Duration(len(s.in.jobs[job].Durations))
	}
	return s, nil
}

// newEagleAuthor is eagle-thesis as the public simulator of Peacock's author has it. There a long task counts until it
// starts, if it takes more than cutoff itself, and else for ever. A short probe that was sent again counts for ever,
// too. No probe passes a long task.
func newEagleAuthor(w *world) (system, error) {
	s, err := newEagleThesis(w)
	s.(*sampling).author = true
	return s, err
}

// crash does nothing: these systems are compared without crashes.
func (s *sampling) crash(int) {}

func (s *sampling) conclude(*Outcome) {}

// arrive places a long job, or sends a short one's probes to workers at random, cyclic where there are too few.
func (s *sampling) arrive(job int) {
	j := &s.in.jobs[job]
	if s.isLong(job) {
		for task := range j.Durations {
			at := s.central.order[0]
			s.addLong(at, j.Estimate)
			s.in.after(s.in.Network.Delay, func() { s.land(at, entry{job: int32(job), task: int32(task)}) })
		}
		return
	}
	probes := max(s.perTask*len(j.Durations), s.least)
	n := min(probes, s.in.Workers)
	for i := range n {
		k := i + s.in.rand.IntN(s.in.Workers-i)
		s.shuffle[i], s.shuffle[k] = s.shuffle[k], s.shuffle[i]
		at, more := s.shuffle[i], (probes-i+n-1)/n
		s.in.after(s.in.Network.Delay, func() {
			for range more {
				s.land(at, entry{job: int32(job), task: -1})
			}
		})
	}
}

func (s *sampling) isLong(job int) bool { return s.cutoff > 0 && s.in.jobs[job].Estimate > s.cutoff }

// land has a probe or a long task arrive at a worker.
func (s *sampling) land(at int32, e entry) {
	w := &s.workers[at]
	if e.task < 0 && w.long > 0 && e.tries <= s.rounds && s.cutoff > 0 {
		e.tries++
		to := s.elsewhere(e.tries)
		s.in.after(2*s.in.Network.Delay, func() { s.land(to, e) })
		return
	}
	if s.author && e.tries > 0 {
		w.long++
	}
	i := len(w.queue)
	w.queue = append(w.queue, e)
	if s.key != nil {
		own := s.in.jobs[e.job].Estimate
		for ; i > 0; i-- {
			q := &w.queue[i-1]
			if s.author && q.task >= 0 {
				break
			}
			if s.key(int(q.job)) <= s.key(int(e.job)) || q.passed+own > s.bound(s.in.jobs[q.job].Estimate) {
				break
			}
			q.passed += own
			w.queue[i] = *q
		}
		w.queue[i] = e
	}
	if !w.busy {
		s.next(at)
	}
}

// elsewhere is where a probe goes that has met a long task.
func (s *sampling) elsewhere(try int) int32 {
	if try <= s.rounds {
		for range 100 {
			if at := int32(s.in.rand.IntN(s.in.Workers)); s.workers[at].long == 0 {
				return at
			}
		}
	}
	return int32(s.shortOn.from + s.in.rand.IntN(s.shortOn.to-s.shortOn.from))
}

// next has a free worker take the first of its queue: a long task is there, a probe asks for one.
func (s *sampling) next(at int32) {
	w := &s.workers[at]
	if w.busy = len(w.queue) > 0; !w.busy {
		return
	}
	e := w.queue[0]
	w.queue = w.queue[1:]
	if e.task >= 0 {
		s.start(at, e)
		return
	}
	s.ask(at, e)
}

// ask fetches a task, or nothing where all have been given away.
func (s *sampling) ask(at int32, e entry) {
	s.in.after(s.in.Network.Delay, func() {
		if int(s.given[e.job]) == len(s.in.jobs[e.job].Durations) {
			s.in.out.Noops++
			s.in.after(s.in.Network.Delay, func() { s.next(at) })
			return
		}
		e.task = s.given[e.job]
		s.given[e.job]++
		s.in.after(s.in.Network.Delay, func() { s.start(at, e) })
	})
}

// start runs a task.
func (s *sampling) start(at int32, e entry) {
	takes := s.in.jobs[e.job].Durations[e.task]
	if s.author && s.isLong(int(e.job)) && takes > s.cutoff {
		s.workers[at].long--
	}
	s.in.after(takes, func() {
		if s.isLong(int(e.job)) {
			s.endLong(at)
		}
		s.in.after(s.in.Network.Delay, func() {
			if s.ended[e.job]++; int(s.ended[e.job]) == len(s.in.jobs[e.job].Durations) {
				s.in.completed(int(e.job))
			}
		})
		if s.sticky && !s.isLong(int(e.job)) && int(s.given[e.job]) < len(s.in.jobs[e.job].Durations) {
			s.ask(at, e)
			return
		}
		s.next(at)
	})
}

// addLong counts a long task for a worker.
func (s *sampling) addLong(at int32, estimate time.Duration) {
	w := &s.workers[at]
	w.long++
	w.clear = max(w.clear, s.in.clock.Now()).Add(estimate)
	heap.Fix(&s.central, w.place)
}

// endLong counts the end of one: what waits has its estimates before it.
func (s *sampling) endLong(at int32) {
	w := &s.workers[at]
	if !s.author {
		w.long--
	}
	w.clear = s.in.clock.Now()
	for _, e := range w.queue {
		if e.task >= 0 {
			w.clear = w.clear.Add(s.in.jobs[e.job].Estimate)
		}
	}
	heap.Fix(&s.central, w.place)
}

// waits is a heap of workers by when their long tasks have ended.
type waits struct {
	order []int32
	of    []slot
}

// Len is part of heap.Interface.
func (h *waits) Len() int { return len(h.order) }

// Less is part of heap.Interface.
func (h *waits) Less(i, k int) bool {
	a, b := h.order[i], h.order[k]
	if h.of[a].clear != h.of[b].clear {
		return h.of[a].clear < h.of[b].clear
	}
	return a < b
}

// Swap is part of heap.Interface.
func (h *waits) Swap(i, k int) {
	h.order[i], h.order[k] = h.order[k], h.order[i]
	h.of[h.order[i]].place, h.of[h.order[k]].place = i, k
}

// Push and Pop are parts of heap.Interface: no worker comes or goes.
func (h *waits) Push(any) {}

// Pop is part of heap.Interface.
func (h *waits) Pop() any { return nil }
