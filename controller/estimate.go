package controller

import "math"

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
	weight := max(params.Rate.Prior*t.Weight, min(0.5, t.Weight))
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
		r = min(max(r, t.Rate/params.Rate.Span), t.Rate*params.Rate.Span)
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
	memory := max(params.Rate.Memory*t.Weight, params.Rate.MemoryTasks*float64(max(1, v.Runnable)))
	if len(v.Chains) > 0 {
		// No longer than what is left: the rate changes with the cores in use.
		memory = max(min(params.Rate.Memory*t.Weight, t.Weight-v.Done), float64(max(1, v.Runnable)))
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
	e.Stalled += params.Rate.Stall * (stalled - e.Stalled)
}

// collect gathers CPU without a nominal rate, until enough was done for a first
// rate.
func (e *Estimate) collect(t *Target, spent float64) {
	e.Spent += spent
	p := &params.Rate
	if e.Spent >= p.ReadySpent && e.Total > 0 && e.Total >= min(p.Ready, p.ReadyShare*t.Weight) {
		e.Gained = e.Total
	}
}
