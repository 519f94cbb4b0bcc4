package main

import (
	"testing"

	"github.com/sparkpacer/pacer/sim/zoe"
	"github.com/sparkpacer/pacer/test/benchline"
)

// zoeSeeds is how many traces are run under each rule.
const zoeSeeds = 12

// zoeRules measures the rules of the queue on the engines.
func zoeRules(t testing.TB, add adder) {
	table, err := zoe.Run(zoe.Options{Seeds: zoeSeeds, Stop: t.Context().Done()})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table.Rows() {
		t.Log(row)
	}
	for _, f := range table.Figures {
		unit := "ratio"
		if f.Name == "queue.sim.met_gain" {
			unit = "applications"
		}
		add(f.Name, benchline.Mean(f.Values), unit)
	}
}
