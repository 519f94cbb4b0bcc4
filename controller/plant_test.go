package controller

import (
	"math"
	"math/rand"
	"time"

	"github.com/sparkpacer/pacer/controller/physics"
	"github.com/sparkpacer/pacer/units"
)

// plant is the paper's Eq 8-10 with what a real stage adds: tasks that use one
// core at most, progress seen in whole tasks or continuously.
type plant struct {
	p       float64   // pole per 0.5 s
	gain    float64   // true rate over nominal rate
	rate    float64   // nominal weight per core-second
	warmUp  float64   // share of the stage done at a third of the rate
	tasks   []float64 // weights, mean 1; nil: continuous
	slots   int
	whole   bool    // only finished tasks count
	jump    float64 // running tasks count as min(0.95, jump x their share)
	weight  float64
	noise   *rand.Rand                // of the CPU measured, +-15 %; nil: exact
	delay   bool                      // an additional step of delay, as in Eq 8
	fetch   float64                   // seconds that a task waits for its input first
	pause   float64                   // every 5 s all tasks stand still for so long
	longest float64                   // weight of the longest task as the profile has it; 0: unknown
	blind   bool                      // the law is not told what is left for each slot
	lost    func(now float64) float64 // cores that others take; nil: none
	running []run

	next            int
	done, finished  float64
	used, effective float64
	pending         units.Cores
	now             float64
	lightest        float64 // of the tasks that have run
	rests, chains   []float64
}

// left is what Chains makes of what a node can see, nothing long before the end.
func (pl *plant) left() []float64 {
	if pl.tasks == nil || pl.whole || pl.blind {
		return nil
	}
	waiting := pl.weight - pl.finished
	pl.rests = pl.rests[:0]
	for _, r := range pl.running {
		waiting -= r.weight
		pl.rests = append(pl.rests, r.weight-r.weight*min(0.95, pl.jump*r.done/r.weight))
	}
	pl.chains = Chains(pl.chains, pl.rests, Waiting{len(pl.tasks) - pl.next, max(0, waiting), pl.lightest, pl.longest}, pl.slots)
	return pl.chains
}

type run struct{ weight, done, wait float64 }

func (pl *plant) start() {
	if pl.tasks == nil {
		return
	}
	pl.weight = 0
	for _, w := range pl.tasks {
		pl.weight += w
	}
	pl.refill()
}

func (pl *plant) refill() {
	for len(pl.running) < pl.slots && pl.next < len(pl.tasks) {
		pl.running = append(pl.running, run{weight: pl.tasks[pl.next], wait: pl.fetch})
		if w := pl.tasks[pl.next]; pl.lightest == 0 || w < pl.lightest {
			pl.lightest = w
		}
		pl.next++
	}
}

func (pl *plant) over() bool { return pl.done >= pl.weight-1e-9 }

func (pl *plant) runnable() int {
	if pl.tasks == nil {
		if pl.over() {
			return 0
		}
		return pl.slots
	}
	return min(pl.slots, len(pl.running)+len(pl.tasks)-pl.next)
}

// seen is what the progress page shows.
func (pl *plant) seen() float64 {
	if pl.tasks == nil {
		return pl.done
	}
	s := pl.finished
	if !pl.whole {
		for _, r := range pl.running {
			s += r.weight * min(0.95, pl.jump*r.done/r.weight)
		}
	}
	return s
}

// advance runs dt seconds at c cores; it stops at the end of the stage.
func (pl *plant) advance(c units.Cores, dt float64) {
	if pl.delay {
		c, pl.pending = pl.pending, c
	}
	if pl.lost != nil {
		c = min(c, units.Cores(max(0, float64(pl.slots)-pl.lost(pl.now))))
	}
	pl.effective = physics.Follow(pl.effective, float64(c), pl.p, physics.LagInterval)
	const h = 0.01
	used := 0.0
	for range int(math.Round(dt / h)) {
		if pl.over() {
			break
		}
		r := pl.rate * pl.gain
		if pl.done < pl.warmUp*pl.weight {
			r /= 3
		}
		cores := min(pl.effective, float64(pl.runnable()))
		if pl.pause > 0 && pl.now > 5 && math.Mod(pl.now, 5) < pl.pause {
			cores = 0
		}
		used += pl.work(cores, r, h) * h
		pl.now += h
	}
	pl.used = used / dt
	if pl.noise != nil {
		pl.used *= 0.85 + 0.3*pl.noise.Float64()
	}
}

// work gives the tasks that compute their part of cores for h seconds and returns
// the cores used.
func (pl *plant) work(cores, rate, h float64) float64 {
	if pl.tasks == nil {
		pl.done += cores * rate * h
		return cores
	}
	computing := 0
	for i := range pl.running {
		if pl.running[i].wait -= h; pl.running[i].wait <= 0 {
			computing++
		}
	}
	cores = min(cores, float64(computing))
	each := cores / float64(max(1, computing)) * rate * h
	kept := pl.running[:0]
	pl.done = pl.finished
	for _, r := range pl.running {
		if r.wait <= 0 {
			r.done += each
		}
		if r.done >= r.weight {
			pl.finished += r.weight
			pl.done += r.weight
			continue
		}
		pl.done += r.done
		kept = append(kept, r)
	}
	pl.running = kept
	pl.refill()
	return cores
}

// outcome is how a paced stage went.
type outcome struct {
	errorPct  float64 // (deadline - finish)/deadline; negative = late
	variation float64 // sum of |change of the request|
	movement  Movement
	overshoot float64   // most that progress was ahead of its set point, in per cent
	lag       []float64 // set point less progress at each step, in per cent
	changes   int       // quota writes with a quantum of 0.05
	requests  []float64
	finish    float64
}

// pace drives the plant to its end with a controller, capacity cores in all.
func pace(cfg Config, pl *plant, deadline float64, capacity float64, init units.Cores) outcome {
	pl.start()
	origin := units.Instant(1e12)
	t := Target{Start: origin, Deadline: origin.Add(units.Seconds(deadline).Duration()), Weight: pl.weight, Rate: pl.rate, Init: init}
	c, err := New(cfg, t, init)
	if err != nil {
		panic(err)
	}
	q := cfg.Interval
	var o outcome
	request := init
	pl.pending = init
	inForce := float64(init)
	last := float64(init)
	pl.effective = float64(init)
	for k := 1; !pl.over() && k < 100000; k++ {
		pl.advance(request, q.Seconds())
		out, err := c.Step(Input{
			At: origin.Add(time.Duration(k) * q), Dt: q, Done: pl.seen(), Runnable: pl.runnable(),
			Min: 0.1, Max: units.Cores(capacity), Used: units.Cores(pl.used), Chains: pl.left(), Alike: pl.longest <= 2,
		})
		if err != nil {
			panic(err)
		}
		request = out.Request
		lag := (out.SetPoint - out.Progress).Percent()
		o.lag, o.overshoot = append(o.lag, lag), max(o.overshoot, -lag)
		if pl.over() {
			break
		}
		if out.SetPoint < 1 {
			o.variation += math.Abs(float64(request) - last)
			last = float64(request)
			o.movement.Add(request)
		}
		if math.Abs(float64(request)-inForce) >= 0.05 {
			inForce = float64(request)
			o.changes++
		}
		// The quota in force is what the quantum leaves.
		request = units.Cores(inForce)
		o.requests = append(o.requests, float64(out.Request))
	}
	o.finish = pl.now
	o.errorPct = 100 * (deadline - pl.now) / deadline
	return o
}

func evenTasks(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}
