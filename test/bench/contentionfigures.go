package main

import (
	"maps"
	"slices"

	"github.com/sparkpacer/pacer/test/benchline"
)

// mixFigures are the figures of a mix's runs; jobs are its applications as they run here.
func mixFigures(e mix, variant string, runs []outcome, jobs []job) []figure {
	var out []figure
	name := func(w, what string) string { return at("contention."+e.name+"."+w+"."+what, variant) }
	var stock []map[int]float64
	spans := map[string]map[int]float64{}
	for _, w := range e.ways {
		of := runsOf(runs, w.name)
		spans[w.name] = makespans(of)
		if w.stock {
			stock = append(stock, spans[w.name])
		}
		if len(of) == 0 {
			continue
		}
		errs := errorsOf(of)
		out = append(out, figure{name(w.name, "late"), lateOf(errs), "runs"},
			figure{name(w.name, "mean_abs_error_pct"), benchline.Mean(amounts(errs)), "%"},
			figure{name(w.name, "met"), benchline.Mean(metOf(of)), "applications"})
	}
	best := 0
	if e.overload {
		best = clairvoyant(jobs)
		out = append(out, figure{name("clairvoyant", "met"), benchline.One(float64(best)), "applications"})
	}
	for _, w := range e.ways {
		if ratios := over(spans[w.name], leastOf(stock)); len(ratios) > 0 && !w.stock {
			out = append(out, figure{name(w.name, "makespan_ratio"), benchline.Median(ratios), "ratio"})
		}
		if met := metOf(runsOf(runs, w.name)); len(met) > 0 && best > 0 {
			out = append(out, figure{name(w.name, "met_ratio"), benchline.Mean(met).Times(1 / float64(best)), "ratio"})
		}
	}
	return out
}

// runsOf are the runs of one way, of all its applications.
func runsOf(runs []outcome, way string) []outcome {
	return slices.DeleteFunc(slices.Clone(runs), func(r outcome) bool { return r.way != way })
}

// metOf is how many applications were in time, by round.
func metOf(runs []outcome) []float64 {
	met := map[int]float64{}
	for _, r := range runs {
		one := 0.0
		if pct, ok := r.errorPct(); ok && pct >= 0 {
			one = 1
		}
		met[r.round] += one
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
func makespans(runs []outcome) map[int]float64 {
	ends := map[int]float64{}
	for _, r := range runs {
		ends[r.round] = max(ends[r.round], r.at+r.wall)
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
