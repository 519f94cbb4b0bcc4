package main

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/internal/benchline"
)

// ran is a run of a workload; slack -1 has no deadline.
func ran(phase, baseline string, slack int, wall, deadline, work float64) benchline.Run {
	r := benchline.Run{Workload: "svm", Phase: phase, Baseline: baseline, Wall: wall, CoreSeconds: work, Archive: baseline != stockAsIs}
	if slack >= 0 {
		r.Slack, r.Deadline = &slack, &deadline
	}
	return r
}

func measuredRuns() []benchline.Run {
	return []benchline.Run{
		ran(basis, stockAsIs, -1, 60, 0, 110), ran(basis, tunedOne, -1, 50, 0, 90), ran(basis, fullOne, -1, 51, 0, 99),
		ran(basis, stockAsIs, -1, 64, 0, 114), ran(basis, tunedOne, -1, 50, 0, 90), ran(basis, fullOne, -1, 49, 0, 99),
		ran(paced, tunedOne, -1, 55, 0, 90), ran(paced, pacedOne, 20, 59.4, 60, 101), ran(paced, pacedOne, 20, 61.2, 60, 103), ran(paced, pacedOne, 40, 69.3, 70, 109),
	}
}

// campaignOf is one of these runs, whose archive took so many core-seconds.
func campaignOf(runs []benchline.Run, archive float64) benchline.Campaign {
	c := benchline.Campaign{Lines: []benchline.Line{{Name: "archive.core_seconds", Value: archive}}}
	for _, r := range runs {
		c.Lines = append(c.Lines, benchline.Line{Run: &r})
	}
	return c
}

func TestFiguresOfRuns(t *testing.T) {
	got := map[string]benchline.Measured{}
	for _, f := range figuresOf("svm", "slice", bearing(campaignOf(measuredRuns(), 80), "svm", "")) {
		name, variant, _ := strings.Cut(f.Name, "@")
		if variant != "slice" {
			t.Errorf("%s is not marked", f.Name)
		}
		for i, v := range f.Measured.Spread {
			f.Measured.Spread[i] = math.Round(v*1000) / 1000
		}
		f.Measured.Value = math.Round(f.Measured.Value*1000) / 1000
		got[name] = f.Measured
	}
	want := map[string]benchline.Measured{
		"wall_s.stock.svm": {Value: 62, N: 2, Spread: [2]float64{60, 64}}, "wall_s.tuned.svm": {Value: 50, N: 2, Spread: [2]float64{50, 50}},
		"wall_s.full.svm": {Value: 50, N: 2, Spread: [2]float64{49, 51}},
		// A run that maps the archive bears an eighth of its 80 core-seconds.
		"core_seconds.stock.svm": {Value: 112, N: 2, Spread: [2]float64{110, 114}}, "core_seconds.tuned.svm": {Value: 100, N: 2, Spread: [2]float64{100, 100}},
		"core_seconds.full.svm": {Value: 109, N: 2, Spread: [2]float64{109, 109}},
		"tuning.wall_ratio.svm": {Value: 0.806, N: 2, Spread: [2]float64{0.806, 0.806}}, "tuning.core_seconds_ratio.svm": {Value: 0.893, N: 2, Spread: [2]float64{0.893, 0.893}},
		"overhead.wall_ratio.svm": {Value: 1, N: 2, Spread: [2]float64{0.98, 1.02}}, "overhead.core_seconds_ratio.svm": {Value: 1.09, N: 2, Spread: [2]float64{1.09, 1.09}},
		"deadline.drift_pct.svm":         {Value: 10, N: 1, Spread: [2]float64{10, 10}},
		"deadline.exit_error_pct.svm.20": {Value: -0.5, N: 2, Spread: [2]float64{-2, 1}}, "deadline.late.svm.20": {Value: 1, N: 2, Spread: [2]float64{0, 1}},
		"deadline.exit_error_pct.svm.40": {Value: 1, N: 1, Spread: [2]float64{1, 1}}, "deadline.late.svm.40": {Value: 0, N: 1, Spread: [2]float64{0, 0}},
		"pacing.core_seconds_ratio.svm.20": {Value: 1.028, N: 2, Spread: [2]float64{1.018, 1.037}}, "pacing.core_seconds_ratio.svm.40": {Value: 1.092, N: 1, Spread: [2]float64{1.092, 1.092}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestWhatWasNotMeasuredIsMissing(t *testing.T) {
	if got := figuresOf("svm", "", nil); len(got) != 0 {
		t.Errorf("of no runs: %v", got)
	}
	for _, f := range figuresOf("svm", "", measuredRuns()[:1]) {
		if !strings.HasSuffix(f.Name, ".stock.svm") {
			t.Errorf("of a stock run alone: %+v", f)
		}
	}
	// A run of which the planner reports no error has no such figure, and is no 0.
	for _, f := range figuresOf("svm", "", measuredRuns()) {
		if strings.HasPrefix(f.Name, "deadline.planner_error_pct") {
			t.Errorf("%+v", f)
		}
	}
}

func TestTheDemonstrationsFiguresHaveNoWorkload(t *testing.T) {
	var got []string
	for _, f := range figuresOf(overheadOf, "", measuredRuns()[:6]) {
		got = append(got, f.Name)
	}
	if all := strings.Join(got, " "); !strings.Contains(all, "overhead.wall_ratio overhead.core_seconds_ratio") || strings.Contains(all, overheadOf) {
		t.Error(all)
	}
}

func TestOverallFiguresAreOfTheSourcesWorkloads(t *testing.T) {
	all := []workload{{name: "svm", source: true}, {name: "diamond"}}
	runs := func(w workload) []benchline.Run {
		if w.name == "diamond" {
			return []benchline.Run{ran(basis, fullOne, -1, 50, 0, 100), ran(paced, pacedOne, 20, 66, 60, 130)}
		}
		return append(measuredRuns(), ran(paced, pacedOne, 0, 99, 50, 99))
	}
	got := map[string]float64{}
	for _, f := range overall(all, "", runs) {
		got[f.Name] = math.Round(f.Measured.Value*1000) / 1000
	}
	// diamond is late by 10 %, and svm at no slack by 98 %: neither counts for the goals.
	want := map[string]float64{"deadline.exit_error_pct.mean": 1.333, "deadline.exit_error_pct.worst": -2, "deadline.late.all": 1, "pacing.core_seconds_ratio": 1.04}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if some := overall(append(all, workload{name: "kmeans", source: true}), "", func(w workload) []benchline.Run {
		if w.name == "kmeans" {
			return nil
		}
		return runs(w)
	}); len(some) != 0 {
		t.Errorf("without kmeans: %v", some)
	}
}
