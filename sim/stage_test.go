package sim

import (
	"math"
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/units"
)

// What a task weighs is its bytes; what it costs differs from that by Plant.ByteCost,
// anew in each run, and by what Stage.Bytes leaves out.
func TestWeightsAreDrawnApartFromWork(t *testing.T) {
	// costs are the logarithms of work over weight, in order of weight.
	costs := func(seed uint64, byteCost float64, bytes units.Fraction) []float64 {
		c := Default()
		c.Seed, c.Plant.Spread, c.Plant.ByteCost = seed, 0, byteCost
		w, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		load := uneven()
		last := &load.Stages[len(load.Stages)-1]
		last.Bytes = bytes
		d, err := w.Submit(0, load)
		if err != nil {
			t.Fatal(err)
		}
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
	if _, spread := meanAndSpread(costs(1, 0, 0)); spread > 1e-3 {
		t.Errorf("without a byte cost of its own work over weight varies by %.4f", spread)
	}
	one, other := costs(1, 0.2, 0), costs(2, 0.2, 0)
	if _, spread := meanAndSpread(one); math.Abs(spread-0.2) > 0.02 {
		t.Errorf("work over weight varies by %.3f, want 0.2", spread)
	}
	if one[0] == other[0] {
		t.Error("two runs draw the same")
	}
	if all := costs(1, 0, 1); all[0] > -0.5 {
		t.Errorf("the heaviest task costs exp(%.2f) of its weight, though half of its bytes cost nothing", all[0])
	}
}
