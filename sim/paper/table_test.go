package paper

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// Every experiment runs, prints as many columns as its heading says, and draws.
func TestEveryTableRunsAndDraws(t *testing.T) {
	for name, only := range map[string]string{"table4": "pagerank +20", "exit": "svm +40", "lost": "pagerank +40", "runs": "pagerank +40", "skew": "s=1", "bytes": "s=2", "lone": "s=3", "profile": "rates_high", "beta": "pagerank beta=0.4",
		"alpha": "pagerank +20", "benchmarks": "bench1 edf-pure g=0", "strategies": "overload-speed auto g=0", "eq21": "edf-pure g=1 printed"} {
		e, err := experiment.Named(Experiments(), name)
		if err != nil {
			t.Fatal(err)
		}
		table, err := e.Run(experiment.Options{Laws: []string{controller.Default().Law}, Seeds: 1, Only: only})
		cells, _ := table.Cells.([]Cell)
		if err != nil || len(cells) != 1 {
			t.Fatalf("%s: %d cells, %v", name, len(cells), err)
		}
		c := cells[0]
		if len(c.Runs) == 0 || c.Figure == "" || strings.Contains(c.Figure, "LAW") || c.MeanCores <= 0 || c.MeanCores > cluster {
			t.Errorf("%s: %+v", name, c)
		}
		if f := table.Figures; len(f) != 1 || f[0].Name != c.Figure || math.Abs(experiment.Mean(f[0].Values)-c.Error) > 1e-9 {
			t.Errorf("%s: the figures are %+v, the cell's is %v", name, f, c.Error)
		}
		if rows := table.Rows[0]; len(rows) != 2 || len(rows[0]) != len(rows[1]) {
			t.Errorf("%s: rows %v", name, rows)
		}
		png := filepath.Join(t.TempDir(), "t.png")
		if err := table.Draw(png); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if info, err := os.Stat(png); err != nil || info.Size() < 1000 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run("nothing", experiment.Options{}); err == nil || !strings.Contains(err.Error(), "want one of table4, exit, lost, runs, skew") {
		t.Errorf("an unknown table: %v", err)
	}
	if _, err := Run("skew", experiment.Options{Laws: []string{"bang"}}); err == nil || !strings.Contains(err.Error(), `law "bang"`) {
		t.Errorf("an unknown law: %v", err)
	}
}

// A task that has most of a stage, whose CPU time is predicted within a tenth and whose
// records cost up to three times as much at one time as at another, ends the stage near its
// deadline, because what it has read is known and in which part of such a task reading
// is; without that mean |error| is above 3 %.
func TestAStageOfALoneTaskEndsNearItsDeadline(t *testing.T) {
	cells, err := Run("lone", experiment.Options{Laws: []string{controller.Default().Law}, Seeds: 24})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		mean := 0.0
		for _, r := range c.Runs {
			mean += math.Abs(r.Error) / float64(len(c.Runs))
		}
		t.Logf("%s: mean |error| %.2f %%, from %+.2f to %+.2f, %d of %d late", c.Case, mean, c.Least, c.Most, c.Late, len(c.Runs))
		if mean > 1.6 || c.Late > len(c.Runs)/3 {
			t.Errorf("%s: mean |error| %.2f %%, %d of %d late", c.Case, mean, c.Late, len(c.Runs))
		}
	}
}

// Weights that say little of the work do no harm once a run has shown it.
func TestWeightsThatMisleadAreCorrectedByTheProfile(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	cells, err := Run("bytes", experiment.Options{Laws: []string{controller.Default().Law}, Seeds: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		if math.Abs(c.Error) > 1.5 || c.Late > 0 {
			t.Errorf("%s: %+.2f %% (%+.2f to %+.2f), %d late, want at most 1.5 %% and none", c.Case, c.Error, c.Least, c.Most, c.Late)
		}
	}
}
