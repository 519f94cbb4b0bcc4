package driver

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// A task is slow that takes copyTimes as long as its weight and the stage's median say, and copyLeast;
// of copyKnown tasks at least it is known how long they took.
const (
	copyTimes = 3.0
	copyLeast = 2 * time.Second
	copyKnown = 3
)

// Task is one of a stage, an attempt of which has run for so long. Tried are the executors on which its attempts
// were started.
type Task struct {
	Stage api.StageKey
	Index int
	Ran   time.Duration
	Tried []api.ExecutorID
}

// Succeeded says that the task has succeeded.
func (t Task) Succeeded(b *Bindings) {
	if s := b.stage(t.Stage); s != nil {
		s.note(t)
	}
}

// Copy has the task copied, which runs alone when its stage's others have ended: if it takes much longer than
// these say, and the planner has said that the stage is late for it. It returns the executor that admits the
// copy from now on; false for none.
func (t Task) Copy(b *Bindings) (on api.ExecutorID, found bool) {
	s := b.stage(t.Stage)
	if s == nil || !s.late || s.open || s.barrier || s.asks() || s.retired || s.has(s.copyOn) || s.atWork() != 1 ||
		!s.slow(t) {
		return "", false
	}
	can := slices.DeleteFunc(s.idleOf(b), func(x executor) bool { return slices.Contains(t.Tried, x.id) })
	if len(can) == 0 {
		return "", false
	}
	near := func(x executor) int {
		if slices.ContainsFunc(b.alive, func(o executor) bool {
			return slices.Contains(t.Tried, o.id) && b.nodeOf(o) == b.nodeOf(x)
		}) {
			return 1
		}
		return 0
	}
	best := slices.MinFunc(can, func(x, y executor) int {
		return cmp.Or(cmp.Compare(near(x), near(y)), cmp.Compare(b.capacity(s.part(y.id)), b.capacity(s.part(x.id))),
			cmp.Compare(x.rank, y.rank), cmp.Compare(x.id, y.id))
	})
	s.copyOn = s.part(best.id)
	s.bind(s.copyOn)
	s.copyOn.share = s.copyOn.launched + s.weights[t.Index]
	b.changed.add(t.Stage)
	b.freed = true
	return best.id, true
}

// idleOf are executors that run nothing: of the stage, or of none where it may have one more.
func (s *stage) idleOf(b *Bindings) []executor {
	var out []executor
	for _, there := range b.nodes() {
		bound := 0
		for _, x := range there.executors {
			if s.has(s.parts[x.id]) {
				bound++
			}
		}
		for _, x := range there.executors {
			mine := s.has(s.parts[x.id])
			taken := slices.ContainsFunc(b.stages, func(o *stage) bool {
				p := o.parts[x.id]
				return p != nil && p.running > 0 || o != s && o.has(p)
			})
			if !taken && (mine || bound < there.perStage) {
				out = append(out, x)
			}
		}
	}
	return out
}

// durations are how long the tasks of a stage took.
type durations struct {
	each   []float64 // Milliseconds for a mean task's weight, 0 where it has not succeeded.
	median float64   // -1 for not known.
}

func (s *stage) note(t Task) {
	if s.took.each == nil {
		s.took.each = make([]float64, len(s.weights))
	}
	s.took.each[t.Index] = float64(max(1, t.Ran.Milliseconds())) * MeanWeight / float64(max(1, s.weights[t.Index]))
	s.took.median = -1
}

// slow reports whether the task is.
func (s *stage) slow(t Task) bool {
	if t.Ran < copyLeast {
		return false
	}
	if s.took.median < 0 {
		known := slices.DeleteFunc(slices.Clone(s.took.each), func(ms float64) bool { return ms == 0 })
		slices.Sort(known)
		s.took.median = math.Inf(1)
		if len(known) >= copyKnown {
			s.took.median = known[len(known)/2]
		}
	}
	return float64(t.Ran.Milliseconds()) > copyTimes*s.took.median*float64(s.weights[t.Index])/MeanWeight
}

// atWork is how many tasks of the stage run.
func (s *stage) atWork() (n int) {
	for _, p := range s.parts {
		n += p.running
	}
	return n
}
