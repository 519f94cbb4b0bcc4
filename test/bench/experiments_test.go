package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/test/benchline"
)

func TestHeldRatioIsOfAllClaims(t *testing.T) {
	got := heldRatio([]experiment.Claim{{Holds: true}, {}, {Holds: true}, {Holds: true}})
	if d := cmp.Diff(benchline.Measured{Value: 0.75, N: 4, Spread: [2]float64{0.75, 0.75}}, got); d != "" {
		t.Error(d)
	}
}
