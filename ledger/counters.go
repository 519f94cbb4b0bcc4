package ledger

import (
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Counters are what its node told of an executor's work for a stage in all, as it is
// kept and stored: without a pointer, as a planner of many applications has tens of
// thousands of them. None of the numbers falls, so that a node's restart takes nothing
// back.
type Counters struct {
	CPU    units.Work // Used for the stage.
	Quotas int64      // Written for it.
	// Large is the CPU time of the large and long tasks that have finished, Reading the
	// part of it in which they read.
	Large, Reading units.Work
	// Shadow is the sum of what the executor of an observed application would have been
	// granted in the ticks in which tasks ran, Ticks their number.
	Shadow units.Cores
	Ticks  int64
}

// shadow takes in a tick of an executor of an observed application. No quota (a
// negative grant) is what the tasks could use.
func (c *Counters) shadow(s api.StageSample, offered units.Cores) {
	if s.Running <= 0 {
		return
	}
	grant := s.Grant
	if grant < 0 {
		grant = min(units.Cores(s.Running), offered)
	}
	c.Shadow += grant
	c.Ticks++
}

// Sight is what a node told last of an executor at work on a stage; it is not stored.
type Sight struct {
	Progress units.Fraction
	Finished int // Tasks.
	Pace     Pace
	// Lacked is the time for which it got less than it asked for, each moment counted by
	// the part that was missing.
	Lacked units.Seconds
	// Heap is how it used its heap for the stage, nil while that is not told. It is replaced, not changed.
	Heap *api.HeapUse
}

// Pace is what an executor has done for a stage lately, smoothed over paceTime.
type Pace struct {
	Used, Request units.Cores
	Running       int
	Seen          bool // It has been told of at all.
	// At is when the newest tick was, Since when the first, on the application's
	// deadline clock.
	At, Since units.Seconds
}

// paceTime smooths what ticks show: shorter than a hand-over is worth, longer
// than a garbage collection.
const paceTime units.Seconds = 2

// keep takes one tick of an executor's work for a stage in.
func (p *Pace) keep(at units.Seconds, sample api.StageSample) {
	if !p.Seen {
		*p = Pace{Used: sample.Used, Request: sample.Request, Seen: true, At: at, Since: at}
	}
	dt := min(max(at-p.At, 0), paceTime)
	keep := units.Cores(math.Exp(-float64(dt / paceTime)))
	p.Used = keep*p.Used + (1-keep)*sample.Used
	p.Request = keep*p.Request + (1-keep)*sample.Request
	p.Running, p.At = sample.Running, max(p.At, at)
}

// lack takes in a tick of an executor at work: which part of its request it was not
// granted, from the tick before to this one. It is to be called before the pace has it.
func (v *Sight) lack(at units.Seconds, tick api.StageSample) {
	if !v.Pace.Seen || tick.Running <= 0 || tick.Grant < 0 || tick.Grant >= tick.Request {
		return
	}
	v.Lacked += min(max(0, at-v.Pace.At), paceTime) * units.Seconds(1-tick.Grant/tick.Request)
}
