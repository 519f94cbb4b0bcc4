package placement

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
)

// Xu, Eq 4.1 to 4.3 on his example of a capacity of 100: 60 run until 10 and 20 from there on.
func TestEquation43(t *testing.T) {
	hundred, raw := Rates{100, 0}, Norms{Eta: 0.3, Raw: true}
	free := Free(hundred, []Span{{From: 0, To: 10, Rate: Rates{60}}, {From: 10, To: 20, Rate: Rates{20}}}, 0, 20)
	if want := []Piece{{0, 10, Rates{40}}, {10, 20, Rates{80}}}; !slices.Equal(free, want) {
		t.Fatalf("%v is free, want %v", free, want)
	}
	at := func(border float64) []Span {
		return []Span{{From: 0, To: border, Rate: Rates{50, 50}}, {From: border, To: 20, Rate: Rates{30, 30}}}
	}
	for border, want := range map[float64]float64{10: 145, 5: 117.5} {
		if got := raw.Norm(hundred, free, at(border)); math.Abs(got-want) > 1e-9 {
			t.Errorf("border at %g: %g, want %g", border, got, want)
		}
	}
	// Disks as with the border at 10 and a network as with the border at 5 have the norm of both.
	if got := math.Hypot(145, 117.5); math.Abs(got-186.63) > 0.005 {
		t.Errorf("%g", got)
	}
	both := []Piece{{0, 5, Rates{40, 40}}, {5, 10, Rates{40, 40}}, {10, 20, Rates{80, 80}}}
	same := raw.Norm(Rates{100, 100}, both, at(10))
	if want := 145 * math.Sqrt2; math.Abs(same-want) > 1e-9 {
		t.Errorf("two devices alike: %g, want %g", same, want)
	}
	if got := DefaultNorms.Norm(Rates{100, 100}, both, at(10)); math.Abs(got-same/100) > 1e-9 {
		t.Errorf("over the capacity: %g, want %g", got, same/100)
	}
}

// A device that is not known does not count, and a node that is overloaded is worse than one that is full.
func TestUnknownAndOverloadedDevices(t *testing.T) {
	stage := []Span{{From: 0, To: 10, Rate: Rates{10, 10}}}
	if n := DefaultNorms.Norm(Rates{}, []Piece{{0, 10, Rates{-5, -5}}}, stage); n != 0 {
		t.Errorf("unknown devices count %g", n)
	}
	norm := func(free float64) float64 {
		return DefaultNorms.Norm(Rates{100, 0}, []Piece{{0, 10, Rates{free}}}, stage)
	}
	if !(norm(-20) > norm(0)) || norm(10) != 0 {
		t.Errorf("overloaded %g, full %g, as wanted %g", norm(-20), norm(0), norm(10))
	}
}

func drawSpans(t *rapid.T, label string) (spans []Span) {
	for range rapid.IntRange(1, 5).Draw(t, label) {
		from := rapid.Float64Range(0, 50).Draw(t, label+" from")
		rate := Rates{rapid.Float64Range(0, 99).Draw(t, label+" disk"), rapid.Float64Range(0, 99).Draw(t, label+" network")}
		spans = append(spans, Span{From: from, To: from + rapid.Float64Range(0, 50).Draw(t, label+" time"), Rate: rate})
	}
	return spans
}

// The norm does not depend on the order of pieces and neighbours, is 0 where the demand is what is free, and the part that
// is wanted twice never falls when a neighbour takes more.
func TestPropertiesOfTheNorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity, running, stages := Rates{100, 80}, drawSpans(t, "running"), drawSpans(t, "stage")
		free := Free(capacity, running, 0, 100)
		want := DefaultNorms.Norm(capacity, free, stages)
		slices.Reverse(running)
		other := Free(capacity, running, 0, 100)
		slices.Reverse(other)
		if got := DefaultNorms.Norm(capacity, other, stages); math.Abs(got-want) > 1e-9*max(1, want) {
			t.Fatalf("in another order %g, not %g", got, want)
		}
		if free[0].From != 0 || free[len(free)-1].To != 100 {
			t.Fatalf("pieces %v do not cover the time", free)
		}
		exact := []Span{}
		for _, p := range free {
			exact = append(exact, Span{From: p.From, To: p.To, Rate: p.Free})
		}
		if got := DefaultNorms.Norm(capacity, free, exact); got > 1e-9 {
			t.Fatalf("%g where all is taken", got)
		}
		twice := Norms{Eta: 0}
		before := twice.Norm(capacity, free, stages)
		running[0].Rate[rapid.IntRange(0, 1).Draw(t, "device")] += rapid.Float64Range(0, 50).Draw(t, "more")
		if after := twice.Norm(capacity, Free(capacity, running, 0, 100), stages); after < before-1e-9 {
			t.Fatalf("%g after a neighbour took more, %g before", after, before)
		}
	})
}
