package paper

import (
	"errors"
	"testing"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/claim"
)

// Each figure that the source prints is a claim, once, with a table, a band and a reason, theirs among what
// the band allows; and what is fitted to it, or follows from it, holds.
func TestClaimsAreTheSources(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	claims, err := Claims(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen, tables, held := map[[3]string]claim.Claim{}, map[string]int{}, map[[3]string]bool{}
	for _, c := range claims {
		key := [3]string{c.Table, c.Case, c.Measure}
		if _, twice := seen[key]; twice {
			t.Errorf("%v is there twice", key)
		}
		seen[key], held[key] = c, c.Holds
		tables[c.Table]++
		theirs := claim.Claim{Band: c.Band}.Tried([]float64{c.Theirs})
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

func TestClaimsAreStopped(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	if _, err := Claims(1, stop); !errors.Is(err, sim.ErrStopped) {
		t.Errorf("%v", err)
	}
}
