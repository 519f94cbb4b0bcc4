package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEveryRoundHasOneRunOfEachAndTheBasisComesFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.IntRange(1, 5).Draw(t, "runs")
		slacks := rapid.SliceOfNDistinct(rapid.IntRange(0, 100), 0, 4, rapid.ID).Draw(t, "slacks")
		seed := rapid.Uint64().Draw(t, "seed")
		all := steps(workload{name: "svm"}, runs, slacks, seed)
		if d := cmp.Diff(names(all), names(steps(workload{name: "svm"}, runs, slacks, seed))); d != "" {
			t.Fatalf("the order differs for one seed: %s", d)
		}
		seen := map[string]bool{}
		for i, s := range all {
			if seen[s.String()] {
				t.Fatalf("%s twice", s.String())
			}
			seen[s.String()] = true
			if wantPhase := i < 3*runs; (s.phase == basis) != wantPhase {
				t.Fatalf("run %d is of phase %s", i, s.phase)
			}
			size, first := 3, 0
			if s.phase == paced {
				size, first = len(slacks)+1, 3*runs
			}
			if s.round != (i-first)/size+1 {
				t.Fatalf("run %d is of round %d", i, s.round)
			}
		}
		want := 3 * runs
		if len(slacks) > 0 {
			want += runs * (len(slacks) + 1)
		}
		if len(all) != want {
			t.Fatalf("%d runs, want %d", len(all), want)
		}
	})
}

func names(steps []step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.String())
	}
	return out
}

func TestTheOrderIsDrawn(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(30) {
		first := steps(workload{name: "svm"}, 1, nil, seed)
		orders[first[0].baseline+first[1].baseline+first[2].baseline] = true
	}
	if len(orders) != 6 {
		t.Errorf("%d of the 6 orders of three baselines in 30 seeds", len(orders))
	}
}

func TestMoreSlacksOrRunsLeaveTheBasisAsItWas(t *testing.T) {
	few, many := steps(workload{name: "svm"}, 2, []int{20}, 7), steps(workload{name: "svm"}, 4, []int{0, 20, 40}, 7)
	if d := cmp.Diff(names(few)[:6], names(many)[:6]); d != "" {
		t.Error(d)
	}
}

func TestTheTimeLeftIsThatOfTheSize(t *testing.T) {
	w := workload{name: "svm", app: "svm", seconds: 65}
	todo := []step{{w, paced, 1, tunedOne, 0}, {w, paced, 1, pacedOne, 50}}
	if got := (trialOptions{}).minutes(todo); got != (65+5+97.5+5)/60 {
		t.Errorf("%v min", got)
	}
	if got := (trialOptions{slice: true}).minutes(todo); got >= 1 {
		t.Errorf("of the slice %v min", got)
	}
}
