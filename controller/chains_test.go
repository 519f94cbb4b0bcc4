package controller

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

func TestChainsByHand(t *testing.T) {
	for _, tc := range []struct {
		what    string
		running []float64
		waiting Waiting
		slots   int
		want    []float64
	}{
		{"nothing is left", nil, Waiting{}, 4, nil},
		{"nothing waits", []float64{0.2, 0.7}, Waiting{}, 4, []float64{0.7, 0.2}},
		{"slots are free", []float64{0.5}, Waiting{Tasks: 2, Weight: 2}, 4, []float64{1, 1, 0.5}},
		{"one waits", []float64{0.2, 0.7}, Waiting{Tasks: 1, Weight: 1}, 2, []float64{1.2, 0.7}},
		// 7 are poured over 0.2 and 0.7 before the last four go one by one.
		{"many wait", []float64{0.2, 0.7}, Waiting{Tasks: 12, Weight: 12}, 2, []float64{6.95, 5.95}},
		{"a large one may wait", []float64{0.5, 0.5}, Waiting{Tasks: 3, Weight: 12, Lightest: 1, Heaviest: 20}, 2, []float64{11.5, 1.5}},
		{"no heavier than known", []float64{0.5, 0.5}, Waiting{Tasks: 3, Weight: 12, Lightest: 1, Heaviest: 8}, 2, []float64{10.5, 2.5}},
	} {
		got := Chains(nil, tc.running, tc.waiting, tc.slots)
		if !cmp.Equal(got, tc.want, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })) {
			t.Errorf("%s: %v, want %v", tc.what, got, tc.want)
		}
	}
}

// Whatever is known, nothing of it is lost, and the chains are in order.
func TestChainsKeepTheSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		running := rapid.SliceOfN(rapid.Float64Range(0, 10), 0, 8).Draw(t, "running")
		w := Waiting{Tasks: rapid.IntRange(0, 60).Draw(t, "tasks"), Lightest: rapid.Float64Range(0, 2).Draw(t, "lightest"),
			Heaviest: rapid.Float64Range(0, 50).Draw(t, "heaviest")}
		w.Weight = float64(w.Tasks) * rapid.Float64Range(0.01, 3).Draw(t, "mean")
		slots := len(running) + rapid.IntRange(0, 4).Draw(t, "free")
		before := slices.Clone(running)
		chains := Chains(make([]float64, 0, 12), running, w, slots)
		sum, want := 0.0, w.Weight
		for i, c := range chains {
			if !(c >= 0) || i > 0 && c > chains[i-1] {
				t.Fatalf("chains %v", chains)
			}
			sum += c
		}
		for _, r := range running {
			want += r
		}
		if slots > 0 && math.Abs(sum-want) > 1e-9*(1+want) || !slices.Equal(before, running) {
			t.Fatalf("chains %v add up to %v, want %v", chains, sum, want)
		}
		if len(chains) > slots {
			t.Fatalf("%d chains on %d slots", len(chains), slots)
		}
	})
}

// ends is when chains end on c cores, by small steps: tasks share the cores
// equally, a task has one core at most.
func ends(chains []float64, c float64) float64 {
	left := slices.Clone(chains)
	for now := 0.0; ; {
		running, shortest := 0, math.Inf(1)
		for _, l := range left {
			if l > 1e-12 {
				running++
				shortest = min(shortest, l)
			}
		}
		if running == 0 {
			return now
		}
		each := min(1, c/float64(running))
		now += shortest / each
		for i := range left {
			left[i] -= shortest
		}
	}
}

// What coresFor asks for ends the longest chain in the span, by an independent
// simulation of the slots.
func TestCoresForEndsTheChainsInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chains := rapid.SliceOfN(rapid.Float64Range(0.01, 10), 1, 8).Draw(t, "chains")
		slices.Sort(chains)
		slices.Reverse(chains)
		work := 0.0
		for _, c := range chains {
			work += c
		}
		span := chains[0] * rapid.Float64Range(1.02, 30).Draw(t, "span")
		c := coresFor(chains, work, span)
		if !(c > 0 && c <= float64(len(chains))) {
			t.Fatalf("%v cores", c)
		}
		// What is kept in hand of the span is asked for too.
		if got := ends(chains, c); math.Abs(got-params.Law.Handed*span) > 1e-6*span {
			t.Fatalf("%v cores end at %v, want %v", c, got, params.Law.Handed*span)
		}
		if more := coresFor(chains, work, 0.9*span); more < c-1e-9 {
			t.Fatalf("less time asks for %v, more for %v", more, c)
		}
	})
}

