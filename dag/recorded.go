package dag

import (
	"math"
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// Bounds of the factor by which a group of overlapping stages is scaled, and to which part of that it is searched.
const (
	leastScale, mostScale = 0.8, 8
	scaleGrain            = 1e-8
)

// recorded returns by node the core-seconds that each stage keeps busy at all cores of
// s: with them a walk, of as many cores as were recorded, takes the time that the
// recorded run took. A profile that no run alone has recorded has no such times: its
// stages keep busy what they work.
func (s scene) recorded() []float64 {
	busy := make([]float64, len(s.graph.nodes))
	for i := range busy {
		if s.graph.nodes[i].stage != nil {
			busy[i] = s.kept(i) * s.graph.factors[i]
		}
	}
	return busy
}

// findFactors fills in factors. A stage that nothing ran beside keeps the cores that
// it could use for as long as it ran, idle ones at its end and waits for its input
// included (kept). Of stages that ran side by side only the time of all together is
// known: each group of them has one factor. Nothing outside a group runs beside it, so that it is
// walked through by itself.
func (g *Graph) findFactors() {
	g.factors = slices.Repeat([]float64{1}, len(g.nodes))
	if !g.timed() {
		return
	}
	ends := g.replay()
	at := float64(g.profile.Head) // When the walk has come to from.
	s := g.scene(Params{}.open(), Supply{Cores: g.profile.Cores}, 0)
	for from := 0; from < len(ends); {
		to := from + 1
		if !g.nodes[from].alone {
			for to < len(ends) && !g.nodes[to].alone {
				to++
			}
			if to > from+1 || g.nodes[from].stage != nil { // Else it is a barrier between two that are alone.
				g.scale(s, from, to, at, slices.Max(ends[from:to]))
			}
		}
		at = s.end(from, to, at)
		from = to
	}
}

// kept is what the stage at node i keeps busy as far as that is known of it by itself. More cores than it had make it
// faster, as far as it has tasks. With fewer it is as slow as its work makes it, but not faster than it was: what it
// waited for is not known.
func (s scene) kept(i int) float64 {
	g := s.graph
	stage := g.nodes[i].stage
	if !g.timed() || !g.nodes[i].alone {
		return work(stage)
	}
	had, duration := min(float64(g.profile.Cores), float64(stage.Tasks)*float64(stage.Width())), float64(stage.Duration)
	return max(duration*min(s.most(stage), had), min(work(stage), duration*had))
}

// timed reports whether the profile's times are those of a run alone.
func (g *Graph) timed() bool {
	return g.profile.Runs > 0 && !g.profile.Contended && g.profile.Cores > 0
}

// replay returns by node when each stage ended in the recorded run, and when a barrier fell.
func (g *Graph) replay() []float64 {
	ends := make([]float64, len(g.nodes))
	for i, n := range g.nodes {
		ends[i] = float64(g.profile.Head)
		for _, before := range n.before {
			ends[i] = max(ends[i], ends[before])
		}
		if n.stage != nil {
			ends[i] += float64(n.stage.Gap + n.stage.Duration)
		}
	}
	return ends
}

// end is when the last of the nodes in [from, to) ends that begin at a moment.
func (s scene) end(from, to int, at float64) float64 {
	w, stages := s.walker(from, to, at), 0
	for _, n := range s.graph.nodes[from:to] {
		if n.stage != nil {
			stages++
		}
	}
	w.run(stages)
	for _, stage := range w.stages {
		at = max(at, float64(stage.Start+stage.Duration))
	}
	return at
}

// scale finds the factor of the nodes in [from, to), which begin at a moment, by which the last of them ends at end, as
// far as there is one. It sets what they keep busy in s by it.
func (g *Graph) scale(s scene, from, to int, at, end float64) {
	kept := slices.Clone(s.busy[from:to])
	ends := func(factor float64) float64 {
		for i := range kept {
			g.factors[from+i], s.busy[from+i] = factor, kept[i]*factor
		}
		return s.end(from, to, at)
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

// Cost of an executor beside the first one of a node, where no run has shown it. It is the CPU time of its start, and
// what the first stage that it runs uses besides, since nothing is compiled there. Measured on SQL stages of 5 to 7
// core-seconds.
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

// warmup is what the stage at node i uses besides on an executor that has run nothing. It never
// more than doubles a stage by the prior: what little runs compiles little.
func (g *Graph) warmup(i int) float64 {
	s := g.nodes[i].stage
	if s.Warmup > 0 {
		return float64(s.Warmup)
	}
	return min(float64(priorWarmup), work(s))
}
