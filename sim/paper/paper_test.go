package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/controller/physics"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// bands4 is how far from the source's error of Table 4 a mean over seeds may be, in
// points, at 0, +20 and +40 %. They are as wide as this plant needs.
func bands4() map[string][3]float64 {
	return map[string][3]float64{
		"aggr-by-key":     {2, 0.7, 0.2},
		"aggr-by-key-int": {1, 0.6, 0.6},
		"group-by":        {3.1, 0.3, 0.3},
		"sort-by-key":     {3.2, 1.1, 0.3},
		"sort-by-key-int": {2.2, 0.3, 0.2},
		"kmeans":          {0.8, 0.5, 0.3},
		"pagerank":        {0.8, 0.3, 0.3},
		"svm":             {1, 2.1, 1.8},
	}
}

// unlike4 says in what a Table 4 has not the source's shape: the sign and the band of
// each row, the order of rows where both have it, the mean cores.
func unlike4(cells []Cell) []string {
	var out []string
	errs := map[string][3]float64{}
	for i, c := range cells {
		name, _, _ := strings.Cut(c.Case, " ")
		slack := i % 3
		row := errs[name]
		row[slack] = c.Error
		errs[name] = row
		if band := bands4()[name][slack]; math.Signbit(c.Error) != math.Signbit(*c.Paper) || math.Abs(c.Error-*c.Paper) > band {
			out = append(out, fmt.Sprintf("%s: error %+.2f %%, the paper's is %+.2f %%, band %.1f", c.Case, c.Error, *c.Paper, band))
		}
		if band := [3]float64{0.10, 0.08, 0.16}[slack]; math.Abs(c.MeanCores-*c.PaperCores) > band**c.PaperCores {
			out = append(out, fmt.Sprintf("%s: %.1f cores, the paper's are %.1f", c.Case, c.MeanCores, *c.PaperCores))
		}
	}
	earlier := func(slack int, names ...string) {
		for i := range names[1:] {
			if a, b := errs[names[i]][slack], errs[names[i+1]][slack]; a <= b {
				out = append(out, fmt.Sprintf("column %d: %s %+.2f %%, %s %+.2f %%, in the paper the first is earlier", slack, names[i], a, names[i+1], b))
			}
		}
	}
	for _, slow := range []string{"group-by", "aggr-by-key-int", "sort-by-key-int"} {
		earlier(0, "svm", "kmeans", "pagerank", slow)
	}
	for _, name := range slices.Sorted(maps.Keys(errs)) {
		if name != "svm" {
			earlier(1, "svm", name)
			earlier(2, "svm", name)
		}
		if errs[name][0] >= errs[name][1] {
			out = append(out, fmt.Sprintf("%s: %+.2f %% at 0 %%, %+.2f %% at +20 %%", name, errs[name][0], errs[name][1]))
		}
	}
	return out
}

