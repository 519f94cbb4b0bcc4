package dag

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// TightShare is the share of a deadline that all cores may take before it is
// called tight.
const TightShare = 0.9

// rounding is the relative error that comparisons of walked times forgive.
const rounding = 1e-9

// Forecast is what a deadline would mean for a profile.
type Forecast struct {
	// Verdict is unknown without cores to judge by, none without a deadline.
	Verdict api.Verdict
	// Finish is when the application will end if it is paced to the deadline;
	// without a deadline it is FullCores.
	Finish units.Seconds
	// FullCores is when it would end with all cores.
	FullCores units.Seconds
	// Earliest is the earliest deadline that was found feasible, to within a
	// thousandth; 0 if there is none. It is looked for where the deadline is infeasible.
	Earliest units.Seconds
	// Stages are in order of id.
	Stages []StageForecast
}

// StageForecast is one stage of a Forecast.
type StageForecast struct {
	ID int
	// Start is when it is ready, on the deadline clock.
	Start units.Seconds
	// Deadline is Eq 1, counted from Start; <= 0 when the application's deadline
	// has passed by then, 0 without one.
	Deadline units.Seconds
	// Duration is how long it will take from Start on; Wait is the part of it in
	// which no executor is free for it.
	Duration, Wait units.Seconds
	// Cores is its mean share of the cores while it runs: Eq 6 where that can be
	// had. It is always finite.
	Cores units.Cores
}

// Forecast walks the graph (doc.go, Feasibility) and judges the deadline, in
// seconds on the deadline clock, of which elapsed have passed without a stage
// being ready; deadline <= 0 means none. All cores are those of the supply that nobody
// else has been promised. p must be valid.
func (g *Graph) Forecast(p Params, deadline units.Seconds, supply Supply, elapsed units.Seconds) Forecast {
	if !(supply.Cores > 0) {
		return Forecast{Verdict: api.VerdictUnknown}
	}
	scene := g.scene(p.open(), supply, elapsed)
	full := scene.walk(0, Standing{})
	f := Forecast{Verdict: api.VerdictNone, Finish: full.finish, FullCores: full.finish, Stages: full.stages}
	if !(deadline > 0) {
		return f
	}
	if !p.Open {
		scene.params = p
		paced := scene.walk(deadline, Standing{})
		f.Finish, f.Stages = paced.finish, paced.stages
	}
	f.Verdict = judge(f.Finish, f.FullCores, deadline)
	switch {
	case f.Verdict == api.VerdictInfeasible:
		f.Earliest = scene.earliest(full.finish)
	case f.Verdict == api.VerdictFeasible && !meets(f.FullCores+p.Reserve[0], deadline):
		f.Verdict = api.VerdictTight // The reserve for unforeseen work does not fit.
	}
	return f
}

// EarliestOf is the earliest deadline that is feasible for g, to within a thousandth, also where f, which is its
// Forecast for the same, has no need of it. It is no later than one that was found feasible; 0 if there is none.
func (f Forecast) EarliestOf(g *Graph, p Params, deadline units.Seconds, supply Supply,
	elapsed units.Seconds) units.Seconds {
	if f.Verdict == api.VerdictInfeasible || f.Verdict == api.VerdictUnknown {
		return f.Earliest
	}
	earliest := g.scene(p, supply, elapsed).earliest(f.FullCores)
	if deadline > 0 && (earliest == 0 || deadline < earliest) {
		return deadline // The paper's split is not monotone everywhere; what was walked counts.
	}
	return earliest
}

// scene is what walks of g have in common.
func (g *Graph) scene(p Params, supply Supply, elapsed units.Seconds) scene {
	s := scene{graph: g, params: p, supply: supply, cores: float64(supply.Cores), elapsed: elapsed}
	s.busy = s.recorded()
	return s
}

// judge is the verdict on a deadline that ends at finish, and at all cores at full.
func judge(finish, full, deadline units.Seconds) api.Verdict {
	switch {
	case !meets(finish, deadline):
		return api.VerdictInfeasible
	case !meets(full, TightShare*deadline):
		return api.VerdictTight
	}
	return api.VerdictFeasible
}

// roomShare is the part of a deadline that the application may take in a shape, at
// all cores, for that shape to be chosen: the rest is for what its profile does not
// say.
const roomShare = 0.95

// Choose returns the parameters of the shape, of at most so many executors on a node,
// in which the application should run to keep the deadline: the cheapest one. Each executor beside the first one costs
// CPU time, for its start and for what the first stage on it compiles. It saves time only where tails and gaps of
// stages that take turns leave cores unused. So it is the least number of executors by which the deadline is kept and
// would be at all cores with room to spare (roomShare). Where there is none all stages share one executor, as in the
// recorded run, with all cores (Open); an application without branches runs like that anyway, so it is held to its
// deadline. Without cores or a deadline to judge by it is most. p.Executors and p.Open are not looked at.
func (g *Graph) Choose(p Params, most int, deadline units.Seconds, supply Supply, elapsed units.Seconds) Params {
	p.Open = false
	if most <= 1 || !(supply.Cores > 0) || !(deadline > 0) {
		return g.Turns(p, most)
	}
	scene := g.scene(p, supply, elapsed)
	for n := 1; n <= most; n++ {
		scene.params = g.Turns(p, n)
		if meets(scene.walk(0, Standing{}).finish, roomShare*deadline) &&
			meets(scene.walk(deadline, Standing{}).finish, deadline) {
			return scene.params
		}
	}
	return p.open()
}

// Turns returns the parameters p for so many executors on a node: Executors is 0 where
// these are enough for all stages that can run side by side.
func (g *Graph) Turns(p Params, executors int) Params {
	p.Executors = 0
	if executors < g.width {
		p.Executors = max(1, executors)
	}
	return p
}

// open are the parameters p of an application that is not held back.
func (p Params) open() Params {
	p.Open, p.Executors = true, 0
	return p
}

// meets reports whether an end at finish keeps the deadline.
func meets(finish, deadline units.Seconds) bool { return finish <= deadline*(1+rounding) }

// earliest searches the earliest feasible deadline from full, the end at all
// cores, upwards: growing steps to find one that is feasible, then bisection.
// The deadline that it returns has been walked and found feasible.
func (s scene) earliest(full units.Seconds) units.Seconds {
	if s.params.Open {
		return full
	}
	feasible := func(deadline units.Seconds) bool { return meets(s.walk(deadline, Standing{}).finish, deadline) }
	low, high := full, full
	for step := full / 64; !feasible(high); step *= 2 {
		if !(high < longest) {
			return 0
		}
		low, high = high, high+step
	}
	for high-low > high/2000 {
		middle := (low + high) / 2
		if feasible(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
