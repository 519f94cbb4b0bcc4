package nextrun_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/sim/nextrun"
)

// draw draws runs of one seed.
func draw(seed int, changes ...nextrun.Change) nextrun.Runs {
	return nextrun.Draw(rand.New(rand.NewPCG(uint64(seed), 0)), 5+seed%50, changes...)
}

func TestBothRunsAreProfilesAndTheTruthIsOfTheirStages(t *testing.T) {
	for seed := range 300 {
		r := draw(seed, nextrun.DrawChanges(rand.New(rand.NewPCG(1, uint64(seed))))...)
		for _, p := range []error{r.Known.Validate(), r.Next.Validate()} {
			if p != nil {
				t.Fatalf("seed %d, %v: %v", seed, r.Changes, p)
			}
		}
		seen := map[int]bool{}
		for i, known := range r.Truth {
			if known != nextrun.New && (known < 0 || known >= len(r.Known.Stages) || seen[known]) {
				t.Fatalf("seed %d, %v: stage %d is %d", seed, r.Changes, i, known)
			}
			seen[known] = true
			if !r.Right(i, known) {
				t.Fatalf("seed %d, %v: the truth of stage %d is not right", seed, r.Changes, i)
			}
		}
	}
}

func TestWhatEachChangeDoes(t *testing.T) {
	for _, c := range append([]nextrun.Change{""}, nextrun.Changes...) {
		added, gone, otherwise, moved, resized := 0, 0, 0, 0, 0
		for seed := range 60 {
			r := draw(seed)
			if c != "" {
				r = draw(seed, c)
			}
			left, last := len(r.Known.Stages), -1
			for i, known := range r.Truth {
				if known == nextrun.New {
					added++
					continue
				}
				left--
				s, k := r.Next.Stages[i], r.Known.Stages[known]
				if s.Signature != k.Signature {
					otherwise++
				}
				if ratio := float64(s.Bytes) / float64(k.Bytes); ratio < 0.8 || ratio > 1.25 {
					resized++
				}
				if i > 0 && s.Job < r.Next.Stages[i-1].Job {
					t.Fatalf("%s, seed %d: jobs do not ascend", c, seed)
				}
				if known < last-8 {
					moved++
				}
				last = known
			}
			gone += left
		}
		for _, x := range []struct {
			what  string
			n     int
			where []nextrun.Change
		}{
			{"new", added, []nextrun.Change{nextrun.Insert, nextrun.Repeat}},
			{"gone", gone, []nextrun.Change{nextrun.Drop}},
			{"otherwise", otherwise, []nextrun.Change{nextrun.Replan, nextrun.Merge, nextrun.Split}},
			{"resized", resized, []nextrun.Change{nextrun.Resize}},
		} {
			if (x.n > 0) != slices.Contains(x.where, c) {
				t.Errorf("%q: %d stages are %s", c, x.n, x.what)
			}
		}
		if c == nextrun.Reorder && moved == 0 {
			t.Error("nothing is moved")
		}
	}
}
