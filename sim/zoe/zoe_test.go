package zoe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sparkpacer/pacer/sim/experiment"
)

// TestATrace: of 100 applications a fifth each is rigid, interactive and due; they come in order, by the seed alone.
func TestATrace(t *testing.T) {
	all := trace(1)
	n := [kinds]int{}
	for i, a := range all {
		n[a.kind]++
		nodes := a.app.Nodes
		switch {
		case i > 0 && a.at < all[i-1].at:
			t.Errorf("application %d comes at %v, before the one before it", i, a.at)
		case (a.kind == rigid) != (nodes.Least == nodes.Most):
			t.Errorf("%s has %+v nodes", a.app.Name, nodes)
		case (a.kind == due) != (a.factor >= 1.5 && a.factor <= 4):
			t.Errorf("%s of kind %d is due at %v times alone", a.app.Name, a.kind, a.factor)
		}
	}
	if want := [kinds]int{rigid: 20, interactive: 20, due: 20, elastic: 40}; n != want {
		t.Errorf("%v of each kind, want %v", n, want)
	}
	if mean := all[count-1].at / (count - 1); mean < 50 || mean > 75 {
		t.Errorf("one comes every %v in the mean", mean)
	}
	if d := cmp.Diff(all, trace(1), cmp.AllowUnexported(comes{})); d != "" {
		t.Error(d)
	}
	if cmp.Equal(all, trace(2), cmp.AllowUnexported(comes{})) {
		t.Error("another seed gives the same")
	}
}

// TestFiguresAreOverTheSameSeed: each value is of one seed, ours the mean; a wait below a second counts as one.
func TestFiguresAreOverTheSameSeed(t *testing.T) {
	c := []Case{{Elastic: []float64{100, 200}, Rigid: []float64{10, 10}}, {Elastic: []float64{50, 180}, Rigid: []float64{5, 20}},
		{Waits: []float64{20, 0.1}, Met: []float64{10, 20}, Batch: []float64{1, 2}}, {Waits: []float64{0, 0}, Met: []float64{12, 19}, Batch: []float64{2, 2}}}
	want := map[string][]float64{"elastic_ratio": {0.5, 0.9}, "rigid_ratio": {0.5, 2}, "interactive_ratio": {0.05, 1}, "met_gain": {2, -1},
		"batch_ratio": {2, 1}}
	for _, f := range figures(c) {
		values := want[f.Name[len("queue.sim."):]]
		if !slices.Equal(f.Values, values) || f.Ours != experiment.Mean(values) || f.Seeds != 2 {
			t.Errorf("%s: %v, mean %v, of %d seeds, want %v", f.Name, f.Values, f.Ours, f.Seeds, values)
		}
	}
}

// TestATraceUnderEachWay: a rule that takes back lets somebody who sits before it wait less, and keeps as many deadlines.
func TestATraceUnderEachWay(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	table, err := Run(experiment.Options{Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range table.Figures {
		if !f.Holds && f.Name != "queue.sim.rigid_ratio" { // Of 20 applications of one trace.
			t.Errorf("%s is %.2f, want %v", f.Name, f.Ours, f.Band)
		}
	}
	if rows, figures := table.Rows[0], table.Rows[1]; len(rows) != 5 || len(figures) != 6 || !strings.HasSuffix(figures[1][1], " (0.63)") {
		t.Errorf("%v\n%v", rows, figures)
	}
	listed, err := Run(experiment.Options{Seeds: 1, Listed: true})
	told := cmpopts.IgnoreFields(experiment.Claim{}, "Ours", "Seeds", "Least", "Most", "Holds", "Why")
	if d := cmp.Diff(experiment.Claims(table.Figures), experiment.Claims(listed.Figures), told); err != nil || d != "" {
		t.Errorf("tried and listed: %v %s", err, d)
	}
	file := filepath.Join(t.TempDir(), "zoe.svg")
	if err := table.Draw(file); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		t.Error(err)
	}
}
