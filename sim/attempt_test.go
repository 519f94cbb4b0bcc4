package sim

import (
	"fmt"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Where an executor is lost with its outputs, a second attempt of what is read again has
// the tasks whose outputs are gone and no others, what reads it fails and comes again
// with what it had not done, and in the end every output is there.
func TestLostOutputsAreWrittenAgainInPart(t *testing.T) {
	c := Default()
	c.Nodes = c.Nodes[:3]
	w := must(t, c)
	a := chain("app", 3, 300, 1200)
	a.Deadline = 400
	d, err := w.Submit(w.Now(), a)
	if err != nil {
		t.Fatal(err)
	}
	step := units.Seconds(0.5)
	for d.stages[1].remaining > 200 {
		if err := w.Pass(step.Duration()); err != nil {
			t.Fatal(err)
		}
	}
	first, second := d.stages[0], d.stages[1]
	held := len(first.without(w.agents[0].busiest()))
	if err := w.Fault(0, faultOutputs, "n1", 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Pass(units.Seconds(1).Duration()); err != nil {
		t.Fatal(err)
	}
	again, later := d.stages[0], d.stages[1]
	if held < 50 || held > 150 || again.key != (api.StageKey{Attempt: 1}) || again.spec.Tasks != held {
		t.Errorf("attempt %v has %d tasks, %d outputs are lost", again.key, again.spec.Tasks, held)
	}
	if later.key != (api.StageKey{Stage: 1, Attempt: 1}) || later.ready || later.spec.Tasks < second.remaining || later.spec.Tasks >= 300 {
		t.Errorf("attempt %v of %d tasks is ready: %v, the first one had %d left", later.key, later.spec.Tasks, later.ready, second.remaining)
	}
	if err := w.Run(); err != nil {
		t.Fatal(err)
	}
	for _, r := range d.stages {
		if n := len(r.base.missing()); n > 0 {
			t.Errorf("stage %v lacks %d outputs", r.key, n)
		}
	}
	if r := d.Result(); r.State != api.AppFinished || *r.ErrorPct < 0 {
		t.Errorf("%+v", r.AppSummary)
	}
}

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
		apps := []App{chain("app", 4, 200, 600), uneven(), {Name: "tree", Head: 3, Stages: []Stage{
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
		for _, s := range d.stages {
			if !s.done {
				t.Errorf("seed %d: stage %v is not done", seed, s.key)
			}
		}
	}
}
