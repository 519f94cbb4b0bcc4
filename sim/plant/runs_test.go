package plant

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/sim/des"
)

// Runs are as fast as those measured, each of which is drawn, and without any of them
// they go around 1.
func TestARunIsAsFastAsOneThatWasMeasured(t *testing.T) {
	c := Default()
	c.Runs = []float64{0.5, 2}
	durations := map[float64]float64{}
	for seed := range uint64(12) {
		w := newWorld(t, c, seed, chain("app", 1, 200, 400), 4)
		w.pass(10 * time.Minute)
		durations[w.driver.pace] = float64(w.driver.Duration)
	}
	if len(durations) != 2 || durations[0.5] <= durations[2] {
		t.Errorf("paces took %v", durations)
	}
	p := Default()
	if f := p.runFactor(des.Random(1, "run")); math.Abs(f-1) > 0.02 {
		t.Errorf("without measured runs the factor is %v", f)
	}
	p.Runs = []float64{1, 0}
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "a run goes 0 times as fast") {
		t.Errorf("%v", err)
	}
}
