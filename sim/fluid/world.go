package fluid

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/assign/scores"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Config is a cluster and the rule by which it is given to jobs.
type Config struct {
	Total  assign.Amount
	Policy assign.Policy
	// Stop ends a run early when it is closed, with des.ErrStopped; nil never does.
	Stop <-chan struct{}
}

// Done is what became of a job.
type Done struct {
	ID                    string
	Kind                  Kind
	Arrival, Began, Ended units.Instant
	Time                  units.Seconds // The time that it takes with all its units.
	// Run says whether it met its deadline, and what it has used.
	Run scores.Run
}

// Wait is how long it had no units, in seconds.
func (d Done) Wait() float64 { return des.Seconds(d.Arrival, d.Began) }

// Turnaround is how long it was there, in seconds.
func (d Done) Turnaround() float64 { return des.Seconds(d.Arrival, d.Ended) }

// Slowdown is how long it was served over what it takes with all its units.
func (d Done) Slowdown() float64 { return des.Seconds(d.Began, d.Ended) / float64(d.Time) }

// Level is how full a cluster is: parts of its cores and of its memory that are granted, and how many jobs wait and
// are served.
type Level struct {
	Cores   float64 `json:"cores"`
	Memory  float64 `json:"memory"`
	Pending float64 `json:"pending"`
	Running float64 `json:"running"`
}

// Outcome is what came of a trace.
type Outcome struct {
	// Jobs are all that were served or dropped, in the order of their ends, Refused counts the others.
	Jobs    []Done
	Refused int
	// Fairness and Equality are means over the moments of Levels, under rules that reserve.
	Fairness, Equality float64
	// Mean is over the time from the first arrival to the last, Levels are at levelCount moments of it.
	Mean   Level
	Levels []Level
}

const levelCount = 1000

// Ranks of what happens at one instant.
const (
	departs des.Rank = iota
	expires
	arrives
)

// task is a job that is in the world.
type task struct {
	assign.Job
	world *world
	// departs is when its work will be done; Left is as it was at since. expires is when its deadline has passed, where
	// the rule ends it then.
	departs, expires des.Timer
	since            units.Instant
}

type world struct {
	Config
	clock des.Clock
	trace []assign.Job
	next  int // Of the trace.
	// served are in the order of their starts. waiting are what the rule is told of those that wait, in the order of the
	// policy where sorted says so.
	served  []*task
	waiting []assign.Job
	sorted  bool
	tasks   map[string]*task
	state   []assign.Job // The rule is told this of those served.
	arrives des.Timer
	level   Level // How full the cluster is since the last event.
	since   units.Instant
	// reserves says that the rule is one that reserves, which asks for learnt.
	reserves bool
	learnt   []byte
	similar  similar
	out      Outcome
	fault    error
}

// Simulate runs a trace until all its jobs have left. It fails on one that is not in order of arrival, and on a rule
// that takes a core unit back or grants more than there is.
func Simulate(c Config, trace []assign.Job) (Outcome, error) {
	w := &world{Config: c, trace: trace, tasks: map[string]*task{}}
	w.reserves = slices.Contains(assign.Reserving(), c.Policy.Rule)
	// Under the other orders who comes first changes with time.
	w.sorted = slices.Contains([]string{assign.FIFO, assign.SJF, assign.SRPT, assign.Laxity}, c.Policy.Order)
	w.arrives = des.NewTimer(arrives, 0, des.Call(w.arrive))
	if len(trace) > 0 {
		w.clock.Set(&w.arrives, trace[0].Arrival)
	}
	for more := true; more && w.fault == nil; {
		if w.clock.Events()%1024 == 0 {
			select {
			case <-c.Stop:
				return w.out, des.ErrStopped
			default:
			}
		}
		var err error
		more, err = w.clock.Turn(des.Never - 1)
		w.fault = errors.Join(w.fault, err)
	}
	if w.fault == nil && len(w.tasks) > 0 {
		w.fault = fmt.Errorf("%d jobs take years with the units that they have", len(w.tasks))
	}
	w.out.Fairness, w.out.Equality = w.similar.means()
	return w.out, w.fault
}

// arrive takes the next job of the trace in.
func (w *world) arrive() {
	now := w.clock.Now()
	w.account(now)
	j := w.trace[w.next]
	j.Began, j.Units, j.Left = 0, 0, float64(j.Time)*float64(j.Core+j.Elastic)
	if w.next++; w.next < len(w.trace) {
		w.clock.Set(&w.arrives, w.trace[w.next].Arrival)
	}
	switch {
	case w.arrives.IsSet() && w.arrives.When() < now:
		w.fault = fmt.Errorf("job %s comes before job %s, which is before it in the trace", w.trace[w.next].ID, j.ID)
		return
	case w.tasks[j.ID] != nil:
		w.fault = fmt.Errorf("there are two jobs %s", j.ID)
		return
	case !w.reserves && !w.possible(j):
		w.out.Refused++
		return
	}
	t := &task{Job: j, world: w}
	t.departs = des.NewTimer(departs, uint64(w.next), t)
	t.expires = des.NewTimer(expires, uint64(w.next), des.Call(w.expire))
	w.tasks[j.ID] = t
	place := len(w.waiting)
	if w.sorted {
		compare := func(a, b assign.Job) int { return w.Policy.Compare(now, &a, &b) }
		place, _ = slices.BinarySearchFunc(w.waiting, j, compare)
	}
	w.waiting = slices.Insert(w.waiting, place, j)
	if w.reserves {
		w.await(t)
		if w.level.Cores == 1 {
			w.level.Pending++
			return // No job can start before another one goes.
		}
	}
	w.ask(false)
}

