package attach

import (
	"fmt"
	"math"
	"slices"
)

// step is what time goes by, in seconds: that of a planner's tick.
const step = 0.25

// leastRate is how many cores the very last task uses.
const leastRate = 0.05

// longest is when a run that does not end is given up.
const longest = 20_000

// A control says how many executors an application asks for, and what holds them back.
type control interface {
	// wanted is how many executors it asks for in all.
	wanted() int
	// leaves reports whether one is to go.
	leaves(x *executor) bool
	// cap is the most cores that one with so much work left of the stage may use.
	cap(w *world, x *executor, left float64) float64
	// came, went, began, bound and ended say what has happened; passed that a step has.
	came(w *world, x *executor)
	went(w *world, x *executor)
	began(w *world)
	bound(w *world)
	ended(w *world)
	passed(w *world)
}

// executor is one that the manager has given. Of the stage that runs share is what it is to do, and done what it has
// done, both in tasks.
type executor struct {
	id          int
	share, done float64
	used        float64 // Core-seconds.
	rate        float64
	going       float64 // When it is gone, 0 for one that stays.
}

// world is an application with its cluster manager.
type world struct {
	*job
	control   control
	manager   *manager
	now       float64
	given     int
	executors []*executor
	at        int     // The stage that runs or comes.
	ready     float64 // When it may begin.
	running   bool
	lost      float64 // Tasks of the stage that were done on executors which are gone.
	held      float64 // Executor-seconds.
	ends      []float64
}

func newWorld(j *job, c control) *world {
	return &world{job: j, control: c, manager: newManager(j.seed), ready: head}
}

// run lets the application run to its end, and returns when each of its stages ended.
func (w *world) run() ([]float64, error) {
	for w.at < len(w.stages) {
		if w.now > longest {
			return nil, fmt.Errorf("it has not ended after %.0f s", w.now)
		}
		w.executorsCome()
		w.executorsGo()
		if !w.running && w.now >= w.ready && len(w.executors) > 0 {
			w.begin()
		}
		w.control.passed(w)
		w.work()
	}
	w.now += tail
	return w.ends, nil
}

func (w *world) executorsCome() {
	stay := 0
	for _, x := range w.executors {
		if x.going == 0 {
			stay++
		}
	}
	for range w.manager.gives(w.now, w.control.wanted()-stay) {
		w.given++
		x := &executor{id: w.given}
		w.executors = append(w.executors, x)
		w.control.came(w, x)
		w.bind()
	}
}

// executorsGo has those go that are to, after their tasks.
func (w *world) executorsGo() {
	for _, x := range w.executors {
		if x.going == 0 && w.control.leaves(x) {
			x.going = w.now + 2
			w.bind()
		}
	}
	for _, x := range slices.Clone(w.executors) {
		if x.going == 0 || w.now < x.going {
			continue
		}
		w.lost += x.done
		w.executors = slices.DeleteFunc(w.executors, func(y *executor) bool { return x == y })
		w.control.went(w, x)
		w.bind()
	}
}

func (w *world) begin() {
	w.running, w.lost = true, 0
	for _, x := range w.executors {
		x.done = 0
	}
	w.divide()
	w.control.began(w)
}

// bind divides what is left of the stage that runs anew.
func (w *world) bind() {
	if w.running {
		w.divide()
		w.control.bound(w)
	}
}

func (w *world) divide() {
	left, stay := float64(w.stages[w.at].tasks)-w.lost, 0
	for _, x := range w.executors {
		left -= x.done
		if x.going == 0 {
			stay++
		}
	}
	for _, x := range w.executors {
		if x.share = x.done; x.going == 0 {
			x.share += left / float64(stay)
		}
	}
}

// work lets a step pass.
func (w *world) work() {
	w.held += step * float64(len(w.executors))
	w.now += step
	if !w.running {
		return
	}
	s, over := &w.stages[w.at], true
	for _, x := range w.executors {
		left := max(0, x.share-x.done)
		// The last tasks, one to a core, have come far by then when no other one waits.
		last := math.Sqrt(2 * float64(w.cores) * left)
		x.rate = max(0, min(float64(w.cores), max(last, leastRate), w.control.cap(w, x, left*s.task())))
		does := min(left, x.rate*step/s.task())
		x.done, x.used = x.done+does, x.used+does*s.task()
		over = over && x.share-x.done < 1e-6
	}
	if !over || len(w.executors) == 0 {
		return
	}
	w.running, w.ready = false, w.now+gap
	w.ends = append(w.ends, w.now)
	w.control.ended(w)
	w.at++
}

// fixed asks once for so many executors, and holds nothing back.
type fixed struct{ n int }

func (f *fixed) wanted() int                                { return f.n }
func (*fixed) leaves(*executor) bool                        { return false }
func (*fixed) cap(w *world, _ *executor, _ float64) float64 { return float64(w.cores) }
func (*fixed) came(*world, *executor)                       {}
func (*fixed) went(*world, *executor)                       {}
func (*fixed) began(*world)                                 {}
func (*fixed) bound(*world)                                 {}
func (*fixed) ended(*world)                                 {}
func (*fixed) passed(*world)                                {}
