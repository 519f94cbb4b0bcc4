package paper

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/mesh/hosts"
)

// short has cells take a moment.
func short(c *hosts.Config) {
	c.Machines, c.Learning, c.Averaging, c.Rounds = 20, 30, 20, min(c.Rounds, 30)
}

// The nine cells by each policy, with a figure for each that the bench keeps, and again the same.
func TestGLAP(t *testing.T) {
	o := experiment.Options{Seeds: 2}
	table, err := glap(short).Run(o)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := glap(short).Run(o); err != nil || !reflect.DeepEqual(table.Cells, again.Cells) || !reflect.DeepEqual(table.Rows, again.Rows) {
		t.Errorf("the same options give another table: %v", err)
	}
	rows := table.Rows[0]
	if len(rows) != 1+9*4 || rows[1][0] != "500-2" || rows[36][0] != "2000-4" || rows[36][1] != "grmp" ||
		!strings.Contains(rows[36][4], "(75 %)") || !strings.Contains(rows[36][7], "(1.2)") || !strings.Contains(rows[33][7], "(0.001)") {
		t.Errorf("%d rows: %v", len(rows), rows)
	}
	var names []string
	for _, f := range table.Figures {
		names = append(names, f.Name)
		if len(f.Values) != 2 {
			t.Errorf("%s has %d values", f.Name, len(f.Values))
		}
	}
	want := "hosts.overloaded_gain_pct.ecocloud hosts.overloaded_gain_pct.pabfd hosts.overloaded_gain_pct.grmp hosts.migrations_gain_pct.ecocloud " +
		"hosts.migrations_gain_pct.pabfd hosts.migrations_gain_pct.grmp hosts.slav_order_cells hosts.similarity_pct"
	if got := strings.Join(names, " "); got != want || len(table.Rows[1]) != 1+len(names) {
		t.Errorf("figures %s", got)
	}
	if err := table.Draw(filepath.Join(t.TempDir(), "glap.svg")); err != nil {
		t.Error(err)
	}
}

// Each world has each policy, with the same VMs; bursts that are drawn are within their bounds and differ; a move that
// takes a round costs the more and moves as many.
func TestGLAPUnderOtherDemands(t *testing.T) {
	table, err := glapDemands(short).Run(experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cells, by := table.Cells.([]GLAPCell), map[string]GLAPRun{}
	for _, c := range cells {
		by[c.name()+" "+c.Policy] = c.Runs[0]
	}
	usual, slow := by["500-3 usual pabfd"], by["500-3 slow moves pabfd"]
	if len(cells) != 6*4 || usual.Moves == 0 || usual.Moves != slow.Moves || slow.SLAV < 100*usual.SLAV || slow.Kilojoules < 100*usual.Kilojoules {
		t.Errorf("%d cells, %+v, with slow moves %+v", len(cells), usual, slow)
	}
	if usual.Fit == by["500-3 short of CPU pabfd"].Fit || usual.Fit == by["500-3 drawn bursts 1 pabfd"].Fit {
		t.Errorf("other demands are the usual ones: %+v", by)
	}
	if rows := table.Rows[0]; len(rows) != 25 || rows[1][0] != "500-3 usual" || strings.Contains(rows[1][7], "(") {
		t.Errorf("%v", rows)
	}
	seen := map[float64]bool{}
	for seed := range uint64(50) {
		l := hosts.DrawnDemands(seed)
		if c := hosts.Default(20, 3, hosts.GLAP, 1); seen[l.Length] || l.Bursts*l.Height.CPU > 0.8*l.Mean.CPU+1e-9 {
			t.Errorf("%+v", l)
		} else if c.Load = l; c.Validate() != nil {
			t.Error(c.Validate())
		}
		seen[l.Length] = true
	}
}

// What is asked for is run; what is averaged becomes alike.
func TestGLAPLearning(t *testing.T) {
	table, err := glapLearning(short).Run(experiment.Options{Only: "-3 glap"})
	cells := table.Cells.([]GLAPCell)
	if err != nil || len(cells) != 1 || len(table.Rows[0]) != 2 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	s := cells[0].Runs[0].Similarity
	if len(s) != 21 || s[0] > 90 || s[20] < 99 {
		t.Errorf("similarity %v", s)
	}
	if err := table.Draw(filepath.Join(t.TempDir(), "learning.svg")); err != nil {
		t.Error(err)
	}
}

// Of cells that not all policies have run there are no figures.
func TestGLAPOfOnePolicy(t *testing.T) {
	table, err := glap(short).Run(experiment.Options{Workers: []int{30}, Only: "30-2 grmp"})
	if err != nil || len(table.Cells.([]GLAPCell)) != 1 || len(table.Figures) != 0 {
		t.Errorf("%+v, %v", table, err)
	}
	stop := make(chan struct{})
	close(stop)
	if _, err := glap(short).Run(experiment.Options{Stop: stop, Only: "500-2"}); err == nil || !strings.Contains(err.Error(), "500-2") {
		t.Errorf("stopped: %v", err)
	}
}

// A figure stands also where another policy has nothing to be less than.
func TestGain(t *testing.T) {
	for _, c := range []struct{ ours, theirs, want float64 }{{1, 4, 75}, {4, 4, 0}, {6, 4, -50}, {9, 4, -100}, {1, 0, -100}, {0, 0, 0}} {
		if g := gain(c.ours, c.theirs); g != c.want {
			t.Errorf("%v beside %v is a gain of %v %%, want %v", c.ours, c.theirs, g, c.want)
		}
	}
}
