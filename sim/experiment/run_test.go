package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/sim/des"
)

// What cases give comes by case and seed, of those that are picked alone, and each run is counted once.
func TestRunsComeByCaseAndSeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.StringMatching("[abc]{1,3}"), func(s string) string { return s }).Draw(t, "names")
		seeds, only := rapid.IntRange(0, 4).Draw(t, "seeds"), rapid.SampledFrom([]string{"", "a", "bc"}).Draw(t, "only")
		var cases []Case[int, string]
		want, all := map[string][]string{}, 0
		for i, name := range names {
			cases = append(cases, Case[int, string]{Name: name, Of: i, Run: func(seed int) (string, error) { return fmt.Sprint(name, seed), nil }})
			for seed := range max(1, seeds) {
				if strings.Contains(name, only) {
					want[name] = append(want[name], fmt.Sprint(name, seed))
					all++
				}
			}
		}
		var told []int
		done, err := Run(Options{Seeds: seeds, Only: only, Progress: func(done, of int) {
			if told = append(told, done); of != all {
				t.Errorf("%d of %d runs, want %d", done, of, all)
			}
		}}, cases)
		got := map[string][]string{}
		for _, c := range done {
			if got[c.Name] = c.Runs; names[c.Of] != c.Name {
				t.Errorf("case %s has the cell of %s", c.Name, names[c.Of])
			}
		}
		if d := cmp.Diff(want, got); d != "" || err != nil || len(told) != all || !slices.IsSorted(told) {
			t.Errorf("%v, told %v\n%s", err, told, d)
		}
	})
}

// The first fault ends what has not begun, with the case and the seed in its error; so does a stop, before anything runs.
func TestAFaultEndsTheRest(t *testing.T) {
	var ran atomic.Int32
	broken := errors.New("broken")
	cases := []Case[struct{}, int]{{Name: "whole", Run: func(int) (int, error) { ran.Add(1); return 1, nil }},
		{Name: "torn", Run: func(int) (int, error) { return 0, broken }}}
	_, err := Run(Options{Seeds: 1000}, cases)
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "torn, seed ") || ran.Load() > 0 {
		t.Errorf("%v after %d runs", err, ran.Load())
	}
	stop := make(chan struct{})
	close(stop)
	if _, err := Run(Options{Stop: stop, Only: "whole"}, cases); !errors.Is(err, des.ErrStopped) || ran.Load() > 0 {
		t.Errorf("%v after %d runs", err, ran.Load())
	}
}

// A figure is a claim where a source has it and a band is wanted; one that is in the cells is no row.
func TestFiguresAndTheirRows(t *testing.T) {
	of := func(name, table, says string, band Band, inCells bool) Figure {
		f := NewFigure(name, "%", []float64{1, 4}, Claim{Table: table, Case: "c", Measure: "m", Theirs: 3, Says: says, Band: band})
		f.InCells = inCells
		return f
	}
	all := []Figure{of("a", "Table 1", "about 3", AtLeast(2, "r"), false), of("b", "", "", AtMost(2, "r"), false),
		of("c", "Table 1", "", Band{}, false), of("d", "Table 1", "", Within(2, 3, "r"), true)}
	if claims := Claims(all); len(claims) != 2 || claims[0].Says != "about 3" || Held(claims) != 2 {
		t.Errorf("%+v", claims)
	}
	want := [][]string{{"FIGURE", "MEAN", "FROM", "TO", "WANTED", "CASE", "MEASURE"},
		{"a", "2.5 (about 3)", "1.0", "4.0", "at least 2", "c", "m"}, {"b", "2.5", "1.0", "4.0", "at most 2", "c", "m"},
		{"c", "2.5", "1.0", "4.0", "-", "c", "m"}}
	if d := cmp.Diff(want, FigureRows(all, "%.1f", "CASE", "MEASURE")); d != "" {
		t.Error(d)
	}
	if got := Markdown([][]string{{"A", "B"}, {"1", "2"}}); got != "\n| A | B |\n|---|---|\n| 1 | 2 |\n" {
		t.Errorf("%q", got)
	}
}

// What is picked is there, or the error names what names are made of.
func TestCasesAreChosen(t *testing.T) {
	e := Experiment{Name: "e", Naming: "RULE SIZE", Cases: func(Options) ([]string, error) { return []string{"a 1", "b 1"}, nil }}
	if got, err := e.Chosen(Options{Only: "b"}); err != nil || !slices.Equal(got, []string{"b 1"}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := e.Chosen(Options{Only: "c"}); err == nil || err.Error() != `--only "c": e has no such case, want a part of one's name: RULE SIZE` {
		t.Error(err)
	}
	if _, err := Named([]Experiment{e}, "f"); err == nil || !strings.Contains(err.Error(), "want one of e") {
		t.Error(err)
	}
}
