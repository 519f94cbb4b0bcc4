package driver

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// MeanWeight is the weight of a stage's mean task, in the millionths that weights and
// shares are counted in.
const MeanWeight = 1_000_000

// Alike are the weights of n tasks that weigh the same.
func Alike(n int) []int64 { return slices.Repeat([]int64{MeanWeight}, n) }

// stage is a stage attempt that runs.
type stage struct {
	key     api.StageKey
	order   int
	weights []int64
	cached  map[api.ExecutorID]int
	barrier bool
	total   int64

	bound []*part // Lowest id first.
	parts map[api.ExecutorID]*part
	// beside says that it is bound to all executors, whosever they are.
	beside bool
	// open says that any executor may take its tasks, retired that a newer attempt has
	// its place.
	open, retired bool
	idle          units.Instant // Since when it has nothing to run, -1 if it has.
	handed        uint64        // The newest hand-over that was followed.
	late          bool          // By the planner, since all its tasks are launched.
	copyOn        *part         // Where a copy of the last task is to start.
	took          durations
	rest          int64 // The weight that is not launched.
	unlaunched    int
	holders       []*part // Of each task that is launched.
	// byWeight has the tasks by falling weight; those before next are launched.
	byWeight []int
	next     int
}

// part is what an executor has of a stage, bound to it or not any more.
type part struct {
	id              api.ExecutorID
	rank            int64
	share, launched int64
	running         int
	spare           units.Instant // Since when Watch has seen it spare, -1 if it has not.
	rested          bool          // Spare for Rest, so that others may have it.
	gives           bool          // It goes to a stage that waits once its tasks have ended.
}

// full reports whether all of the share is launched.
func (p *part) full() bool { return p.launched >= p.share }

// rank orders executors: their ids are decimal, others come last.
func rank(id api.ExecutorID) int64 {
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil {
		return n
	}
	return math.MaxInt64
}

func newStage(key api.StageKey, order int, weights []int64, cached map[api.ExecutorID]int, barrier bool) *stage {
	s := &stage{key: key, order: order, weights: weights, cached: cached, barrier: barrier,
		parts: map[api.ExecutorID]*part{},
		idle:  -1, unlaunched: len(weights), holders: make([]*part, len(weights)), took: durations{median: -1}}
	for _, w := range weights {
		s.total += w
	}
	s.rest = s.total
	return s
}

// part is the executor's part, made when there is none.
func (s *stage) part(id api.ExecutorID) *part {
	p := s.parts[id]
	if p == nil {
		p = &part{id: id, rank: rank(id), spare: -1}
		s.parts[id] = p
	}
	return p
}

func (s *stage) has(p *part) bool { return p != nil && slices.Contains(s.bound, p) }

func (s *stage) bind(p *part) {
	p.gives = false
	i, there := slices.BinarySearchFunc(s.bound, p, func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.id, b.id))
	})
	if !there {
		s.bound = slices.Insert(s.bound, i, p)
	}
}

func (s *stage) unbind(p *part) {
	s.bound = slices.DeleteFunc(s.bound, func(o *part) bool { return o == p })
}

// choose takes, of a node's executors that no stage has or that other stages leave to it, one with the fewest zombies.
// Of these it takes one with most of the stage's cached blocks, then one that no stage has.
func (s *stage) choose(there []executor, holders map[api.ExecutorID]*stage,
	zombies map[api.ExecutorID]int) (best api.ExecutorID, found bool) {
	held := func(id api.ExecutorID) int {
		if holders[id] == nil {
			return 0
		}
		return 1
	}
	for _, x := range there {
		o := holders[x.id]
		if o == s || o != nil && !o.free(o.parts[x.id]) {
			continue
		}
		if !found || cmp.Or(cmp.Compare(zombies[x.id], zombies[best]), cmp.Compare(s.cached[best], s.cached[x.id]),
			cmp.Compare(held(x.id), held(best))) < 0 {
			best, found = x.id, true
		}
	}
	return best, found
}

// full reports whether all executors have launched their shares.
func (s *stage) full() bool {
	return !slices.ContainsFunc(s.bound, func(p *part) bool { return !p.full() })
}

// asks reports whether the stage has tasks to start.
func (s *stage) asks() bool { return s.unlaunched > 0 && !s.retired }

// spare reports whether an executor of the stage has nothing of it to run or to start.
func (s *stage) spare(p *part) bool { return p.running == 0 && !s.asks() }

// free reports whether others may have an executor of the stage. Running tasks of a retired stage are zombies: they
// leave the other slots to whatever waits.
func (s *stage) free(p *part) bool { return s.retired || p.rested && s.spare(p) }

// runs reports whether a task of the stage runs.
func (s *stage) runs() bool { return s.atWork() > 0 }

func (s *stage) hold(index int, p *part) {
	s.release(index)
	s.holders[index] = p
	p.launched += s.weights[index]
	s.rest -= s.weights[index]
	s.unlaunched--
}

func (s *stage) release(index int) {
	p := s.holders[index]
	if p == nil {
		return
	}
	p.launched -= s.weights[index]
	s.holders[index] = nil
	s.next = 0
	s.rest += s.weights[index]
	s.unlaunched++
}

// heaviest is the weight of the heaviest task that waits, 0 if none does.
func (s *stage) heaviest() int64 {
	if s.byWeight == nil {
		s.byWeight = HeaviestFirst(s.weights)
	}
	for s.next < len(s.byWeight) && s.holders[s.byWeight[s.next]] != nil {
		s.next++
	}
	if s.next < len(s.byWeight) {
		return s.weights[s.byWeight[s.next]]
	}
	return 0
}

// HeaviestFirst is the order of tasks by weight, in which the driver starts them; those
// that weigh the same stay in order.
func HeaviestFirst(weights []int64) []int {
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	return order
}

// bindings are those in force, as the planner is told.
func (s *stage) bindings() []api.Binding {
	out := make([]api.Binding, 0, len(s.bound))
	for _, p := range s.bound {
		out = append(out, api.Binding{Executor: p.id, Weight: float64(p.share) / MeanWeight,
			Tasks: int(math.Round(float64(len(s.weights)) * float64(p.share) / float64(max(1, s.total))))})
	}
	return out
}
