package main

import (
	"testing"

	"github.com/sparkpacer/pacer/sim/fluid"
	"github.com/sparkpacer/pacer/test/benchline"
)

// fluidSeeds are as many as the source's runs.
const fluidSeeds = 10

// fluidPace measures the rules of package assign in the world of units beside the source's figures, and the CPU time
// of a run of 80,000 applications, its trace made and its figures drawn up: of each case, with another one where that
// one's name has it in it, and the longest.
func fluidPace(t testing.TB, add adder) {
	o := fluid.Options{Seeds: fluidSeeds, Stop: t.Context().Done()}
	table, err := fluid.RunPace(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range table.Measures {
		add("fluid.pace."+m.Name, benchline.Mean(m.Values), m.Unit)
	}
	var took []float64
	o.Seeds = 1
	for _, c := range table.Cells {
		o.Only = c.Case
		began := cpuTime(t)
		if _, err := fluid.RunPace(o); err != nil {
			t.Fatal(err)
		}
		took = append(took, (cpuTime(t) - began).Seconds())
	}
	add("fluid.run_s", benchline.Quantile(took, 1), "s")
}
