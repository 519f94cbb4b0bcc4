package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/paper"
	"github.com/sparkpacer/pacer/test/benchline"
)

// strategySeeds are as many as the comparison of strategies asks for.
const strategySeeds = 12

// strategies measures Benchmarks 1 to 3 at full size in the simulator, with every strategy
// and gamma 0 and 1.
func strategies(t testing.TB, add adder) {
	changes(t, add)
	cells, err := paper.Run("benchmarks", experiment.Options{Laws: []string{controller.LawPacer}, Seeds: strategySeeds})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range mixes() {
		best := clairvoyant(e.atSource())
		if e.overload {
			add("sim.contention."+e.name+".clairvoyant.met", benchline.One(float64(best)), "applications")
		}
		for _, c := range cells {
			if way, ok := strings.CutPrefix(c.Case, e.name+" "); ok {
				name := "sim.contention." + e.name + "." + strings.NewReplacer(" ", ".", "=", "").Replace(way)
				for _, f := range simulatedMix(e, best, c.Runs) {
					add(name+"."+f.Name, f.Measured, f.Unit)
				}
			}
		}
	}
}

// changes are how often it changes who comes behind others, in a minute, where others' load leaves no time for all.
func changes(t testing.TB, add adder) {
	var all []float64
	for seed := range uint64(strategySeeds) {
		s, err := sim.ContendedScenario("flap")
		if err != nil {
			t.Fatal(err)
		}
		s.Config.Seed += seed
		var history strings.Builder
		r, err := s.Run(&history)
		if err != nil {
			t.Fatal(err)
		}
		n, until := 0, 0.0
		for _, said := range []string{"comes behind the others", "has its place by its deadline again"} {
			n += strings.Count(history.String(), said)
		}
		for _, o := range r.Outcomes {
			until = max(until, float64(o.Duration))
		}
		all = append(all, 60*float64(n)/until)
	}
	add("auto.changes_per_minute", benchline.Mean(all), "1/min")
}

// simulatedMix are the figures of a mix in the simulator, of which best applications can be
// in time: runs has them one behind the other, in its order, for each seed.
func simulatedMix(e mix, best int, runs []sim.Outcome) []figure {
	var errs, amounts, met, ends []float64
	for seed := range slices.Chunk(runs, len(e.apps)) {
		end, inTime := 0.0, 0.0
		for i, o := range seed {
			errs, amounts = append(errs, o.Error), append(amounts, math.Abs(o.Error))
			end = max(end, e.apps[i].at+float64(o.Duration))
			if o.Error >= 0 {
				inTime++
			}
		}
		met, ends = append(met, inTime), append(ends, end)
	}
	out := []figure{{"late", lateOf(errs), "runs"}, {"mean_abs_error_pct", benchline.Mean(amounts), "%"},
		{"met", benchline.Mean(met), "applications"},
		{"makespan_ratio", benchline.Ratio(ends, []float64{inTurnUntil(e.atSource())}), "ratio"}}
	if e.overload {
		out = append(out, figure{"met_ratio", benchline.Mean(met).Times(1 / float64(best)), "ratio"})
	}
	return out
}
