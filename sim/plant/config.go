package plant

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Config says how executors turn cores into work. The zero value is the ideal
// one: as much work as cores, at once.
type Config struct {
	// Lag is p of Eq 8 per half second, in [0, 1): the effective cores follow
	// those obtained with the time constant -0.5 s / ln p.
	Lag float64
	// Bend is the k of f(c) = c (1+k)/(1 + k c/C), C being the executor's slots:
	// f(C) = C whatever k, and a core is worth up to 1+k where few are used. 0 is
	// linear. The paper's mean cores fit k between 0.9 and 2.5 (package sim/paper).
	Bend float64
	// Noise is the standard deviation of an executor's rate around its mean, as a
	// share of it; it changes with a time constant of two seconds. RunNoise is that of
	// the logarithm of a whole run's speed.
	Noise, RunNoise float64
	// Runs are the speed factors of whole runs as measured, of which each
	// run draws one instead of RunNoise; none by default.
	Runs []float64
	// Spread is the standard deviation of the logarithm of a task's work around
	// what its weight says.
	Spread float64
	// ByteCost is the standard deviation of the logarithm of what a byte costs in one
	// task of a stage with sizes beside what it costs in another. Weights are bytes and
	// know nothing of it; each run draws anew.
	ByteCost float64
	// Task is what each task costs beside its work, in core-seconds: its launch, its
	// code, its answer. Its weight knows nothing of it.
	Task units.Work
	// Sway is how much faster a task reads its records from some moment of its reading
	// on, drawn from 1/Sway to Sway: what a record costs changes while a compiler
	// works and heaps fill. The task's work stays the same. 0 or 1: evenly.
	Sway float64
	// Start is what a JVM's start takes in core-seconds, of two cores at most.
	Start units.Work
	// Warm is by how much slower a new JVM is at first (3: a third of the rate);
	// WarmWork the core-seconds per slot after which two thirds of that are gone.
	// 0 or 1: none.
	Warm     float64
	WarmWork units.Work
	// PauseEvery is the core-seconds per slot between two stops of the world for
	// garbage collection, 0 or at least leastPause; PauseWork the core-seconds per slot
	// that one takes.
	PauseEvery, PauseWork units.Work
	// Evict and Spill are how fast an executor that is to have less off-heap memory evicts
	// blocks and has its tasks spill, in bytes a second.
	Evict, Spill units.Bytes
	// ExitSpread is the standard deviation of the logarithm of a driver's time to exit.
	ExitSpread float64
	// NoCopies says that no last task is copied: what copies save is measured beside such a world.
	NoCopies bool
	// Dispatch is what passes between a task's end and the next one's start.
	Dispatch time.Duration
	// Page is the time between two progress pages; 100 ms by default.
	Page time.Duration
}

// Default returns a Config with the features of real Spark: JVM starts of four
// core-seconds (docs/decisions/013 has measured ones), rates that triple while the
// compiler works, short collections, tasks that differ by a tenth, and by a fifth more
// where their bytes do. Its noise is made up: RunNoise of 0.3 % is little beside the
// runs that were measured, 0.93 to 1.17 times their median (sim/paper/runs), which only the
// experiment `runs` takes, by Runs.
func Default() Config {
	return Config{Lag: 0.3, Noise: 0.02, RunNoise: 0.003, Spread: 0.1, ByteCost: 0.2, Start: 4, Warm: 3, WarmWork: 1.5,
		PauseEvery: 4, PauseWork: 0.04, Evict: 512 * units.MiB, Spill: 256 * units.MiB, ExitSpread: 0.2,
		Dispatch: 4 * time.Millisecond, Page: 100 * time.Millisecond}
}

// Validate reports every fault of p at once.
func (p Config) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("plant: "+format, args...))
		}
	}
	inside := func(v, low, high float64) bool { return v >= low && v <= high }
	check(p.Lag >= 0 && p.Lag < 1, "lag is %v, want 0 or more, below 1", p.Lag)
	check(inside(p.Bend, 0, 100), "bend is %v, want 0 to 100", p.Bend)
	check(inside(p.Noise, 0, 0.5) && inside(p.RunNoise, 0, 0.5), "noise is %v and %v, want 0 to 0.5", p.Noise, p.RunNoise)
	check(inside(p.Spread, 0, 3) && inside(p.ByteCost, 0, 3), "spread is %v, byte cost %v, want 0 to 3", p.Spread,
		p.ByteCost)
	check(inside(p.ExitSpread, 0, 3), "exit spread is %v, want 0 to 3", p.ExitSpread)
	for _, f := range p.Runs {
		check(inside(f, 0.01, 100), "a run goes %v times as fast, want 0.01 to 100", f)
	}
	check(inside(p.Sway, 0, 100), "sway is %v, want 0 to 100", p.Sway)
	check(inside(p.Warm, 0, 100), "warm is %v, want 0 to 100", p.Warm)
	for _, w := range []units.Work{p.Task, p.Start, p.WarmWork, p.PauseEvery, p.PauseWork} {
		check(inside(float64(w), 0, 1e6), "%v core-seconds, want 0 to 1e6", float64(w))
	}
	check(p.PauseEvery == 0 || p.PauseEvery >= leastPause, "a collection every %v core-seconds, want 0 or at least %v",
		float64(p.PauseEvery), float64(leastPause))
	check(p.Evict >= 0 && p.Spill >= 0,
		"blocks are evicted at %v a second, and tasks spill %v, want none negative (0: at once)",
		p.Evict, p.Spill)
	check(p.Dispatch >= 0 && p.Page >= 0, "dispatch or page is negative")
	return errors.Join(faults...)
}

// leastPause keeps a world from doing nothing but stopping and going on.
const leastPause units.Work = 0.01

// runFactor is how much faster than others a whole run goes: one of those measured, or
// around 1 where there are none.
func (p *Config) runFactor(r *rand.Rand) float64 {
	if len(p.Runs) > 0 {
		return p.Runs[r.IntN(len(p.Runs))]
	}
	return des.Around(r, p.RunNoise)
}
