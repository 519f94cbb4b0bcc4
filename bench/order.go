package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/sparkpacer/pacer/internal/benchline"
)

// The baselines: what runs.
const (
	stockAsIs = "stock"
	tunedOne  = "tuned"
	fullOne   = "full"
	pacedOne  = "paced"
)

// The phases of a workload: deadlines need the runs before them.
const (
	basis = "basis"
	paced = "paced"
)

// step is a run that is to be made.
type step struct {
	workload workload
	phase    string
	round    int
	baseline string
	slack    int // Of a paced run.
}

// cell is the name of the step among the cells of a campaign.
func (s step) cell(variant string) string {
	name := fmt.Sprintf("trial.%s.%s.%d.%s", s.workload.name, s.phase, s.round, s.baseline)
	if s.baseline == pacedOne {
		name = fmt.Sprintf("%s.%d", name, s.slack)
	}
	return at(name, variant)
}

func (s step) String() string {
	if s.baseline == pacedOne {
		return fmt.Sprintf("%s +%d %%, round %d", s.workload.name, s.slack, s.round)
	}
	return fmt.Sprintf("%s %s, round %d", s.workload.name, s.baseline, s.round)
}

// at marks a name with a variant.
func at(name, variant string) string {
	if variant == "" {
		return name
	}
	return name + "@" + variant
}

// steps are a workload's runs in their order: rounds of the three baselines, then, with
// slacks, rounds of one paced run for each and tuned stock between them. The order
// within a round is drawn from the seed, the workload's name and the round alone, so
// that it is the same whatever else is run.
func steps(w workload, runs int, slacks []int, seed uint64) []step {
	var out []step
	for round := 1; round <= runs; round++ {
		out = append(out, shuffled([]step{{w, basis, round, stockAsIs, 0}, {w, basis, round, tunedOne, 0}, {w, basis, round, fullOne, 0}}, seed)...)
	}
	for round := 1; round <= runs && len(slacks) > 0; round++ {
		of := []step{{w, paced, round, tunedOne, 0}}
		for _, slack := range slacks {
			of = append(of, step{w, paced, round, pacedOne, slack})
		}
		out = append(out, shuffled(of, seed)...)
	}
	return out
}

// shuffled is a round in its order.
func shuffled(round []step, seed uint64) []step {
	name := fnv.New64a()
	fmt.Fprintf(name, "%s %s %d", round[0].workload.name, round[0].phase, round[0].round)
	rand.New(rand.NewPCG(seed, name.Sum64())).Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
	return round
}

// pending are the steps of which a campaign has no line.
func pending(all []step, c benchline.Campaign, variant string) []step {
	var out []step
	for _, s := range all {
		if !c.Has(s.cell(variant)) {
			out = append(out, s)
		}
	}
	return out
}

// left is about what steps take, in seconds: as long as the workload's runs so far, and
// else as long as it is said to take.
func left(todo []step, c benchline.Campaign, o trialOptions) float64 {
	const between = 5 // Seconds from one run to the next.
	sum := 0.0
	for _, s := range todo {
		wall := o.seconds(s.workload)
		if runs := walls(c.Runs(s.workload.name, o.variant()), "", fullOne, tunedOne, stockAsIs); len(runs) > 0 {
			wall = benchline.Median(runs).Value
		}
		sum += wall*(1+float64(s.slack)/100) + between
	}
	return sum
}

// walls are the times of runs of some baselines, in seconds; the phase may be "" for
// both.
func walls(runs []benchline.Run, phase string, baselines ...string) []float64 {
	return values(runs, func(r benchline.Run) float64 { return r.Wall }, phase, baselines...)
}

func values(runs []benchline.Run, of func(benchline.Run) float64, phase string, baselines ...string) []float64 {
	var out []float64
	for _, r := range runs {
		for _, b := range baselines {
			if r.Baseline == b && (phase == "" || r.Phase == phase) {
				out = append(out, of(r))
			}
		}
	}
	return out
}
