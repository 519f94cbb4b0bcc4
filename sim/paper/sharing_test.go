package paper

import (
	"math"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/supervisor/sharing"
)

// The effect of a rule is by pairs of runs of the same seed: what differs between seeds alone is no
// spread, and what is within the spread is not shown.
func TestEffects(t *testing.T) {
	runs := func(errs ...float64) (runs []sim.Outcome) {
		for _, e := range errs {
			runs = append(runs, sim.Outcome{Deadline: 100, Error: e, CoreSeconds: 50})
		}
		return runs
	}
	rule := Rules()[0].Name
	for _, c := range []struct {
		without []float64
		late    float64
		spread  [3]float64
		shown   bool
	}{
		{[]float64{1, -1, 1, -50}, 0, [3]float64{}, false},
		{[]float64{-3, -1, -3, -50}, 2, [3]float64{}, true},
		{[]float64{-1, -1, 1, -50}, 1, [3]float64{2 * math.Sqrt(0.5/2) * 2, 2 * math.Sqrt(0.125/2)}, false},
	} {
		got := Effects([]Cell{{Case: allRules, Runs: runs(1, -1, 1, -50)}, {Case: rule, Runs: runs(c.without...)}}, 2)
		if len(got) != 1 || got[0].Rule.Name != rule || got[0].Changes()[0] != c.late || got[0].Shown() != c.shown {
			t.Fatalf("%v: %+v", c.without, got)
		}
		for i, want := range c.spread {
			if math.Abs(got[0].Spread[i]-want) > 1e-12 {
				t.Errorf("%v: spread %v, want %v", c.without, got[0].Spread, c.spread)
			}
		}
	}
}

// The experiment switches each rule off that is asked for, and the table has a row for it and for
// those that cannot be shown.
func TestTheAblationOfARule(t *testing.T) {
	o := experiment.Options{Laws: []string{controller.Default().Law}, Seeds: 1, Only: "aim-first"}
	cells, err := Run(ablated, o)
	if err != nil || len(cells) != 2 || len(cells[0].Runs) != len(cells[1].Runs) {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	rows := EffectRows(cells, o.Seeds)
	if rows[1][0] != "aim-first" || rows[2][0] != "slow-driver" || !strings.Contains(rows[2][6], "cannot be") {
		t.Errorf("rows %q", rows)
	}
	o.Only = "no such rule"
	if cells, err := Run(ablated, o); err != nil || len(cells) > 0 {
		t.Errorf("of no rule: %d cells, %v", len(cells), err)
	}
}

// Each rule has a name and a sentence of its own, and switching it off changes something.
func TestRules(t *testing.T) {
	said := map[string]bool{}
	for _, r := range Rules() {
		p := sharing.Default()
		if r.Off(&p); p == sharing.Default() {
			t.Errorf("%s off is as on", r.Name)
		}
		if said[r.Name] || said[r.Says] || r.Says == "" {
			t.Errorf("%s: %q is said twice, or nothing is", r.Name, r.Says)
		}
		said[r.Name], said[r.Says] = true, true
	}
}
