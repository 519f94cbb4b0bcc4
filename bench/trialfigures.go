package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/internal/benchline"
)

// figuresOf are the figures of a workload's runs. What was not measured is not among
// them.
func figuresOf(workload, variant string, runs []benchline.Run) []figure {
	var out []figure
	add := func(what, suffix string, m benchline.Measured, unit string) {
		if workload != overheadOf {
			what += "." + workload
		}
		out = append(out, figure{at(what+suffix, variant), m, unit})
	}
	work := func(phase string, baselines ...string) []float64 {
		return values(runs, coreSeconds, phase, baselines...)
	}
	ratio := func(figure string, of func(phase string, baselines ...string) []float64, one, base string) {
		if a, b := of(basis, one), of(basis, base); len(a) > 0 && len(b) > 0 {
			add(figure, "", benchline.Ratio(a, b), "ratio")
		}
	}
	wall := func(phase string, baselines ...string) []float64 { return walls(runs, phase, baselines...) }
	for _, b := range []string{stockAsIs, tunedOne, fullOne} {
		if v := wall(basis, b); len(v) > 0 {
			add("wall_s."+b, "", benchline.Median(v), "s")
			add("core_seconds."+b, "", benchline.Median(work(basis, b)), "core-seconds")
		}
	}
	ratio("tuning.wall_ratio", wall, tunedOne, stockAsIs)
	ratio("tuning.core_seconds_ratio", work, tunedOne, stockAsIs)
	ratio("overhead.wall_ratio", wall, fullOne, tunedOne)
	ratio("overhead.core_seconds_ratio", work, fullOne, tunedOne)
	if before, between := wall(basis, tunedOne), wall(paced, tunedOne); len(before) > 0 && len(between) > 0 {
		change := benchline.Ratio(between, before)
		percent := func(v float64) float64 { return 100 * (v - 1) }
		add("deadline.drift_pct", "", benchline.Measured{Value: percent(change.Value), N: change.N,
			Spread: [2]float64{percent(change.Spread[0]), percent(change.Spread[1])}}, "%")
	}
	for _, slack := range slacksOf(runs) {
		of := slices.DeleteFunc(slices.Clone(runs), func(r benchline.Run) bool { return r.Slack == nil || *r.Slack != slack })
		suffix := "." + strconv.Itoa(slack)
		errs := errorsOf(of)
		add("deadline.exit_error_pct", suffix, benchline.Median(errs), "%")
		add("deadline.late", suffix, lateOf(errs), "runs")
		used := values(of, coreSeconds, paced, pacedOne)
		if full := work(basis, fullOne); len(full) > 0 {
			add("pacing.core_seconds_ratio", suffix, benchline.Ratio(used, full), "ratio")
		}
		if planned := plannersOf(of); len(planned) > 0 {
			add("deadline.planner_error_pct", suffix, benchline.Median(planned), "%")
		}
	}
	return out
}

func coreSeconds(r benchline.Run) float64 { return r.CoreSeconds }

// bearing are the runs of a workload in a campaign. The class-data archive's core-seconds
// are shared out among all runs of the campaign that have mapped it.
func bearing(c benchline.Campaign, workload, variant string) []benchline.Run {
	archive, uses := 0.0, 0
	for _, l := range c.Lines {
		switch {
		case l.Name == "archive.core_seconds":
			archive = l.Value
		case l.Run != nil && l.Run.Archive:
			uses++
		}
	}
	runs := c.Runs(workload, variant)
	for i := range runs {
		if runs[i].Archive {
			runs[i].CoreSeconds += archive / float64(uses)
		}
	}
	return runs
}

// slacksOf are those of the paced runs, in order.
func slacksOf(runs []benchline.Run) []int {
	var out []int
	for _, r := range runs {
		if r.Slack != nil && !slices.Contains(out, *r.Slack) {
			out = append(out, *r.Slack)
		}
	}
	slices.Sort(out)
	return out
}

// errorsOf are the signed errors at the exit, of runs that have a deadline.
func errorsOf(runs []benchline.Run) []float64 {
	var out []float64
	for _, r := range runs {
		if pct, ok := r.ErrorPct(); ok {
			out = append(out, pct)
		}
	}
	return out
}

// plannersOf are the errors that the planner itself has reported.
func plannersOf(runs []benchline.Run) []float64 {
	var out []float64
	for _, r := range runs {
		if r.Planner != nil {
			out = append(out, *r.Planner)
		}
	}
	return out
}

// lateOf counts the errors that are late.
func lateOf(errs []float64) benchline.Measured {
	return countOf(errs, func(e float64) bool { return e < 0 })
}

// countOf counts those of at least one error that are such; its spread is that of a single
// run's count.
func countOf(errs []float64, such func(float64) bool) benchline.Measured {
	ones := make([]float64, 0, len(errs))
	sum := 0.0
	for _, e := range errs {
		one := 0.0
		if such(e) {
			one = 1
		}
		sum += one
		ones = append(ones, one)
	}
	return benchline.Measured{Value: sum, N: len(errs), Spread: [2]float64{slices.Min(ones), slices.Max(ones)}}
}

