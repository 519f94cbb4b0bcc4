package torture

import (
	"fmt"
	"math"
	"slices"
)

const (
	// Recovery is what an application may lose by each lost executor, in seconds: until the
	// loss is noticed and another one has started.
	Recovery = 10.0
	// Margin is on what the rest of a run takes at best.
	Margin = 1.1
)

// Task is a task that has ended well.
type Task struct {
	// Finish is when, CPU its core-seconds.
	Finish, CPU float64
	Executor    string
}

// Loss is an executor that its driver has lost.
type Loss struct {
	At       float64
	Executor string
}

// Level is the cores that an application can have from a time on.
type Level struct{ From, Cores float64 }

// Span is a time.
type Span struct{ From, To float64 }

// Run is what is known of an application when it has ended.
type Run struct {
	Name string
	// Deadline is what its user asked for, Took when it ended.
	Deadline, Took float64
	// Work is what its tasks take in an undisturbed run, Idle how long that runs without a
	// task: its driver and executors start, its driver exits.
	Work, Idle float64
	Tasks      []Task
	Lost       []Loss
	// Faults are the times of all faults.
	Faults []float64
	// Capacity is in order of time; the first level holds before it, too.
	Capacity []Level
	// Away are the times in which no executor can be started, in order, not overlapping:
	// planner, bus or node controllers are not there.
	Away []Span

	// Exit is its exit code, Answer what it printed as its result, Want what that is to be.
	Exit         int
	Answer, Want string
	// Excuse is the fault that it may fail by, "" for none: a driver that was killed, a disk
	// that was full, a planner that did not answer when it came.
	Excuse string
	// Hung says that it was given up.
	Hung bool
}

// Ending is how an application has ended.
type Ending string

// The ways to end. Lost and Wrong are what must not happen.
const (
	Right    Ending = "right"
	OwnError Ending = "own error"
	Lost     Ending = "lost"
	Wrong    Ending = "wrong"
)

// Judgement is what Judge says of a run.
type Judgement struct {
	Ending Ending
	// Possible says that its deadline could have been met, Late that it was not, of one that
	// has ended right.
	Possible, Late bool
	// Why is one line.
	Why string
}

// Judge says how a run has ended and whether its deadline could have been met.
func Judge(r Run) Judgement {
	j := Judgement{Ending: r.ending()}
	if j.Ending != Right {
		j.Why = fmt.Sprintf("exit %d, excuse %q, hung %v", r.Exit, r.Excuse, r.Hung)
		return j
	}
	at, ends := r.latest()
	j.Possible, j.Late = ends <= r.Deadline, r.Took > r.Deadline
	j.Why = fmt.Sprintf("deadline %.1f s, took %.1f s, after the fault at %.1f s it can end at %.1f s; %d executors lost",
		r.Deadline, r.Took, at, ends, len(r.Lost))
	return j
}

func (r Run) ending() Ending {
	switch {
	case r.Hung:
		return Lost
	case r.Exit == 0 && r.Answer == r.Want:
		return Right
	case r.Exit == 0:
		return Wrong
	case r.Excuse != "":
		return OwnError
	}
	return Lost
}

// latest is the latest end that any moment before r's deadline and end asks for, and that
// moment: its start, a fault or the loss of an executor.
func (r Run) latest() (at, ends float64) {
	moments := append([]float64{0}, r.Faults...)
	for _, l := range r.Lost {
		moments = append(moments, l.At)
	}
	slices.Sort(moments)
	for _, m := range moments {
		if m < 0 || m >= min(r.Deadline, r.Took) {
			continue
		}
		if e := r.ends(m); e > ends {
			at, ends = m, e
		}
	}
	return at, ends
}

// ends is when r can end after what has happened until at.
func (r Run) ends(at float64) float64 {
	lost := map[string]bool{}
	stands := max(0, r.Idle-r.up(0, at))
	for _, l := range r.Lost {
		if l.At <= at {
			lost[l.Executor] = true
			stands += max(0, Recovery-r.up(l.At, at))
		}
	}
	left := r.Work
	for _, t := range r.Tasks {
		if t.Finish <= at && !lost[t.Executor] {
			left -= t.CPU
		}
	}
	return at + Margin*(r.worked(r.waited(at, stands), max(0, left))-at)
}

// up is how much of a time executors could be started in.
func (r Run) up(from, to float64) float64 {
	sum := max(0, to-from)
	for _, a := range r.Away {
		sum -= max(0, min(to, a.To)-max(from, a.From))
	}
	return sum
}

// waited is when executors could be started for so long after from.
func (r Run) waited(from, long float64) float64 {
	if long <= 0 {
		return from
	}
	for _, a := range r.Away {
		if a.To <= from {
			continue
		}
		if a.From > from {
			if a.From-from >= long {
				break
			}
			long -= a.From - from
		}
		from = a.To
	}
	return from + long
}

// worked is when so much work is done that begins at from.
func (r Run) worked(from, work float64) float64 {
	if work <= 0 {
		return from
	}
	for i, level := range r.Capacity {
		to := math.Inf(1)
		if i+1 < len(r.Capacity) {
			to = r.Capacity[i+1].From
		}
		if to <= from {
			continue
		}
		if done := level.Cores * (to - from); level.Cores > 0 && done >= work {
			return from + work/level.Cores
		} else if level.Cores > 0 {
			work -= done
		}
		from = to
	}
	return math.Inf(1)
}
