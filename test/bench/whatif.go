package main

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
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
	return []row{{name: "whatif", minutes: 20, measure: whatIfMeasured}}
}

// foretoldFrom is the first seed of these applications. What-if was fitted on seeds from 0 on, and those from 50,000 on
// showed that too many promises were late: these judge, and nothing is fitted on them.
const foretoldFrom = 80_000

// told is what came of what was foretold of an application, by cell and by run.
type told struct{ off, inside, late []float64 }

// whatIfMeasured measures how far the end of an application on 4, 16 and 32 cores is from what was foretold by its
// run on 8: off by how much the mean of further runs is, which part of these runs is within the bounds of 90 %, and
// which part of paced runs is later than the deadline that was promised with 95 %.
func whatIfMeasured(t testing.TB, add adder) {
	all, faults := make([]told, foretold), make([]error, foretold)
	var next atomic.Int64
	var running sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			for i := next.Add(1) - 1; i < foretold && t.Context().Err() == nil; i = next.Add(1) - 1 {
				all[i], faults[i] = foretell(t.Context(), foretoldFrom+uint64(i))
			}
		})
	}
	running.Wait()
	if err := cmp.Or(t.Context().Err(), cmp.Or(faults...)); err != nil {
		t.Fatal(err)
	}
	var sum told
	for _, one := range all {
		sum.off, sum.inside = append(sum.off, one.off...), append(sum.inside, one.inside...)
		sum.late = append(sum.late, one.late...)
	}
	add("whatif.virtual.error_pct.mean", benchline.Mean(sum.off), "%")
	add("whatif.virtual.error_pct.worst", benchline.Quantile(sum.off, 1), "%")
	add("whatif.virtual.inside_pct", benchline.Mean(sum.inside), "%")
	add("whatif.virtual.promised_late_pct", benchline.Mean(sum.late), "%")
}

// foretell foretells the ends of the application of a seed, and runs it.
func foretell(ctx context.Context, seed uint64) (out told, err error) {
	runs, _ := drawRuns(seed, 0)
	app := appOf(runs.First())
	app.Bend = mostBent * rand.New(rand.NewPCG(seed, 3)).Float64()
	p, _, err := sim.Record(paceWorld(seed), app)
	if err != nil {
		return out, err
	}
	answer, err := whatif.Ask(whatif.Question{Profile: p, Shapes: whatif.Sums(p, 4, 16, 32), Stop: ctx.Done()})
	if err != nil {
		return out, err
	}
	for _, c := range answer.Cells {
		mean := 0.0
		for run := range uint64(foretoldRuns) {
			_, o, err := sim.Record(shapedWorld(seed+(run+1)*1e6, c.Shape), app)
			if err != nil {
				return out, err
			}
			mean += float64(o.Duration) / foretoldRuns
			out.inside = append(out.inside, percent(c.Most.Low <= o.Duration && o.Duration <= c.Most.High))
		}
		out.off = append(out.off, 100*math.Abs(float64(c.Finish)/mean-1))
		due := app
		due.Deadline = c.Promise
		w := shapedWorld(seed+9e6, c.Shape)
		w.Certainty = api.UsualCertainty
		o, err := sim.Pace(w, due, p, 0)
		if err != nil {
			return out, err
		}
		out.late = append(out.late, percent(o.Error < 0))
	}
	return out, nil
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
