package main

import (
	"testing"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/test/benchline"
)

// whyWorlds are the worlds with faults in which each application is asked where its time went.
const whyWorlds = 250

// accounted measures which part of the time of an application `pacer why` does not account for, or tells twice.
func accounted(t testing.TB, add adder) {
	var all []float64
	for seed := range uint64(whyWorlds) {
		pct, err := sim.Unaccounted(seed)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pct...)
	}
	add("why.unaccounted_pct.max", benchline.Quantile(all, 1), "%")
}
