package fluid

import (
	"errors"
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// What the source says in a number, and is not fitted to, is a claim, once, with a table, a band and a reason; theirs
// lies in the band.
func TestClaimsAreTheSources(t *testing.T) {
	table, err := RunPace(experiment.Options{Seeds: 2, Jobs: 800})
	if err != nil {
		t.Fatal(err)
	}
	seen, tables := map[[3]string]bool{}, map[string]int{}
	for _, c := range slices.Concat(cellClaims(table.Cells.([]Cell)), experiment.Claims(table.Figures)) {
		key := [3]string{c.Table, c.Case, c.Measure}
		theirs := experiment.Claim{Band: c.Band}.Tried([]float64{c.Theirs})
		if seen[key] || c.Table == "" || c.Case == "" || c.Measure == "" || c.Band.Reason == "" || !theirs.Holds || c.Seeds != 2 {
			t.Errorf("%+v", c)
		}
		seen[key] = true
		tables[c.Table]++
	}
	const fitted = 2
	for name, want := range map[string]int{"Table 3.1": 3*4 - fitted + 6, "Fig 3.3": 2, "Fig 3.4": 1, "Fig 3.5": 4, "Fig 3.9": 1} {
		if tables[name] != want {
			t.Errorf("%d claims of %s, want %d", tables[name], name, want)
		}
	}
	if n := len(table.Figures) - fitted; n != 6+2+1+4+1 {
		t.Errorf("%d measures that are fitted to nothing", n)
	}
}

func TestClaimsAreStopped(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	if _, err := paceClaims(experiment.Options{Seeds: 1, Stop: stop}); !errors.Is(err, des.ErrStopped) {
		t.Errorf("%v", err)
	}
}
