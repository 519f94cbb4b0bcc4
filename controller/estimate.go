package controller

import "math"

// The estimator's constants. All are shares of the stage or plain weights, so
// that they mean the same for a stage of seconds and one of hours.
const (
	// priorShare is the weight that the nominal rate has at the start, as a share of
	// the stage. It is small: a nominal rate may be wrong by a factor of three.
	priorShare = 0.03
	// memoryShare is the share of the stage after which what was learned has lost
	// two thirds of its weight: rates change while the JIT compiler works.
	memoryShare = 0.25
	// memoryTasks is the same in tasks per running task, where the stage is short.
	memoryTasks = 2
	// stallGain is the gain, per step, of the share of steps without visible
	// progress.
	stallGain = 0.15
	// rateSpan bounds the measured rate to this factor around the nominal one.
	rateSpan = 10
	// readyWeight is the progress that a rate must rest on when there is no
	// nominal one, in tasks or as a share of the stage, whichever is less.
	readyWeight, readyShare = 1, 0.05
	// readySpent is the CPU time, in seconds, that it must rest on as well: less is
	// not measured, and a rate out of nothing overflows.
	readySpent = 1e-6
)

// Estimate is what was learned about the weight done per core-second: a ratio
// of two sums that forget exponentially, begun with the nominal rate.
type Estimate struct {
	// Gained is weight, Spent is core-seconds.
	Gained float64 `json:"gained"`
	Spent  float64 `json:"spent"`
	// Total is the weight that was seen to be done since the start.
	Total float64 `json:"total"`
	// Hidden is progress inside running tasks that the measurement does not show:
	// where only finished tasks count, up to one task's weight per running task.
	Hidden float64 `json:"hidden"`
	// Stalled is how many of the recent steps used CPU without progress to be
	// seen, as a share: near 0 where running tasks count, near 1 where they do not.
	Stalled float64 `json:"stalled"`
}

// seed gives the nominal rate its weight, unless something was learned.
func (e *Estimate) seed(t Target) {
	if t.Rate <= 0 || t.Weight <= 0 || e.Total > 0 {
		return
	}
	weight := max(priorShare*t.Weight, min(0.5, t.Weight))
	e.Gained, e.Spent = weight, weight/t.Rate
}

// ready reports whether rate can be used.
func (e *Estimate) ready() bool { return e.Gained > 0 && e.Spent > 0 }

// rate is the weight per core-second, 0 if nothing is known.
func (e *Estimate) rate(t *Target) float64 {
	if !e.ready() {
		return t.Rate
	}
	r := e.Gained / e.Spent
	if t.Rate > 0 {
		r = min(max(r, t.Rate/rateSpan), t.Rate*rateSpan)
	}
	return r
}

// update folds in one measurement. before is the weight done at the last one.
func (e *Estimate) update(t *Target, before float64, v *view) {
	seen, spent := v.Done-before, float64(v.Used)*v.dt
	if seen < 0 {
		// Work was lost: it says nothing about the rate.
		e.Hidden = 0
		return
	}
	expected := e.rate(t) * spent
	e.watchStall(v.Done, seen, expected)
	bound := e.Stalled * min(float64(v.Runnable), max(0, t.Weight-v.Done))
	hidden := min(max(0, e.Hidden+expected-seen), bound)
	gained := seen + hidden - e.Hidden
	e.Hidden = hidden
	e.Total += seen
	if !e.ready() {
		e.collect(t, spent)
		return
	}
	memory := max(memoryShare*t.Weight, memoryTasks*float64(max(1, v.Runnable)))
	if len(v.Chains) > 0 {
		// No longer than what is left: the rate changes with the cores in use.
		memory = max(min(memoryShare*t.Weight, t.Weight-v.Done), float64(max(1, v.Runnable)))
	}
	// The exponential's implicit step: the same forgetting for small steps, and
	// never less than nothing kept for large ones.
	keep := memory / (memory + expected)
	e.Gained = max(e.Gained*keep+gained, math.SmallestNonzeroFloat32)
	e.Spent = e.Spent*keep + spent
}

// watchStall keeps the share of steps that show no progress or a whole number of
// tasks of weight 1. Steps that used next to nothing say nothing.
func (e *Estimate) watchStall(done, seen, expected float64) {
	if expected < 1e-4 {
		return
	}
	stalled := 0.0
	if seen == 0 || done == math.Trunc(done) {
		stalled = 1
	}
	e.Stalled += stallGain * (stalled - e.Stalled)
}

// collect gathers CPU without a nominal rate, until enough was done for a first
// rate.
func (e *Estimate) collect(t *Target, spent float64) {
	e.Spent += spent
	if e.Spent >= readySpent && e.Total > 0 && e.Total >= min(readyWeight, readyShare*t.Weight) {
		e.Gained = e.Total
	}
}
