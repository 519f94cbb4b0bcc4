package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/whatif"
	"github.com/sparkpacer/pacer/test/benchline"
)

// What is foretold is measured on so many applications, by a run of each on two executors of four cores, and is beside
// so many runs of other seeds. Executors of an application are bent by up to mostBent: no run tells by how much.
const (
	foretold     = 200
	foretoldRuns = 3
	mostBent     = 1.0
)

// whatIfRows are about what is foretold before anything runs.
func whatIfRows() []row {
	return []row{{name: "whatif", minutes: 10, measure: whatIfMeasured}}
}

// whatIfMeasured measures how far the end of an application on 4, 16 and 32 cores is from what was foretold by its
// run on 8: off by how much the mean of further runs is, which part of these runs is within the bounds of 90 %, and
// which part of paced runs is later than the deadline that was promised with 95 %.
func whatIfMeasured(t testing.TB, add adder) {
	var off, inside, late []float64
	for seed := range uint64(foretold) {
		if t.Context().Err() != nil {
			t.Fatal("interrupted")
		}
		runs, _ := drawRuns(seed, 0)
		app := appOf(runs.First())
		app.Bend = mostBent * rand.New(rand.NewPCG(seed, 3)).Float64()
		p, _, err := sim.Record(paceWorld(seed), app)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := whatif.Ask(whatif.Question{Profile: p, Shapes: whatif.Sums(p, 4, 16, 32), Stop: t.Context().Done()})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range answer.Cells {
			mean := 0.0
			for run := range uint64(foretoldRuns) {
				_, o, err := sim.Record(shapedWorld(seed+(run+1)*1e6, c.Shape), app)
				if err != nil {
					t.Fatal(err)
				}
				mean += float64(o.Duration) / foretoldRuns
				inside = append(inside, percent(c.Most.Low <= o.Duration && o.Duration <= c.Most.High))
			}
			off = append(off, 100*math.Abs(float64(c.Finish)/mean-1))
			due := app
			due.Deadline = c.Promise
			w := shapedWorld(seed+9e6, c.Shape)
			w.Certainty = api.UsualCertainty
			o, err := sim.Pace(w, due, p, 0)
			if err != nil {
				t.Fatal(err)
			}
			late = append(late, percent(o.Error < 0))
		}
	}
	add("whatif.virtual.error_pct.mean", benchline.Mean(off), "%")
	add("whatif.virtual.error_pct.worst", benchline.Quantile(off, 1), "%")
	add("whatif.virtual.inside_pct", benchline.Mean(inside), "%")
	add("whatif.virtual.promised_late_pct", benchline.Mean(late), "%")
}

// shapedWorld is a world of so many nodes with an executor each.
func shapedWorld(seed uint64, s whatif.Shape) sim.Config {
	c := paceWorld(seed)
	c.Nodes = nil
	for i := range s.Executors {
		c.Nodes = append(c.Nodes, sim.NodeSpec{Name: string(rune('a' + i)), Cores: s.Each})
	}
	return c
}
