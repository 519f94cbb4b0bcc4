package paper

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// Each figure that the source prints is a claim, once, with a table, a band and a reason, theirs among what
// the band allows; and what is fitted to it, or follows from it, holds.
func TestClaimsAreTheSources(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	claims, err := tried(experiment.Options{Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := tried(experiment.Options{Seeds: 1, Listed: true})
	told := cmpopts.IgnoreFields(experiment.Claim{}, "Ours", "Seeds", "Least", "Most", "Holds", "Why")
	if d := cmp.Diff(claims, listed, told); err != nil || d != "" {
		t.Errorf("tried and listed: %v %s", err, d)
	}
	seen, tables, held := map[[3]string]experiment.Claim{}, map[string]int{}, map[[3]string]bool{}
	for _, c := range claims {
		key := [3]string{c.Table, c.Case, c.Measure}
		if _, twice := seen[key]; twice {
			t.Errorf("%v is there twice", key)
		}
		seen[key], held[key] = c, c.Holds
		tables[c.Table]++
		theirs := experiment.Claim{Band: c.Band}.Tried([]float64{c.Theirs})
		if c.Table == "" || c.Case == "" || c.Measure == "" || c.Band.Reason == "" || !theirs.Holds || c.Seeds != 1 {
			t.Errorf("%+v", c)
		}
	}
	for table, want := range map[string]int{"Table 4": 72, "Table 5": 6, "Table 6": 7, "Table 8": 20, "Table 9": 20, "Sec 7.3": 2} {
		if tables[table] != want {
			t.Errorf("%d claims of %s, want %d", tables[table], table, want)
		}
	}
	for _, key := range [][3]string{{"Table 4", "pagerank +20%", "error, %"}, {"Table 4", "group-by +20%", "mean cores"},
		{"Sec 7.1", "alpha 0.95, +20%", "latest, %"}, {"Table 6", "edf-all g=1", "error of svm, %"},
		{"Table 8", "speed g=0", "in time, of 3"}} {
		if !held[key] {
			t.Errorf("%v: %+v", key, seen[key])
		}
	}
}

// tried are the claims of all experiments.
func tried(o experiment.Options) (all []experiment.Claim, err error) {
	for _, e := range Experiments() {
		if e.Source == "" {
			continue
		}
		claims, err := e.Tried(o)
		if err != nil {
			return nil, err
		}
		all = append(all, claims...)
	}
	return all, nil
}

func TestClaimsAreStopped(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	if _, err := tried(experiment.Options{Seeds: 1, Stop: stop}); !errors.Is(err, des.ErrStopped) {
		t.Errorf("%v", err)
	}
}
