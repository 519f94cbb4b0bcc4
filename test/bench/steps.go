package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
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

func (s step) String() string {
	if s.baseline == pacedOne {
		return fmt.Sprintf("%s +%d %%, round %d", s.workload.name, s.slack, s.round)
	}
	return fmt.Sprintf("%s %s, %s round %d", s.workload.name, s.baseline, s.phase, s.round)
}

// at marks a name with a variant.
func at(name, variant string) string {
	if variant == "" {
		return name
	}
	return name + "@" + variant
}

// steps are a workload's runs in their order: rounds of the three baselines, then, with
// slacks, rounds of one paced run for each and tuned stock between them.
func steps(w workload, runs int, slacks []int, seed uint64) []step {
	var out []step
	for round := 1; round <= runs; round++ {
		of := []step{{w, basis, round, stockAsIs, 0}, {w, basis, round, tunedOne, 0}, {w, basis, round, fullOne, 0}}
		out = append(out, shuffled(of, seed, fmt.Sprintf("%s %s %d", w.name, basis, round))...)
	}
	for round := 1; round <= runs && len(slacks) > 0; round++ {
		of := []step{{w, paced, round, tunedOne, 0}}
		for _, slack := range slacks {
			of = append(of, step{w, paced, round, pacedOne, slack})
		}
		out = append(out, shuffled(of, seed, fmt.Sprintf("%s %s %d", w.name, paced, round))...)
	}
	return out
}

// shuffled is a round in an order that is drawn from the seed and the round's name alone,
// so that it is the same whatever else is run.
func shuffled[S any](round []S, seed uint64, name string) []S {
	hash := fnv.New64a()
	fmt.Fprint(hash, name)
	order := rand.New(rand.NewPCG(seed, hash.Sum64()))
	order.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
	return round
}
