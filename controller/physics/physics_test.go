package physics_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/controller/physics"
	_ "github.com/sparkpacer/pacer/test/draws"
)

// The oracle raises a level, of which each has its weight, until the cores are used up.
func TestADivisionIsMaxMin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := rapid.SliceOfN(rapid.Float64Range(0, 8), 0, 12).Draw(t, "limits")
		cores := rapid.Float64Range(-1, 40).Draw(t, "cores")
		var weights []float64
		weight := func(int) float64 { return 1 }
		if rapid.Bool().Draw(t, "weighted") {
			weights = rapid.SliceOfN(rapid.SampledFrom([]float64{0.05, 0.1, 1, 4}), len(limits), len(limits)).Draw(t, "weights")
			weight = func(i int) float64 { return weights[i] }
		}
		got := slices.Clone(limits)
		physics.Divide(got, weights, cores, nil)
		low, high := 0.0, 8/0.05
		for range 80 {
			level, sum := (low+high)/2, 0.0
			for i, limit := range limits {
				sum += min(limit, weight(i)*level)
			}
			if sum > max(0, cores) {
				high = level
			} else {
				low = level
			}
		}
		for i, limit := range limits {
			if want := min(limit, weight(i)*high); math.Abs(got[i]-want) > 1e-9*max(1, want) {
				t.Fatalf("%v cores for %v: %v, want %v of number %d", cores, limits, got, want, i)
			}
		}
	})
}

// Eq 8: after half a second p of the difference is left, whatever the steps.
func TestEq8IsTheSameInAnySteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at, c := rapid.Float64Range(0, 16).Draw(t, "at"), rapid.Float64Range(0, 16).Draw(t, "c")
		p := rapid.Float64Range(0, 0.95).Draw(t, "p")
		steps := rapid.IntRange(1, 50).Draw(t, "steps")
		want, got := p*at+(1-p)*c, at
		for range steps {
			got = physics.Follow(got, c, p, physics.LagInterval/float64(steps))
		}
		if math.Abs(got-want) > 1e-9 {
			t.Fatalf("from %v towards %v, p = %v: %v in %d steps, want %v", at, c, p, got, steps, want)
		}
	})
}

func TestABendIsWorthAllSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots, k := rapid.Float64Range(1, 64).Draw(t, "slots"), rapid.Float64Range(0, 5).Draw(t, "k")
		c := slots * rapid.Float64Range(0, 1).Draw(t, "share")
		if got := physics.Bent(slots, slots, k); math.Abs(got-slots) > 1e-9*slots {
			t.Fatalf("all %v slots are worth %v", slots, got)
		}
		if got := physics.Bent(c, slots, k); got < c*(1-1e-12) || got > c*(1+k)*(1+1e-12) {
			t.Fatalf("%v of %v cores with bend %v are worth %v", c, slots, k, got)
		}
	})
}
