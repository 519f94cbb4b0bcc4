package knee

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/units"
)

// The first run of each application uses what Table 3.2 says: its mean, and its peak for that part of the time.
func TestFootprintsAreThoseOfTable32(t *testing.T) {
	for _, a := range apps {
		mean, parts, most := 0.0, 0.0, 0.0
		for _, b := range a.uses(a.first) {
			use := float64(b.Used) / float64(units.GiB)
			mean, parts, most = mean+use*b.Part, parts+b.Part, max(most, use)
		}
		if math.Abs(parts-1) > 1e-9 || math.Abs(mean/a.mean-1) > 0.01 || most > a.peak || most < 0.9*a.peak {
			t.Errorf("%s: mean %.2f, peak %.2f, parts %.2f", a.name, mean, most, parts)
		}
		if r := a.run(des.Random(1, a.name), gib(a.enough*0.95)); r.Work < 390 || r.Collecting < 0.7 || r.OutOfMemory {
			t.Errorf("%s: a heap that is a little too small: %+v", a.name, r)
		}
		if r := a.run(des.Random(1, a.name), gib(a.enough*0.8)); !r.OutOfMemory {
			t.Errorf("%s: a heap below what is live: %+v", a.name, r)
		}
	}
}

// The heaps that are found are enough, and within a tenth of the smallest in the mean; the same seeds find the same.
func TestSection34TheKneeIsFound(t *testing.T) {
	table, err := Experiments()[0].Run(experiment.Options{Seeds: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range table.Cells.([]Cell) {
		for _, s := range c.Runs {
			if s.Error < -4 || s.Runs == mostRuns || s.Bad < 1 {
				t.Errorf("%s: %+v", c.Case, s)
			}
		}
	}
	for _, f := range table.Figures {
		t.Logf("%s: %.1f, %.1f to %.1f", f.Name, f.Ours, f.Least, f.Most)
		if !f.Holds {
			t.Errorf("%s is %.1f, want %s", f.Name, f.Ours, f.Band)
		}
	}
}
