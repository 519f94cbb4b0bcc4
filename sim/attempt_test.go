package sim

import (
	"fmt"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// Whenever outputs are lost, of whatever graph and as often as it may be, every
// application ends and no invariant breaks.
func TestLostOutputsBreakNoInvariant(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	for seed := range uint64(*seeds) {
		c := Default()
		c.Seed = seed
		c.Nodes = c.Nodes[:3]
		if seed%2 == 1 {
			c, _ = WithLaw(c, "pi")
		}
		w := must(t, c)
		apps := []plant.App{chain("app", 4, 200, 600), uneven(), {Name: "tree", Head: 3, Stages: []plant.Stage{
			{Name: "left", Tasks: 64, Work: 200, Written: 9}, {Name: "right", Tasks: 96, Work: 300, Written: 9},
			{Name: "sums", Parents: []int{0}, Tasks: 64, Work: 200}, {Name: "join", Parents: []int{1, 2}, Tasks: 64, Work: 300},
			{Name: "next job", Job: 1, Parents: []int{1}, Tasks: 64, Work: 200}}}}
		a := apps[seed%3]
		full := submit(t, w, a)
		a.Deadline = full.Result().Duration * 1.5
		r := des.Random(seed, "losses")
		for range 4 {
			at := w.Now() + a.Deadline*units.Seconds(r.Float64())
			if err := w.Fault(at, faultOutputs, fmt.Sprintf("n%d", 1+r.IntN(3)), 0); err != nil {
				t.Fatal(err)
			}
		}
		d := submit(t, w, a)
		if d.Result().State != api.AppFinished {
			t.Errorf("seed %d: %+v", seed, d.Result().AppSummary)
		}
	}
}
