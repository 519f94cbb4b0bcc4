package meshenv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/mesh/probe"
	"github.com/sparkpacer/pacer/units"
)

// The cluster of each story.
const workers, schedulers = 100, 10

// story is what a cluster goes through while it has jobs.
type story struct {
	name   string
	delays des.Delays
	// early workers crash before there is a job, and row that follow each other in the ring; late ones while they run
	// tasks.
	early, row, late int
	// away is of how many schedulers the connections are cut, for 20 s.
	away probe.Node
}

var stories = []story{
	{name: "nothing happens", delays: des.Delays{Delay: 5 * time.Millisecond}},
	{name: "messages are lost, late, twice and out of order", delays: des.Delays{Delay: 50 * time.Millisecond,
		Jitter: 100 * time.Millisecond, Loss: 0.05, Duplicate: 0.05, Reorder: true}},
	{name: "as many crash in a row as there are successors", delays: des.QuietRack(), early: 12, row: 3, late: 15},
	{name: "more crash than that, and schedulers are cut off", delays: des.QuietRack(), row: 11, away: 2},
	{name: "all of it", delays: des.Delays{Delay: 5 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.02,
		Duplicate: 0.05, Reorder: true}, early: 10, row: 5, late: 10, away: 2},
}

// Each story comes out alike over the simulated network and over NATS.
func TestStoriesOverBothNetworks(t *testing.T) {
	for i, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			seed := uint64(i + 1)
			simulated, real := s.play(t, newSimulated(t, s.delays, seed), seed), time.Duration(0)
			bustest.Bubble(t, func(t *testing.T) {
				b := newBus(t, s.delays, seed)
				defer b.close()
				real = s.play(t, b, seed)
			})
			t.Logf("jobs take %v in the mean, %v in the simulator", real, simulated)
			if ratio := real.Seconds() / simulated.Seconds(); !(ratio > 0.5 && ratio < 2) {
				t.Error("that is not alike")
			}
		})
	}
}

// work is all jobs of a story; left is how many are not complete.
type work struct {
	jobs []*job
	left atomic.Int32
}

// job is for a scheduler; ran is how often each task has run to its end.
type job struct {
	to       probe.Node
	at       units.Instant
	estimate time.Duration
	tasks    []time.Duration
	ran      []atomic.Int32
}

// draw is work that comes so fast that queues form.
func draw(r *rand.Rand) *work {
	w := &work{}
	for range 60 {
		j := &job{to: probe.Node(-1 - r.IntN(schedulers)), at: units.Instant(r.Int64N(25e9)),
			estimate: time.Duration(1e8 + r.Int64N(4e9)), ran: make([]atomic.Int32, 1+r.IntN(50))}
		for range j.ran {
			j.tasks = append(j.tasks, time.Duration((0.5+r.Float64())*float64(j.estimate)))
		}
		w.jobs = append(w.jobs, j)
	}
	w.left.Store(int32(len(w.jobs)))
	return w
}

// play has a story happen in a world, holds what became of it to what has to, and returns the mean of what jobs took.
func (s story) play(t *testing.T, in world, seed uint64) (mean time.Duration) {
	r, config, all := des.Random(seed, "story"), probe.Default(workers, schedulers), map[probe.Node]*node{}
	config.Tries = 5
	w := draw(r)
	enter := func(n probe.Node, e engine) {
		all[n] = &node{engine: e, self: n, work: w}
		in.enter(all[n])
	}
	for n := range probe.Node(workers) {
		enter(n, probe.NewWorker(&config, n, time.Duration(r.Int64N(int64(config.Round)))))
	}
	for n := probe.Node(-1); n >= -schedulers; n-- {
		enter(n, probe.NewScheduler(&config, n, des.Random(seed, fmt.Sprint("scheduler ", n)).IntN))
	}
	for i, j := range w.jobs {
		all[j.to].later(time.Duration(j.at), probe.Message{From: probe.Shell,
			Body: probe.Submit{Job: int32(i), Tasks: len(j.tasks), Estimate: j.estimate}})
	}
	crash := func(left int, so func(probe.Node) bool) {
		for _, i := range r.Perm(workers) {
			if n := all[probe.Node(i)]; left > 0 && !n.dead.Load() && so(n.self) {
				left--
				n.dead.Store(true)
				n.cut(true)
			}
		}
	}
	from := probe.Node(r.IntN(workers))
	crash(s.row, func(n probe.Node) bool { return int(n-from+workers)%workers < s.row })
	crash(s.early, func(probe.Node) bool { return true })
	in.pass(12 * time.Second)
	crash(s.late, func(n probe.Node) bool { return all[n].runs.No > 0 })
	for _, cut := range []bool{true, false} {
		for n := probe.Node(-1); n >= -s.away; n-- {
			all[n].cut(cut)
		}
		in.pass(20 * time.Second)
	}
	for second := 0; second < 600 && w.left.Load() > 0; second++ {
		in.pass(time.Second)
	}
	in.pass(90 * time.Second) // A worker takes 5 s to learn that the next one is dead.
	w.check(t, s, all)
	for n := range probe.Node(schedulers) {
		mean += all[-1-n].took / time.Duration(len(w.jobs))
	}
	return mean
}

// check holds a story to what has to be so in the end.
func (w *work) check(t *testing.T, s story, all map[probe.Node]*node) {
	tasks, jobs, faults := map[probe.Node]int{}, map[probe.Node][]int32{}, s.early+s.row+s.late+int(s.away) > 0
	for i, j := range w.jobs {
		jobs[j.to], tasks[j.to] = append(jobs[j.to], int32(i)), tasks[j.to]+len(j.tasks)
		for task := range j.ran {
			if n := j.ran[task].Load(); n < 1 || n > 1 && !faults && s.delays.Loss == 0 {
				t.Errorf("task %d of job %d ran %d times", task, i, n)
			}
		}
	}
	dead := 0
	for self, n := range all {
		switch e := n.engine.(type) {
		case *probe.Scheduler:
			if slices.Sort(n.completed); !slices.Equal(n.completed, jobs[self]) {
				t.Errorf("scheduler %d has completed %v, want %v", self, n.completed, jobs[self])
			}
			if n.begun != tasks[self] || n.over != tasks[self] || e.Count() != (probe.Count{}) {
				t.Errorf("scheduler %d has told of %d new tasks and %d ends, of %d, and counts %+v", self, n.begun, n.over,
					tasks[self], e.Count())
			}
		case *probe.Worker:
			if n.dead.Load() {
				dead++
				continue
			}
			next := (self + 1) % workers
			for all[next].dead.Load() {
				next = (next + 1) % workers
			}
			if n.next != next && s.delays.Loss == 0 {
				t.Errorf("worker %d hands on to %d, want %d", self, n.next, next)
			}
		}
	}
	if dead != s.early+s.row+s.late {
		t.Errorf("%d workers have crashed", dead)
	}
}
