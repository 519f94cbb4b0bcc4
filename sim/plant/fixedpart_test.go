package plant

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// What a stage's tasks cost alike is found again from their CPU times, whatever weights
// they had by an earlier profile; weights that are made of it go with the CPU time.
func TestTheFixedPartOfAStageIsFoundAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "tasks")
		want := rapid.Float64Range(0, float64(api.MostFixedPart)).Draw(t, "fixed_part")
		before := rapid.Float64Range(0, 1).Draw(t, "fixed part of the profile")
		sizes := []float64{2} // One that differs.
		for len(sizes) < n {
			sizes = append(sizes, rapid.Float64Range(0, 2).Draw(t, "size"))
		}
		slices.Sort(sizes)
		slices.Reverse(sizes)
		sum := 0.0
		for _, s := range sizes {
			sum += s
		}
		r := &stageRun{}
		for _, s := range sizes {
			r.weights = append(r.weights, int64(math.Round(driver.MeanWeight*s*float64(n)/sum)))
		}
		if r.weights[0]-r.weights[n-1] < driver.MeanWeight/10 {
			t.Skip("all alike")
		}
		r.weights[0] += int64(n)*driver.MeanWeight - total(r.weights)
		costs := make([]float64, n)
		for i, w := range r.weights {
			costs[i] = 3 * (want + (1-want)*float64(w)/driver.MeanWeight)
		}
		r.setFixedPart(units.Fraction(before))
		if total(r.weights) != int64(n)*driver.MeanWeight {
			t.Fatalf("weights add up to %d for %d tasks", total(r.weights), n)
		}
		for i, c := range costs {
			r.line.add(float64(r.weight(i))/driver.MeanWeight, c)
		}
		if got := r.fixedPart(); math.Abs(float64(got)-want) > 2e-3 {
			t.Fatalf("fixed part %v, want %v", got, want)
		}
	})
	for _, costs := range [][]float64{{1, 3}, {0, 4}} { // The heavier costs less.
		var l line
		l.add(1.5, costs[0])
		l.add(0.5, costs[1])
		if got := l.proportional(1); got != 0 {
			t.Errorf("%v: %v goes with the weights", costs, got)
		}
	}
	steep := line{}
	steep.add(1.5, 4)
	steep.add(0.5, 0)
	if got := steep.proportional(1); got != 1 {
		t.Errorf("%v goes with the weights, at most all", got)
	}
}

func total(weights []int64) (sum int64) {
	for _, w := range weights {
		sum += w
	}
	return sum
}

// What each task takes whatever it reads is found from the later half of the tasks, whatever
// weights they had by an earlier profile.
func TestWhatATaskCostsIsFoundAgain(t *testing.T) {
	run := func(before units.Fraction, heaviest int64) *stageRun {
		r := &stageRun{weights: []int64{heaviest}}
		for i := range int64(15) {
			r.weights = append(r.weights, heaviest*(14-i)/15)
		}
		r.setFixedPart(before)
		return r
	}
	for _, before := range []units.Fraction{0, 0.4} {
		plain, r := run(0, 2*driver.MeanWeight), run(before, 2*driver.MeanWeight)
		for i := range r.weights {
			if i >= 8 {
				r.late.add(float64(r.weight(i))/driver.MeanWeight, 0.03+0.2*float64(plain.weight(i))/driver.MeanWeight)
			}
		}
		if got := r.taskCost(); math.Abs(float64(got)-0.03) > 1e-3 {
			t.Errorf("a fixed part of %v: a task costs %v, want 0.03", before, got)
		}
	}
	r := run(0, 5*driver.MeanWeight)
	for i := range 8 {
		r.late.add(float64(i), 0.03+float64(i))
	}
	if got := r.taskCost(); got != 0 {
		t.Errorf("beside a task of five mean ones: %v, want nothing", got)
	}
	if got := new(stageRun).taskCost(); got != 0 {
		t.Errorf("without weights: %v, want nothing", got)
	}
}