func TestCoresForAChainThatTakesAllTheTime(t *testing.T) {
	if got := coresFor([]float64{10, 1, 1}, 12, 10); got != 3 {
		t.Errorf("%v cores, want all three slots", got)
	}
	if got := coresFor([]float64{10, 1, 1}, -1, 20); got != 0 {
		t.Errorf("%v cores for less than no work", got)
	}
}

func TestMovementIsDiscountedByItsTrend(t *testing.T) {
	for _, tc := range []struct {
		what                    string
		values                  []units.Cores
		total, discounted, mean units.Cores
		changes                 int
	}{
		{"nothing", nil, 0, 0, 0, 0},
		{"constant", []units.Cores{2, 2, 2}, 0, 0, 2, 0},
		{"rising", []units.Cores{1, 2, 3}, 2, 0, 2, 2},
		{"falling", []units.Cores{3, 2, 1}, 2, 0, 2, 2},
		{"there and back", []units.Cores{1, 3, 1, 3}, 6, 4, 2, 3},
		{"no quota", []units.Cores{units.Unlimited, 1, units.Unlimited, 2, 3}, 2, 0, 1.75, 2},
	} {
		var m Movement
		for _, v := range tc.values {
			m.Add(v)
		}
		if m.Up+m.Down != tc.total || m.Discounted() != tc.discounted || m.Mean() != tc.mean || m.Changes != tc.changes {
			t.Errorf("%s: total %v, discounted %v, mean %v, %d changes", tc.what, m.Up+m.Down, m.Discounted(), m.Mean(), m.Changes)
		}
		if tc.mean > 0 && m.Score() != float64(tc.discounted/tc.mean) {
			t.Errorf("%s: score %v", tc.what, m.Score())
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var m, scaled Movement
		first, last := 0.0, 0.0
		for i, v := range rapid.SliceOfN(rapid.Float64Range(0.1, 8), 1, 50).Draw(t, "values") {
			if i == 0 {
				first = v
			}
			last = v
			m.Add(units.Cores(v))
			scaled.Add(units.Cores(3 * v))
		}
		if want := float64(m.Up+m.Down) - math.Abs(last-first); math.Abs(float64(m.Discounted())-want) > 1e-9 {
			t.Fatalf("discounted %v, want %v", m.Discounted(), want)
		}
		if math.Abs(m.Score()-scaled.Score()) > 1e-9 {
			t.Fatalf("score %v, of three times as much %v", m.Score(), scaled.Score())
		}
	})
}

// A request over the share that is obtained settles where what is needed is
// obtained, without oscillation, if what is obtained grows with the grant, less
// than in proportion.
func TestUtilizationSettlesWithoutOscillation(t *testing.T) {
	var o Utilization
	needed, granted, before := 1.0, 1.0, 0.0
	for k := range 120 {
		got := 1.2 * granted / (1 + 0.5*granted) // 0.8 of 1 core, 1.2 of 2
		v := &view{Input: Input{Runnable: 4, Used: units.Cores(got)}, dt: 0.5, interval: 0.5}
		o.update(granted, v)
		granted = needed / o.share()
		if granted < before-1e-9 {
			t.Fatalf("step %d: the request falls from %v to %v", k, before, granted)
		}
		before = granted
	}
	near(t, "obtained", 1.2*granted/(1+0.5*granted), needed*params.Used.Enough, 0.01)
	if share := (&Utilization{Got: 0.1, Had: 1}).share(); share != params.Used.Least {
		t.Errorf("share %v, want no less than %v", share, params.Used.Least)
	}
	if share := (&Utilization{}).share(); share != 1 {
		t.Errorf("share %v of nothing known, want 1", share)
	}
}
