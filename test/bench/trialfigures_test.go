package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/test/benchline"
)

// ran is a run of a workload; slack -1 has no deadline.
func ran(phase, baseline string, slack int, wall, deadline, work float64) outcome {
	return outcome{workload: "svm", phase: phase, way: baseline, slack: slack, wall: wall, deadline: deadline, coreSeconds: work}
}

func measuredRuns() []outcome {
	return []outcome{
		ran(basis, stockAsIs, -1, 60, 0, 112), ran(basis, tunedOne, -1, 50, 0, 100), ran(basis, fullOne, -1, 51, 0, 109),
		ran(basis, stockAsIs, -1, 64, 0, 112), ran(basis, tunedOne, -1, 50, 0, 100), ran(basis, fullOne, -1, 49, 0, 109),
		ran(paced, tunedOne, -1, 55, 0, 100), ran(paced, pacedOne, 20, 59.4, 60, 111), ran(paced, pacedOne, 20, 61.2, 60, 113),
		ran(paced, pacedOne, 40, 69.3, 70, 119),
	}
}

func TestFiguresOfRuns(t *testing.T) {
	got := map[string]benchline.Measured{}
	for _, f := range figuresOf("svm", "slice", measuredRuns()) {
		name, variant, _ := strings.Cut(f.Name, "@")
		if variant != "slice" {
			t.Errorf("%s is not marked", f.Name)
		}
		for i, v := range f.Measured.Spread {
			f.Measured.Spread[i] = math.Round(v*1000) / 1000
		}
		f.Measured.Each = nil
		f.Measured.Value = math.Round(f.Measured.Value*1000) / 1000
		got[name] = f.Measured
	}
	want := map[string]benchline.Measured{
		"wall_s.stock.svm": {Value: 62, N: 2, Spread: [2]float64{60, 64}}, "wall_s.tuned.svm": {Value: 50, N: 2, Spread: [2]float64{50, 50}},
		"wall_s.full.svm":        {Value: 50, N: 2, Spread: [2]float64{49, 51}},
		"core_seconds.stock.svm": {Value: 112, N: 2, Spread: [2]float64{112, 112}}, "core_seconds.tuned.svm": {Value: 100, N: 2, Spread: [2]float64{100, 100}},
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
	here := benchline.Origin{Sources: "aaaa", Spark: "4.3.0", Java: "17", Kernel: "6.1", Cores: 2}
	var lines []benchline.Line
	for _, w := range workloads() {
		if !w.source && w.name != "diamond" {
			continue
		}
		runs := append(measuredRuns(), ran(paced, pacedOne, 0, 99, 50, 99))
		if w.name == "diamond" { // It is late by 10 %, and the others at no slack by 98 %: neither counts for the goals.
			runs = []outcome{ran(basis, fullOne, -1, 50, 0, 100), ran(paced, pacedOne, 20, 66, 60, 130)}
		}
		for _, f := range figuresOf(w.name, "slice", runs) {
			lines = append(lines, benchline.Line{Name: f.Name, Measured: f.Measured, Origin: here})
		}
	}
	got := map[string]float64{}
	figures, machines := overall(lines, "slice", here)
	for _, f := range figures {
		got[f.Name] = math.Round(f.Measured.Value*1000) / 1000
	}
	want := map[string]float64{"deadline.exit_error_pct.mean@slice": 1.333, "deadline.exit_error_pct.worst@slice": -2,
		"deadline.late.all@slice": 8, "pacing.core_seconds_ratio@slice": 1.037}
	if d := cmp.Diff(want, got); d != "" || machines != 1 {
		t.Errorf("%d machines: %s", machines, d)
	}
	for name, wrong := range map[string]func(l *benchline.Line){
		"of other sources": func(l *benchline.Line) { l.Sources = "bbbb" },
		"of two machines":  func(l *benchline.Line) { l.Kernel = "6.0" },
		"without values":   func(l *benchline.Line) { l.Each = nil },
	} {
		some := slices.Clone(lines)
		for i := range some {
			if strings.Contains(some[i].Name, ".kmeans.") {
				wrong(&some[i])
			}
		}
		if figures, machines := overall(some, "slice", here); machines != 2 && len(figures) != 0 {
			t.Errorf("kmeans %s: %v, %d machines", name, figures, machines)
		}
	}
	if figures, _ := overall(lines, "", here); len(figures) != 0 {
		t.Errorf("of another variant: %v", figures)
	}
}
