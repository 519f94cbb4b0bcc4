package prophet

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/deciders/placement"
)

// policy dispatches what fits now.
type policy struct {
	dispatch func(*world)
	backoff  bool
}

var policies = map[string]policy{
	"capacity":           {dispatch: capacity},
	"drf":                {dispatch: fair},
	"tetris":             {dispatch: tetris},
	"prophet-no-backoff": {dispatch: prophet},
	"prophet":            {dispatch: prophet, backoff: true},
}

// Policies are the names of the policies.
func Policies() []string { return slices.Sorted(maps.Keys(policies)) }

// mostMemory is the server with most memory left of those that may take an executor of a, below 0 for none.
func (w *world) mostMemory(a *waiting, may func(s *server) bool) int {
	best := -1
	for i := range w.servers {
		s := &w.servers[i]
		if s.memory+a.Memory <= w.p.Memory && may(s) && (best < 0 || s.memory < w.servers[best].memory) {
			best = i
		}
	}
	return best
}

// capacity places executors by memory alone, of the first application that came.
func capacity(w *world) {
	for len(w.queue) > 0 {
		a := w.queue[0]
		at := w.mostMemory(a, func(*server) bool { return true })
		if at < 0 {
			return
		}
		w.place(a, at)
	}
}

// fair places an executor of the application with the least dominant share of cores and memory that fits.
func fair(w *world) {
	for {
		byShare := slices.Clone(w.queue)
		slices.SortStableFunc(byShare, func(a, b *waiting) int { return cmp.Compare(w.share(a), w.share(b)) })
		placed := false
		for _, a := range byShare {
			if at := w.mostMemory(a, func(s *server) bool { return s.cores+float64(a.Cores) <= w.p.Cores }); at >= 0 {
				w.place(a, at)
				placed = true
				break
			}
		}
		if !placed {
			return
		}
	}
}

// share is an application's dominant share of the cluster.
func (w *world) share(a *waiting) float64 {
	n := float64(a.placed-a.ended) / float64(w.p.Servers)
	return n * max(float64(a.Cores)/w.p.Cores, a.Memory/w.p.Memory)
}

// tetris places the executor whose peaks of all four resources fit a server, with the greatest dot product of what
// it needs and what is left there, each over the server's.
func tetris(w *world) {
	for {
		var best *waiting
		at, most := -1, math.Inf(-1)
		for _, a := range w.queue {
			needs := w.vector(float64(a.Cores), a.Memory, a.peak())
			for i := range w.servers {
				left := w.left(&w.servers[i])
				if placement.Fits(needs, left) {
					if dot := placement.Dot(needs, left); dot > most {
						best, at, most = a, i, dot
					}
				}
			}
		}
		if best == nil {
			return
		}
		w.place(best, at)
	}
}

// vector is what is needed of a server, as parts of it: cores, memory, disk, network.
func (w *world) vector(cores, memory float64, rates placement.Rates) []float64 {
	return []float64{cores / w.p.Cores, memory / w.p.Memory, rates[placement.Disk] / w.p.Rates[placement.Disk],
		rates[placement.Network] / w.p.Rates[placement.Network]}
}

// left is what the peaks of a server's executors leave.
func (w *world) left(s *server) []float64 {
	var peaks placement.Rates
	for _, e := range s.executors {
		for r, rate := range e.app.peak() {
			peaks[r] += rate
		}
	}
	left := w.vector(w.p.Cores-s.cores, w.p.Memory-s.memory, w.p.Rates)
	for r := range peaks {
		left[2+r] -= peaks[r] / w.p.Rates[r]
	}
	return left
}

// prophet places all executors of an application at once on different servers. Of the oldest half of those that wait it
// takes the one that fits with the least mean norm. An application that is overdue comes next and holds up all others.
func prophet(w *world) {
	for len(w.queue) > 0 {
		if late := w.queue[0]; w.now()-late.Arrives > w.p.Overdue*w.meanWait() && len(w.waits) > 0 {
			servers, _ := w.best(late)
			if servers == nil {
				return
			}
			w.placeAll(late, servers)
			continue
		}
		var chosen *waiting
		var on []int
		least := math.Inf(1)
		for _, a := range w.queue[:int(math.Ceil(w.p.Part*float64(len(w.queue))))] {
			if servers, norm := w.best(a); servers != nil && norm < least {
				chosen, on, least = a, servers, norm
			}
		}
		if chosen == nil {
			return
		}
		w.placeAll(chosen, on)
	}
}

func (w *world) placeAll(a *waiting, servers []int) {
	for _, i := range servers {
		w.place(a, i)
	}
}

func (w *world) meanWait() (mean float64) {
	for _, wait := range w.waits {
		mean += wait / float64(len(w.waits))
	}
	return mean
}

// best are the servers with the least norms on which an application fits whole, nil where it does not, and their
// mean norm.
func (w *world) best(a *waiting) ([]int, float64) {
	type scored struct {
		server int
		norm   float64
	}
	var fits []scored
	stages := spans(w.now(), a.Stages[0].Time, a.Stages, 0)
	for i := range w.servers {
		s := &w.servers[i]
		if s.memory+a.Memory > w.p.Memory || s.cores+float64(a.Cores) > w.p.Cores {
			continue
		}
		var running []placement.Span
		for _, e := range s.executors {
			running = append(running, spans(w.now(), e.left, e.app.Stages, e.stage)...)
		}
		free := placement.Free(w.p.Rates, running, w.now(), w.now()+a.time())
		fits = append(fits, scored{i, placement.DefaultNorms.Norm(w.p.Rates, free, stages)})
	}
	if len(fits) < a.Executors {
		return nil, 0
	}
	slices.SortStableFunc(fits, func(x, y scored) int { return cmp.Compare(x.norm, y.norm) })
	var servers []int
	var sum float64
	for _, f := range fits[:a.Executors] {
		servers, sum = append(servers, f.server), sum+f.norm
	}
	return servers, sum / float64(a.Executors)
}

// spans are when stages run from now on, as their profile says, the first of them for so long.
func spans(now, left float64, stages []Stage, from int) (all []placement.Span) {
	at := now
	for i, s := range stages[from:] {
		time := s.Time
		if i == 0 {
			time = left
		}
		all = append(all, placement.Span{From: at, To: at + time, Rate: s.Rate})
		at += time
	}
	return all
}
