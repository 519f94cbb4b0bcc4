package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/bus/bustest"
	"github.com/sparkpacer/pacer/internal/benchline"
)

// trusted are the cells of `make bench-trust`.
func trusted() []cell {
	return []cell{
		{"tls", 1, true, false, tlsOverhead},
	}
}

// tlsOverhead times stages from "stage ready" to the quota in force on two systems, one
// with TLS and one without, in pairs of which either goes first in
// turn.
func tlsOverhead(t testing.TB, add adder) {
	authority := bustest.NewAuthority(t)
	secured := peers{server: authority.Issue("server"), client: bus.TLS{CA: authority.CA()}}
	sides := []pacing{
		startRigAs(t, fmt.Sprintf("open-%d", os.Getpid()), 2, peers{}).begin(stages),
		startRigAs(t, fmt.Sprintf("tls-%d", os.Getpid()), 2, secured).begin(stages),
	}
	took := make([][]float64, len(sides))
	var ratios []float64
	for i := range stages {
		for k := range sides {
			side := (i + k) % len(sides)
			took[side] = append(took[side], sides[side].stage(i))
		}
		ratios = append(ratios, took[1][i]/took[0][i])
	}
	for _, side := range sides {
		side.end()
	}
	add("tls.overhead_ratio", benchline.Median(ratios), "ratio")
	add("tls.open_ms.p50", benchline.Median(took[0]), "ms")
	add("tls.secured_ms.p50", benchline.Median(took[1]), "ms")
}
