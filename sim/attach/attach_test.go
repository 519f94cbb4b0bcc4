package attach

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// The planner asks for about as many executors as are needed, and deadlines that can be met are, or missed by little: the
// last tasks of a stage are what nobody can divide any more.
func TestFewExecutorsKeepDeadlines(t *testing.T) {
	r, err := Run(experiment.Options{Seeds: 20})
	if err != nil {
		t.Fatal(err)
	}
	could := 0
	for _, x := range r {
		if x.Fewest > 0 {
			could++
		}
		if x.Held <= 0 || x.Held > most || x.Fewest > 0 && x.Ended > 1.01*x.Deadline {
			t.Errorf("%+v", x)
		}
	}
	if late, ratio := r.LatePct(), r.ExecutorsRatio(); could < 15 || late > 10 || ratio > 1.2 {
		t.Errorf("%.1f %% of %d are late, with %.3f of the executors that are needed", late, could, ratio)
	}
	if again, err := run(1); err != nil || again != r[1] {
		t.Errorf("%+v, and again %+v: %v", r[1], again, err)
	}
}

// More executors never end an application later.
func TestTheOracleIsMonotone(t *testing.T) {
	for seed := range uint64(3) {
		today, _ := draw(seed)
		before := math.Inf(1)
		for n := 1; n <= most; n *= 2 {
			_, o, err := sim.Record(world(seed), fixed(today, n))
			if err != nil {
				t.Fatal(err)
			}
			// A delay is drawn for each grant: one more of them may be a long one.
			if float64(o.Duration) > before+mostWait {
				t.Errorf("seed %d: %v with %d executors, %.0f s with half of them", seed, o.Duration, n, before)
			}
			before = float64(o.Duration)
		}
	}
}
