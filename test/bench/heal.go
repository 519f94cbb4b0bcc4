package main

import (
	"math/rand/v2"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/sim/nextrun"
	"github.com/sparkpacer/pacer/test/benchline"
)

const (
	// healSeeds is how many applications change, mostHeal how often at most each of them runs then.
	healSeeds = 10000
	mostHeal  = 9
)

// healing measures how often an application has to run that has changed until its profile knows each of its
// stages when it becomes ready: its first run, of which some are new, is counted.
func healing(t testing.TB, add adder) {
	runs := make([]float64, healSeeds)
	for seed := range runs {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		runs[seed] = float64(healed(t, nextrun.Draw(r, 5+r.IntN(alignStages), nextrun.DrawChanges(r)...)))
	}
	add("heal.runs", benchline.Mean(runs), "runs")
}

// healed is after how many runs the profile knows all stages of a changed application.
func healed(t testing.TB, r nextrun.Runs) int {
	p := r.Known
	for n := 1; n < mostHeal; n++ {
		if knows(p, r) {
			return n
		}
		learnt, _, err := profiles.Learn(p, r.Next, profiles.Terms{})
		if err != nil {
			t.Fatal(err)
		}
		p = learnt
	}
	return mostHeal
}

// knows reports whether each stage of the changed run is one of a variant of p when it becomes ready, if the
// run is of the variant that fits it best so far.
func knows(p api.Profile, r nextrun.Runs) bool {
	m, rivals := profiles.NewMatcher(p), profiles.NewRivals(p)
	for i := range r.Next.Stages {
		ready := r.Ready(i)
		m.Match(ready)
		rivals.Ready(ready)
		if place, is := rivals.Better(); is {
			p = profiles.Taken(p, place)
			m, rivals = profiles.NewMatcher(p), profiles.NewRivals(p)
			for k := range i + 1 {
				m.Match(r.Ready(k))
				rivals.Ready(r.Ready(k))
				if k < i {
					m.Ended(r.Ready(k).Stage)
					rivals.Ended(r.Ready(k).Stage)
				}
			}
		}
		if _, is := m.Of(ready.Stage); !is {
			return false
		}
		m.Ended(ready.Stage)
		rivals.Ended(ready.Stage)
	}
	return true
}
