package main

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Two are promised half of four cores and one core, for 10 s and 20 s.
func TestSoonestBesidePromises(t *testing.T) {
	promised := []job{{takes: 20, due: 20}, {takes: 20, due: 10}}
	for _, c := range []struct{ work, atLeast, steps, turns float64 }{
		{5, 1, 5, 1.25},         // One core is free for 10 s; all four, if the others wait.
		{5, 7, 7, 7},            // It has not the parallelism.
		{22, 1, 14, 10.5},       // 10 of it within 10 s; who is due then cannot wait so long.
		{70, 1, 27.5, 27.5},     // After both.
		{20, 1, 10 + 10.0/3, 5}, // They wait for 5 s.
	} {
		if got := besideSteps(slices.Clone(promised), job{takes: c.work}, 4, c.atLeast); math.Abs(got-c.steps) > 1e-9 {
			t.Errorf("%v core-seconds beside steps: %v s, want %v", c.work, got, c.steps)
		}
		if got := inTurns(slices.Clone(promised), job{takes: c.work}, 4, c.atLeast); math.Abs(got-c.turns) > 1e-9 {
			t.Errorf("%v core-seconds in turns: %v s, want %v", c.work, got, c.turns)
		}
	}
}

// The oracle of one walks through time, that of the other tries ends until all are in time,
// each when those that are due before it are done. Beside steps nobody ends sooner.
func TestSoonestIsWhatTryingFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cores, step = 4, 0.01
		tenths := func(name string, least, most int) float64 {
			return float64(rapid.IntRange(least, most).Draw(t, name)) / 10
		}
		var promised []job
		for range rapid.IntRange(0, 4).Draw(t, "promised") {
			due := tenths("due", 10, 200)
			promised = append(promised, job{takes: due * tenths("cores", 0, 10), due: due})
		}
		comes, atLeast := job{takes: tenths("work", 1, 400)}, tenths("at least", 1, 50)

		walked, done := 0.0, 0.0
		for ; done < comes.takes; walked += step {
			free := float64(cores)
			for _, p := range promised {
				if walked < p.due-step/2 {
					free -= p.takes / p.due
				}
			}
			done += max(0, free) * step
		}
		steps := besideSteps(slices.Clone(promised), comes, cores, atLeast)
		if want := max(atLeast, walked); math.Abs(steps-want) > 3*step {
			t.Fatalf("beside steps %v s, want %v", steps, want)
		}

		tried := atLeast
		for ; !allInTime(append(slices.Clone(promised), job{takes: comes.takes, due: tried}), cores); tried += step {
		}
		turns := inTurns(slices.Clone(promised), comes, cores, atLeast)
		if math.Abs(turns-tried) > 2*step || turns > steps+1e-9 {
			t.Fatalf("in turns %v s, want %v; beside steps %v", turns, tried, steps)
		}
	})
}

// allInTime reports whether jobs that are all there end in time one after the other.
func allInTime(jobs []job, cores float64) bool {
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(a.due, b.due) })
	done := 0.0
	for _, j := range jobs {
		if done += j.takes; done/cores > j.due+1e-9 {
			return false
		}
	}
	return true
}
