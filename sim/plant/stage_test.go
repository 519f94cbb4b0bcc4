package plant

import (
	"math"
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/units"
)

// uneven is a chain of two stages; half of the second one's work follows the sizes of its
// tasks, and these Zipf's law.
func uneven() App {
	a := chain("uneven", 2, 2500, 3700)
	last := &a.Stages[1]
	last.Zipf, last.Skewed = 1, 0.5
	return a
}

// spread is the standard deviation of values.
func spread(v []float64) float64 {
	sum, squares, n := 0.0, 0.0, float64(len(v))
	for _, x := range v {
		sum += x
		squares += x * x
	}
	return math.Sqrt(max(0, squares/n-sum*sum/n/n))
}

// What a task weighs is its bytes; what it costs differs from that by Config.ByteCost,
// anew in each run, and by what Stage.Bytes leaves out.
func TestWeightsAreDrawnApartFromWork(t *testing.T) {
	// costs are the logarithms of work over weight, in order of weight.
	costs := func(seed uint64, byteCost float64, bytes units.Fraction) []float64 {
		c := Default()
		c.Spread, c.ByteCost = 0, byteCost
		load := uneven()
		last := &load.Stages[len(load.Stages)-1]
		last.Bytes = bytes
		d := newWorld(t, c, seed, load, 1).driver
		r := d.stages[len(d.stages)-1]
		if !slices.IsSortedFunc(r.weights, func(a, b int64) int { return int(b - a) }) {
			t.Error("the heaviest tasks do not come first")
		}
		mean := float64(last.Work) / float64(last.Tasks)
		var out []float64
		for i := range r.work {
			out = append(out, math.Log(r.work[i]/mean/(float64(r.weights[i])/driver.MeanWeight)))
		}
		return out
	}
	if s := spread(costs(1, 0, 0)); s > 1e-3 {
		t.Errorf("without a byte cost of its own work over weight varies by %.4f", s)
	}
	one, other := costs(1, 0.2, 0), costs(2, 0.2, 0)
	if s := spread(one); math.Abs(s-0.2) > 0.02 {
		t.Errorf("work over weight varies by %.3f, want 0.2", s)
	}
	if one[0] == other[0] {
		t.Error("two runs draw the same")
	}
	if all := costs(1, 0, 1); all[0] > -0.5 {
		t.Errorf("the heaviest task costs exp(%.2f) of its weight, though half of its bytes cost nothing", all[0])
	}
}