// overall are the figures over all workloads, each of which has its runs: of deadlines
// those of the source's workloads at +20 and +40 %, of pacing's core-seconds all. There
// are none while one of the source's workloads has not run under a deadline: what some of
// them give has not that name.
func overall(all []workload, variant string, runs func(w workload) []benchline.Run) []figure {
	var errs, ratios []float64
	for _, w := range all {
		of := runs(w)
		if w.source && !slices.ContainsFunc(of, func(r benchline.Run) bool { _, ok := r.ErrorPct(); return ok }) {
			return nil
		}
		full := values(of, coreSeconds, basis, fullOne)
		for _, r := range of {
			pct, ok := r.ErrorPct()
			if !ok {
				continue
			}
			if w.source && (*r.Slack == 20 || *r.Slack == 40) {
				errs = append(errs, pct)
			}
			if len(full) > 0 {
				ratios = append(ratios, r.CoreSeconds/benchline.Median(full).Value)
			}
		}
	}
	var out []figure
	if len(errs) > 0 {
		amounts := make([]float64, 0, len(errs))
		for _, e := range errs {
			amounts = append(amounts, math.Abs(e))
		}
		out = append(out, figure{at("deadline.exit_error_pct.mean", variant), benchline.Mean(amounts), "%"},
			figure{at("deadline.exit_error_pct.worst", variant), benchline.Farthest(errs), "%"},
			figure{at("deadline.late.all", variant), lateOf(errs), "runs"})
	}
	if len(ratios) > 0 {
		out = append(out, figure{at("pacing.core_seconds_ratio", variant), benchline.Median(ratios), "ratio"})
	}
	return out
}

// goals bound what is measured; figures without one are there to explain others.
func goals() []benchline.Goal {
	most := func(pattern string, bound float64) benchline.Goal {
		return benchline.Goal{Pattern: pattern, Least: math.Inf(-1), Most: bound, Text: fmt.Sprintf("at most %g", bound)}
	}
	least := func(pattern string, bound float64) benchline.Goal {
		return benchline.Goal{Pattern: pattern, Least: bound, Most: math.Inf(1), Text: fmt.Sprintf("at least %g", bound)}
	}
	between := func(pattern string, from, to float64) benchline.Goal {
		return benchline.Goal{Pattern: pattern, Least: from, Most: to, Text: fmt.Sprintf("%g to %g", from, to)}
	}
	return []benchline.Goal{
		most("deadline.exit_error_pct.mean", 1), between("deadline.exit_error_pct.worst", 0, 2), most("deadline.late.all", 0),
		most("deadline.late.*.20", 0), most("deadline.late.*.40", 0), between("deadline.exit_error_pct.*.20", 0, 2), between("deadline.exit_error_pct.*.40", 0, 2),
		most("overhead.wall_ratio", 1.02), most("overhead.core_seconds_ratio", 1.02), most("pacing.core_seconds_ratio", 1.03),
		most("contention.bench1.edf-pure.late", 0), most("contention.bench1.auto.late", 0), most("contention.bench1.edf-pure.mean_abs_error_pct", 2),
		most("contention.bench1.auto.mean_abs_error_pct", 2), most("contention.bench1.edf-all.makespan_ratio", 1.05), most("contention.bench1.stock-*.met", 2), most("contention.bench2.*.late", 0),
		least("contention.bench3.auto*.met_ratio*", 1),
		between("contention.beside_unpaced.error_pct", 0, 3), most("contention.beside_unpaced.late", 0), most("contention.beside_unpaced.outside", 0), least("contention.beside_unpaced.used_pct", 95),
		most("sim.contention.bench1.*.late", 0), most("sim.contention.bench1.edf-pure.g0.mean_abs_error_pct", 2),
		most("sim.contention.bench1.auto.g0.mean_abs_error_pct", 2), most("sim.contention.bench1.edf-all.g1.makespan_ratio", 1.05),
		most("sim.contention.bench2.*.g0.late", 0), least("sim.contention.bench3.auto.*.met_ratio", 1),
		most("tls.overhead_ratio", 1.2), most("chaos.broken", 0), most("failover_s.*", 5), most("failover.node_lost_s.*", 10), most("question.register_ms.p99", 50), most("fuzz.crashes", 0), most("soak.rss_slope_mib_h", 4), most("soak.spark_rss_slope_mib_h", 4),
		least("torture.kills", 200), least("torture.partitions", 40), least("torture.node_losses", 20),
		most("torture.lost", 0), most("torture.wrong", 0), most("torture.late_possible", 0), most("torture.orphans", 0),
		least("verdict.feasible_met_ratio", 0.95), least("verdict.feasible", 20), most("verdict.infeasible_spare", 0), most("register.scale_ms.p99", 20),
		most("offheap.shrink_s.median", 2), most("offheap.grow_ms.median", 100), least("offheap.rss_released_pct", 85),
		between("precision.left_pct", 0, 3), most("precision.late", 0),
		between("demo.error_pct.*", 0, 5), most("demo.core_seconds_ratio", 1.1),
		most("plan.scale_own_ms.p99", 1), most("plan.latency_ms.p99", 50), most("plan.scale_rss_mib", 512),
		most("node.step_us.256", 100), most("node.tick_us.200", 1000), most("node.tick_us.256", 1500), most("quota.write_us", 100), least("quota.docker_ratio", 200),
		most("rebind.ms.median", 20), most("rss.planner_mib", 64), most("rss.node_mib", 64), most("rss.node_mib.200", 96),
		most("start.cpu_ratio", 0.7), most("start.wall_ratio", 1.15), between("tail.late_pct", -5, 5), between("tail.virtual_late_pct", -5, 5),
		most("controller.step_ns", 200), least("sim.events_per_s", 500_000), most("sim.hour_10k_s", 300),
	}
}
