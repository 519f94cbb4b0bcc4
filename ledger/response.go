package ledger

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Response is a step response that is under way on a running stage: its
// executors are held at two levels, one after the other. It is not saved.
type Response struct {
	api.Step
	Began units.Instant
	// Base is what each executor asked for when it began.
	Base map[api.ExecutorID]units.Cores
	// Level is 1 or 2, 0 when it is over.
	Level int
}

// UnderWay reports whether it holds executors; of nil it is false.
func (r *Response) UnderWay() bool { return r != nil && r.Level > 0 }

// hold is what an executor is held at, 0 for nothing.
func (r *Response) hold(id api.ExecutorID) units.Cores {
	if r == nil {
		return 0
	}
	switch r.Level {
	case 1:
		return r.Base[id] * units.Cores(r.Low)
	case 2:
		return r.Base[id] * units.Cores(r.High)
	}
	return 0
}

// holdGrace is how long after the end of its level an executor is held at most, should
// no Plan say what comes next: the planner's death leaves no stage held.
const holdGrace units.Seconds = 2

// holdFor is how long hold counts from now on, 0 for none.
func (r *Response) holdFor(hold units.Cores, now units.Instant) units.Seconds {
	if hold == 0 {
		return 0
	}
	return max(0, units.Seconds(r.Level)*r.Each-units.FromDuration(now.Sub(r.Began))) + holdGrace
}
