package main

import (
	"maps"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/internal/benchline"
)

// contentionFigures are the figures of the runs of several applications at once.
func contentionFigures(c benchline.Campaign, variant string) []figure {
	var out []figure
	for _, e := range mixes() {
		spans := map[string]map[int]float64{}
		var stock []map[int]float64
		for _, w := range e.ways {
			runs := runsOf(c, at(e.name+"."+w.name, variant))
			if len(runs) == 0 {
				continue
			}
			spans[w.name] = makespans(runs)
			if w.stock {
				stock = append(stock, spans[w.name])
			}
			out = append(out, figuresAt("contention."+e.name+"."+w.name, variant, runs)...)
		}
		stockEnds := leastOf(stock)
		best := 0
		if e.overload {
			best = clairvoyant(e.jobs(c, variant))
		}
		if best > 0 {
			out = append(out, figure{at("contention."+e.name+".clairvoyant.met", variant), benchline.One(float64(best)), "applications"})
		}
		for _, w := range e.ways {
			if ratios := over(spans[w.name], stockEnds); len(ratios) > 0 && !w.stock {
				out = append(out, figure{at("contention."+e.name+"."+w.name+".makespan_ratio", variant), benchline.Median(ratios), "ratio"})
			}
			if met := metOf(runsOf(c, at(e.name+"."+w.name, variant))); len(met) > 0 && best > 0 {
				out = append(out, figure{at("contention."+e.name+"."+w.name+".met_ratio", variant), benchline.Mean(met).Times(1 / float64(best)), "ratio"})
			}
		}
	}
	return append(out, besideFigures(c, variant)...)
}

// runsOf are the runs of one way, of all its applications.
func runsOf(c benchline.Campaign, variant string) []benchline.Run {
	var out []benchline.Run
	for _, l := range c.Lines {
		if l.Run != nil && l.Run.Variant == variant {
			out = append(out, *l.Run)
		}
	}
	return out
}

// figuresAt are how many applications of a way were late and met in a run, and by how much
// they missed their deadlines in either direction.
func figuresAt(name, variant string, runs []benchline.Run) []figure {
	errs := errorsOf(runs)
	amounts := make([]float64, 0, len(errs))
	for _, e := range errs {
		amounts = append(amounts, math.Abs(e))
	}
	return []figure{
		{at(name+".late", variant), lateOf(errs), "runs"},
		{at(name+".mean_abs_error_pct", variant), benchline.Mean(amounts), "%"},
		{at(name+".met", variant), benchline.Mean(metOf(runs)), "applications"},
	}
}

// metOf is how many applications were in time, by round.
func metOf(runs []benchline.Run) []float64 {
	met := map[int]float64{}
	for _, r := range runs {
		one := 0.0
		if pct, ok := r.ErrorPct(); ok && pct >= 0 {
			one = 1
		}
		met[r.Round] += one
	}
	return byRound(met)
}

// byRound are values of rounds, in order of round.
func byRound(values map[int]float64) []float64 {
	out := make([]float64, 0, len(values))
	for _, round := range slices.Sorted(maps.Keys(values)) {
		out = append(out, values[round])
	}
	return out
}

// makespans are the times from the first submission to the last exit, by round.
func makespans(runs []benchline.Run) map[int]float64 {
	ends := map[int]float64{}
	for _, r := range runs {
		ends[r.Round] = max(ends[r.Round], *r.At+r.Wall)
	}
	return ends
}

// leastOf is the least value of each round.
func leastOf(ways []map[int]float64) map[int]float64 {
	least := map[int]float64{}
	for _, values := range ways {
		for round, v := range values {
			if l, ok := least[round]; !ok || v < l {
				least[round] = v
			}
		}
	}
	return least
}

// over are the values over those of the same round, in order of round: the machine's speed
// differs from one round to another, and within a round by less.
func over(values, base map[int]float64) []float64 {
	ratios := map[int]float64{}
	for round, v := range values {
		if b, ok := base[round]; ok {
			ratios[round] = v / b
		}
	}
	return byRound(ratios)
}

// jobs are a mix's applications as they run here, each taking what it takes alone on tuned
// stock Spark; none while they have not run.
func (e mix) jobs(c benchline.Campaign, variant string) []job {
	var takes []float64
	for _, m := range e.apps {
		alone := walls(c.Runs(m.workload, variant), basis, tunedOne)
		if len(alone) == 0 {
			return nil
		}
		takes = append(takes, benchline.Median(alone).Value)
	}
	return e.scaled(takes)
}

// clairvoyant is the most jobs that whoever knows all of them before they come can end in
// time, if another may go on where one is interrupted: of some set of them, the earliest
// deadline first.
func clairvoyant(jobs []job) (most int) {
	for set := range 1 << len(jobs) {
		var of []job
		for i, j := range jobs {
			if set>>i&1 == 1 {
				of = append(of, j)
			}
		}
		if schedulable(of) {
			most = max(most, len(of))
		}
	}
	return most
}

// job comes at a moment, takes a time and is due at another moment.
type job struct{ at, takes, due float64 }

// instant is shorter than what is measured of a run, in seconds, and longer than the
// rounding of sums of such times.
const instant = 1e-6

// schedulable reports whether all jobs end in time on one machine, the earliest deadline
// first: they do if those that come from some moment on and are due by another take no
// longer than from the one to the other.
func schedulable(jobs []job) bool {
	for _, from := range jobs {
		for _, to := range jobs {
			takes := 0.0
			for _, j := range jobs {
				if j.at >= from.at && j.due <= to.due {
					takes += j.takes
				}
			}
			if takes > max(0, to.due-from.at)+instant {
				return false
			}
		}
	}
	return true
}
