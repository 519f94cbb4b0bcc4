package sim

import (
	"github.com/sparkpacer/pacer/sim/des"
	"math"
	"strings"
	"testing"
)

// Runs are as fast as those measured, each of which is drawn, and without any of them
// they go around 1.
func TestARunIsAsFastAsOneThatWasMeasured(t *testing.T) {
	c := Default()
	c.Plant.Runs = []float64{0.5, 2}
	seen := map[float64]bool{}
	durations := map[float64]float64{}
	for seed := range uint64(12) {
		c.Seed = seed
		w := must(t, c)
		d := submit(t, w, chain("app", 1, 200, 400))
		seen[d.pace], durations[d.pace] = true, float64(d.duration)
	}
	if len(seen) != 2 || durations[0.5] <= durations[2] {
		t.Errorf("paces %v took %v", seen, durations)
	}
	p := DefaultPlant()
	if f := p.runFactor(des.Random(1, "run")); math.Abs(f-1) > 0.02 {
		t.Errorf("without measured runs the factor is %v", f)
	}
	p.Runs = []float64{1, 0}
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "a run goes 0 times as fast") {
		t.Errorf("%v", err)
	}
}
