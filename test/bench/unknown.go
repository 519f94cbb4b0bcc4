package main

import (
	"testing"

	"github.com/sparkpacer/pacer/sim/unknown"
	"github.com/sparkpacer/pacer/test/benchline"
)

// unknownSeeds is how many traces are run under each admission.
const unknownSeeds = 12

// unknownDeadlines measures what reservations are worth on the engines.
func unknownDeadlines(t testing.TB, add adder) {
	table, err := unknown.Run(unknown.Options{Seeds: unknownSeeds, Stop: t.Context().Done()})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table.Rows() {
		t.Log(row)
	}
	for _, f := range table.Figures {
		add(f.Name, benchline.Mean(f.Values), f.Unit)
	}
}