// Table 4 under the paper's law: at the baseline's time seven of eight are late by as
// much as in the paper and SVM is early; with slack all end early, SVM most of all, on
// about as many cores as the paper's.
func TestTable4UnderThePapersLawHasThePapersShape(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	cells, err := Run("table4", experiment.Options{Laws: []string{controller.LawPI}, Seeds: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range unlike4(cells) {
		t.Error(fault)
	}
	// Nor does one error for all have that shape, whichever it is.
	for _, flat := range []float64{-2, -0.5, 0.05, 0.5, 1} {
		cells := slices.Clone(cells)
		for i := range cells {
			cells[i].Error = flat
		}
		if got := unlike4(cells); len(got) < 8 {
			t.Errorf("a simulator that says %+.2f %% everywhere is refused for %q only", flat, got)
		}
	}
}

// Table 5 under the paper's law: s = 1 is in time, s = 2 and 3 are late by as much as
// in the paper, within a factor, and the more the skew the later.
func TestTable5UnderThePapersLawHasThePapersShape(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	cells, err := Run("skew", experiment.Options{Laws: []string{controller.LawPI}, Seeds: 5})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cells {
		if math.Signbit(c.Error) != math.Signbit(*c.Paper) || (i > 0 && (c.Error > *c.Paper/3 || c.Error < 2.5**c.Paper)) {
			t.Errorf("%s: error %+.2f %%, the paper's is %+.2f %%", c.Case, c.Error, *c.Paper)
		}
		if i > 0 && c.Error >= cells[i-1].Error {
			t.Errorf("%s: %+.2f %%, no later than with less skew, %+.2f %%", c.Case, c.Error, cells[i-1].Error)
		}
	}
}

// Tables 6 and 9 under the paper's law: EDF_all with gamma 1 ends everything of
// Benchmark 1 far too early, EDF_pure with gamma 0 just in time; in the overload of
// Benchmark 3 all err by as much as in the paper, within a factor, and EDF_all errs most
// and has the fewest late.
func TestTables6And9UnderThePapersLawHaveThePapersShape(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	run := func(only string) Cell {
		cells, err := Run("benchmarks", experiment.Options{Laws: []string{controller.LawPI}, Seeds: 1, Only: only})
		if err != nil || len(cells) != 1 {
			t.Fatalf("%s: %d cells, %v", only, len(cells), err)
		}
		return cells[0]
	}
	all, pure := run("bench1 edf-all g=1"), run("bench1 edf-pure g=0")
	if math.Abs(all.Error-*all.Paper) > 8 || pure.Error < 0.5 || pure.Error > *pure.Paper || all.Late+pure.Late > 0 {
		t.Errorf("benchmark 1: %.1f %% and %.1f %%, the paper's are %.1f and %.1f; %d late", all.Error, pure.Error, *all.Paper, *pure.Paper, all.Late+pure.Late)
	}
	first := run("bench3 edf-all g=0")
	for _, name := range supervisor.Strategies() {
		c := run("bench3 " + name + " g=0")
		if c.Paper == nil {
			continue // A strategy that the paper does not have.
		}
		if c.Error < 0.35**c.Paper || c.Error > 1.75**c.Paper {
			t.Errorf("benchmark 3: %s errs by %.1f %%, the paper's by %.1f", name, c.Error, *c.Paper)
		}
		if name != supervisor.EDFAll && (c.Error >= first.Error || c.Late <= first.Late) {
			t.Errorf("benchmark 3: %s errs by %.1f %%, %d late; EDF_all by %.1f %%, %d late", name, c.Error, c.Late, first.Error, first.Late)
		}
	}
}

// Under Pacer's default law and configuration what has slack is in time, and no
// earlier than its aim and a little.
func TestTable4UnderTheDefaultLawIsInTime(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	for _, slack := range []string{" +20%", " +40%"} {
		cells, err := Run("table4", experiment.Options{Laws: []string{controller.Default().Law}, Seeds: 2, Only: slack})
		if err != nil || len(cells) != 8 {
			t.Fatalf("%d cells, %v", len(cells), err)
		}
		for _, c := range cells {
			if c.Least < 0.3 || c.Most > 1.3 {
				t.Errorf("%s: errors %+.2f to %+.2f %%, want 0.3 to 1.3", c.Case, c.Least, c.Most)
			}
		}
	}
}

// Many stages that are too short to be steered one by one end in time all the same, and early by little.
func TestShortStagesEndTogetherInTime(t *testing.T) {
	cells, err := Run("short", experiment.Options{Laws: []string{controller.Default().Law}, Seeds: 2})
	if err != nil || len(cells) != 2*shortReports {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	sum := 0.0
	for _, c := range cells {
		sum += c.Error
		if c.Least < 0 || c.Most > 4 {
			t.Errorf("%s: errors %+.2f to %+.2f %%, want 0 to 4", c.Case, c.Least, c.Most)
		}
	}
	if mean := sum / float64(len(cells)); mean > 2 {
		t.Errorf("%+.2f %% in the mean, want at most 2", mean)
	}
}

// The bend leaves the full rate as it is and gives the mean cores of Table 4 that
// it was fitted to.
func TestTheBendIsFittedToTheMeanCores(t *testing.T) {
	for _, w := range Workloads() {
		if got := physics.Bent(16, 16, w.Bend); math.Abs(got-16) > 1e-9 {
			t.Errorf("%s: all cores are worth %v", w.Name, got)
		}
		u := *paperTable4()[w.Name][1].cores / cluster
		if got := physics.Bent(16*u, 16, w.Bend) / 16; math.Abs(got-1/1.2) > 0.01 {
			t.Errorf("%s: %.3f of the cores do %.3f of the rate, want %.3f", w.Name, u, got, 1/1.2)
		}
	}
}

// What the source says of its workloads is what they are.
func TestWorkloadsAreTheSources(t *testing.T) {
	names := []string{}
	for _, w := range Workloads() {
		names = append(names, w.Name)
		if err := w.Validate(); err != nil {
			t.Error(err)
		}
		full := units.Work(0)
		for _, s := range w.Stages {
			full += s.Work
		}
		if _, ok := paperTable4()[w.Name]; !ok || full < 40*cluster || full > 140*cluster {
			t.Errorf("%s: %.0f core-seconds", w.Name, float64(full))
		}
	}
	if len(names) != 8 || strings.Join(names, " ") != "aggr-by-key aggr-by-key-int group-by sort-by-key sort-by-key-int kmeans pagerank svm" {
		t.Error(names)
	}
	if p, _ := FindWorkload("pagerank"); len(p.Stages) != 9 {
		t.Errorf("PageRank has %d stages, nine in Fig 8", len(p.Stages))
	}
}
