package dag

import (
	"math"
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// What a group of overlapping stages may be scaled by, and to which part of that
// its factor is searched.
const (
	leastScale, mostScale = 0.8, 8
	scaleGrain            = 1e-8
)

// recorded returns by place the core-seconds that each stage keeps busy at all cores of
// s: with them a walk, of as many cores as were recorded, takes the time that the
// recorded run took. A profile that no run alone has recorded has no such times: its
// stages keep busy what they work.
func (s scene) recorded() []float64 {
	busy := make([]float64, len(s.graph.profile.Stages))
	for i := range busy {
		busy[i] = s.kept(i) * s.graph.factors[i]
	}
	return busy
}

// findFactors fills in factors. A stage that nothing ran beside keeps the cores that
// it could use for as long as it ran, idle ones at its end and waits for its input
// included (kept). Of stages that ran side by side only the time of all together is
// known: each group of them has one factor.
func (g *Graph) findFactors() {
	g.factors = slices.Repeat([]float64{1}, len(g.profile.Stages))
	if !g.timed() {
		return
	}
	ends := g.replay()
	for from := 0; from < len(ends); {
		to := from + 1
		if !g.alone[from] {
			for to < len(ends) && !g.alone[to] {
				to++
			}
			g.scale(from, to, slices.Max(ends[from:to]))
		}
		from = to
	}
}

// kept is what stage i keeps busy as far as that is known of it by itself. More cores
// than it had make it faster, as far as it has tasks; with fewer it is as slow as its
// work makes it, but not faster than it was: what it waited for is not known.
func (s scene) kept(i int) float64 {
	g := s.graph
	stage := g.profile.Stages[i]
	if !g.timed() || !g.alone[i] {
		return work(stage)
	}
	had, duration := min(float64(g.profile.Cores), float64(stage.Tasks)*float64(stage.Width())), float64(stage.Duration)
	return max(duration*min(s.most(stage), had), min(work(stage), duration*had))
}

// timed reports whether the profile's times are those of a run alone.
func (g *Graph) timed() bool {
	return g.profile.Runs > 0 && !g.profile.Contended && g.profile.Cores > 0
}

// replay returns by place when each stage ended in the recorded run.
func (g *Graph) replay() []float64 {
	ends := make([]float64, len(g.profile.Stages))
	for i, s := range g.profile.Stages {
		start := float64(g.profile.Head)
		for _, before := range g.before[i] {
			start = max(start, ends[before])
		}
		ends[i] = start + float64(s.Gap+s.Duration)
	}
	return ends
}

// scale finds the factor of the stages in [from, to) by which the last of them ends at
// end, as far as there is one.
func (g *Graph) scale(from, to int, end float64) {
	ends := func(factor float64) float64 {
		for i := from; i < to; i++ {
			g.factors[i] = factor
		}
		last := 0.0
		for _, stage := range g.scene(Params{}.open(), Supply{Cores: g.profile.Cores}, 0).walk(0, Standing{}).stages[from:to] {
			last = max(last, float64(stage.Start+stage.Duration))
		}
		return last
	}
	low, high := math.Log(leastScale), math.Log(mostScale)
	for high-low > scaleGrain {
		if middle := (low + high) / 2; ends(math.Exp(middle)) > end {
			high = middle
		} else {
			low = middle
		}
	}
	ends(math.Exp(low))
}

// Cost of an executor beside the first one of a node, where no run has shown it: the
// CPU time of its start, and what the first stage that it runs uses besides, since
// nothing is compiled there. Measured on SQL stages of 5 to 7 core-seconds.
const (
	priorStart  units.Work = 5
	priorWarmup units.Work = 4
)

// start is the CPU time that the start of one executor takes.
func (g *Graph) start() float64 {
	if g.profile.ExecutorStart > 0 {
		return float64(g.profile.ExecutorStart)
	}
	return float64(priorStart)
}

// warmup is what stage i uses besides on an executor that has run nothing. It never
// more than doubles a stage by the prior: what little runs compiles little.
func (g *Graph) warmup(i int) float64 {
	s := g.profile.Stages[i]
	if s.Warmup > 0 {
		return float64(s.Warmup)
	}
	return min(float64(priorWarmup), work(s))
}
