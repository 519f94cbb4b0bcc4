package main

import (
	"testing"

	"github.com/sparkpacer/pacer/sim/attach"
	"github.com/sparkpacer/pacer/test/benchline"
)

// virtualAttached is how many attached applications run in virtual time.
const virtualAttached = 300

// attachedVirtual measures how many executors attached applications ask for, beside what an oracle needs.
func attachedVirtual(t testing.TB, add adder) {
	runs, err := attach.Run(attach.Options{Seeds: virtualAttached, Stop: t.Context().Done()})
	if err != nil {
		t.Fatal(err)
	}
	add("attach.virtual.late_pct", benchline.Mean([]float64{runs.LatePct()}), "%")
	add("attach.virtual.executors_ratio", benchline.Mean([]float64{runs.ExecutorsRatio()}), "ratio")
}
