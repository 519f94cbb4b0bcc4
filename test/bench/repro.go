package main

import (
	"testing"

	"github.com/sparkpacer/pacer/sim/claim"
	"github.com/sparkpacer/pacer/sim/repro"
	"github.com/sparkpacer/pacer/test/benchline"
)

// reproSeeds is how often each case of a source is run.
const reproSeeds = 10

// reproduced measures which part of each source's claims holds here.
func reproduced(t testing.TB, add adder) {
	for _, s := range repro.Sources() {
		claims, err := s.Claims(reproSeeds, t.Context().Done())
		if err != nil {
			t.Fatalf("source %s: %v", s.Name, err)
		}
		add("repro."+s.Name+".held_ratio", heldRatio(claims), "ratio")
	}
}

// heldRatio is the part of claims that holds, of n claims.
func heldRatio(claims []claim.Claim) benchline.Measured {
	ratio := float64(claim.Held(claims)) / float64(len(claims))
	return benchline.Measured{Value: ratio, N: len(claims), Spread: [2]float64{ratio, ratio}}
}
