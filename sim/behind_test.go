package sim_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/paper"
)

// Where others' load leaves no time for all, who comes behind the others stays the same: it changes twice a minute at
// most.
func TestWhoIsBehindStays(t *testing.T) {
	for _, file := range []string{"flap", "strategy-auto"} {
		text, err := os.ReadFile("testdata/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(12) {
			s, err := sim.ParseScenario(file, string(text), paper.Workloads()...)
			if err != nil {
				t.Fatal(err)
			}
			s.Config.Seed += seed
			var history strings.Builder
			r, err := s.Run(&history)
			if err != nil {
				t.Fatal(err)
			}
			minutes := 0.0
			for _, o := range r.Outcomes {
				minutes = max(minutes, float64(o.Duration)/60)
			}
			put, back := strings.Count(history.String(), "comes behind the others"), strings.Count(history.String(), "has its place by its deadline again")
			if n := float64(put + back); put == 0 || n > 2*minutes {
				t.Errorf("%s, seed %d: %d put behind and %d taken forward in %.1f minutes", file, s.Config.Seed, put, back, minutes)
			}
		}
	}
}