// possible reports whether j would start if nothing else ran.
func (w *world) possible(j assign.Job) bool {
	alone := assign.State{Now: j.Arrival, Total: w.Total, Waiting: []assign.Job{j}, Freed: true}
	return fits(times(j.Unit, j.Core+j.Elastic), w.Total) || len(w.Policy.Assign(alone)) > 0
}

// Fire is a departure.
func (t *task) Fire(*des.Timer) {
	w, now := t.world, t.world.clock.Now()
	w.account(now)
	t.Left = 0
	w.leave(t, t.Due > 0 && now <= t.Due)
	w.ask(true)
}

// leave has t be gone.
func (w *world) leave(t *task, met bool) {
	w.clock.Cancel(&t.departs)
	w.clock.Cancel(&t.expires)
	if t.Units > 0 {
		w.served = slices.DeleteFunc(w.served, func(s *task) bool { return s == t })
		w.learn(t, met)
	} else {
		t.Began = w.clock.Now()
		w.waiting = slices.DeleteFunc(w.waiting, func(j assign.Job) bool { return j.ID == t.ID })
	}
	delete(w.tasks, t.ID)
	work := float64(t.Time) * float64(t.Core+t.Elastic)
	w.out.Jobs = append(w.out.Jobs, Done{t.ID, KindOf(t.Job), t.Arrival, t.Began, w.clock.Now(), t.Time,
		scores.Run{Met: met, Work: units.Work(work), Used: units.Work(work - t.Left)}})
}

// ask asks the rule and carries out what it says.
func (w *world) ask(freed bool) {
	now := w.clock.Now()
	w.state = w.state[:0]
	for _, t := range w.served { // Work that it has done is taken off.
		t.Left = max(0, t.Left-float64(t.Units)*des.Seconds(t.since, now))
		t.since = now
		w.state = append(w.state, t.Job)
	}
	s := assign.State{Now: now, Total: w.Total, Serving: w.state, Waiting: w.waiting, Sorted: w.sorted, Freed: freed,
		Learnt: w.learnt}
	for _, g := range w.Policy.Assign(s) {
		t := w.tasks[g.ID]
		switch {
		case t != nil && g.Drop && w.reserves:
			w.leave(t, false)
			continue
		case t == nil || g.Units < t.Core || g.Units > t.Core+t.Elastic:
			w.fault = fmt.Errorf("job %q cannot have %d units", g.ID, g.Units)
			return
		case t.Units == 0: // It starts.
			i := slices.IndexFunc(w.waiting, func(j assign.Job) bool { return j.ID == g.ID })
			w.waiting = slices.Delete(w.waiting, i, i+1)
			t.Began, t.since = now, now
			w.served = append(w.served, t)
		}
		if t.Units != g.Units {
			t.Units = g.Units
			w.clock.Set(&t.departs, t.inTime(des.Later(now, t.Left/float64(t.Units))))
		}
	}
	var used assign.Amount
	for _, t := range w.served {
		u := times(t.Unit, t.Units)
		used.Cores, used.Memory = used.Cores+u.Cores, used.Memory+u.Memory
	}
	if !fits(used, w.Total) {
		w.fault = fmt.Errorf("%+v is granted of %+v", used, w.Total)
	}
	w.level = Level{float64(used.Cores / w.Total.Cores), float64(used.Memory) / max(1, float64(w.Total.Memory)),
		float64(len(w.waiting)), float64(len(w.served))}
}

// account adds what has been granted since the last event to the mean, and notes it for the moments that have passed.
func (w *world) account(now units.Instant) {
	first, last := w.trace[0].Arrival, w.trace[len(w.trace)-1].Arrival
	if span := last - first; span > 0 {
		part, m, l := float64(min(now, last)-min(w.since, last))/float64(span), &w.out.Mean, w.level
		m.Cores, m.Memory = m.Cores+part*l.Cores, m.Memory+part*l.Memory
		m.Pending, m.Running = m.Pending+part*l.Pending, m.Running+part*l.Running
		for n := len(w.out.Levels); n < levelCount && first+span/levelCount*units.Instant(n+1) <= now; n++ {
			if w.out.Levels = append(w.out.Levels, w.level); w.reserves {
				w.compare()
			}
		}
	}
	w.since = now
}

// times is what n units take.
func times(u assign.Amount, n int) assign.Amount {
	return assign.Amount{Cores: u.Cores * units.Cores(n), Memory: u.Memory * units.Bytes(n)}
}

// fits reports whether a is no more than there is; a sum of cores may err by what adding them up does.
func fits(a, total assign.Amount) bool {
	return a.Cores <= total.Cores*(1+1e-9) && a.Memory <= total.Memory
}
