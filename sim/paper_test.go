package sim

import (
	"math"
	"testing"
)

// Eq 8: after q the effective cores have come 1-p of the way, whatever the steps.
func TestEq8TheRateFollowsWithTheLag(t *testing.T) {
	p := Plant{Lag: 0.3}
	if got, want := p.follow(2, 6, 0.5), 0.3*2+0.7*6; math.Abs(got-want) > 1e-12 {
		t.Errorf("after one interval %v, want %v", got, want)
	}
	at := 2.0
	for range 50 {
		at = p.follow(at, 6, 0.01)
	}
	if want := p.follow(2, 6, 0.5); math.Abs(at-want) > 1e-9 {
		t.Errorf("in fifty steps %v, in one %v", at, want)
	}
}

func TestZipfWeightsAreThoseOfTheLaw(t *testing.T) {
	for _, s := range []float64{1, 2, 3} {
		w := zipf(1000, s)
		sum, h := 0.0, 0.0
		for _, x := range w {
			sum += x
		}
		for k := 1; k <= 2000; k++ {
			h += math.Pow(float64(k), -s)
		}
		if math.Abs(sum-1000) > 1e-6 || math.Abs(w[1]-1000*(1+math.Pow(1001, -s))/h) > 1e-6 {
			t.Errorf("s = %v: sum %v, largest %v", s, sum, w[1])
		}
	}
}
