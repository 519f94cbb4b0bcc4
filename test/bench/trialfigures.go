package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/test/benchline"
)

// figuresOf are the figures of a workload's runs. What was not measured is not among
// them.
func figuresOf(workload, variant string, runs []outcome) []figure {
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
		of := slices.DeleteFunc(slices.Clone(runs), func(r outcome) bool { return r.way != pacedOne || r.slack != slack })
		suffix := "." + strconv.Itoa(slack)
		errs := errorsOf(of)
		median := benchline.Median(errs)
		median.Each = errs
		add("deadline.exit_error_pct", suffix, median, "%")
		add("deadline.late", suffix, lateOf(errs), "runs")
		used := values(of, coreSeconds, paced, pacedOne)
		if full := work(basis, fullOne); len(full) > 0 {
			ratio := benchline.Ratio(used, full)
			for _, u := range used {
				ratio.Each = append(ratio.Each, u/benchline.Median(full).Value)
			}
			add("pacing.core_seconds_ratio", suffix, ratio, "ratio")
		}
		if planned := plannersOf(of); len(planned) > 0 {
			add("deadline.planner_error_pct", suffix, benchline.Median(planned), "%")
		}
	}
	return out
}

func coreSeconds(r outcome) float64 { return r.coreSeconds }

// walls are the times of runs of some baselines, in seconds.
func walls(runs []outcome, phase string, baselines ...string) []float64 {
	return values(runs, func(r outcome) float64 { return r.wall }, phase, baselines...)
}

func values(runs []outcome, of func(outcome) float64, phase string, baselines ...string) (out []float64) {
	for _, r := range runs {
		if r.phase == phase && slices.Contains(baselines, r.way) {
			out = append(out, of(r))
		}
	}
	return out
}

// slacksOf are those of the paced runs, in order.
func slacksOf(runs []outcome) []int {
	var out []int
	for _, r := range runs {
		if r.way == pacedOne && !slices.Contains(out, r.slack) {
			out = append(out, r.slack)
		}
	}
	slices.Sort(out)
	return out
}

// errorsOf are the signed errors at the exit, of runs that have a deadline.
func errorsOf(runs []outcome) (out []float64) {
	for _, r := range runs {
		if pct, ok := r.errorPct(); ok {
			out = append(out, pct)
		}
	}
	return out
}

// plannersOf are the errors that the planner itself has reported.
func plannersOf(runs []outcome) (out []float64) {
	for _, r := range runs {
		if r.planner != nil {
			out = append(out, *r.planner)
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

// overall are the figures over all workloads, made of those of each that were measured on
// the sources, the Spark and as many cores as one has: of deadlines those of the source's
// workloads at +20 and +40 %, of pacing's core-seconds all. There are none while one of the
// source's workloads has none: what some of them give has not that name. They are of as many
// machines as those are.
func overall(lines []benchline.Line, variant string, origin benchline.Origin) (out []figure, machines int) {
	var errs, ratios []float64
	met, places := map[string]bool{}, map[string]bool{}
	for _, l := range lines {
		name, of, _ := strings.Cut(l.Name, "@")
		parts := strings.Split(name, ".")
		if l.Each == nil || of != variant || len(parts) != 4 ||
			l.Sources != origin.Sources || l.Spark != origin.Spark || l.Cores != origin.Cores {
			continue
		}
		i := slices.IndexFunc(workloads(), func(w workload) bool { return w.name == parts[2] })
		switch {
		case i < 0:
			continue
		case parts[1] == "core_seconds_ratio":
			ratios = append(ratios, l.Each...)
		case workloads()[i].source && (parts[3] == "20" || parts[3] == "40"):
			errs = append(errs, l.Each...)
			met[parts[2]] = true
		}
		places[l.Place()] = true
	}
	for _, w := range workloads() {
		if w.source && !met[w.name] {
			return nil, 0
		}
	}
	return []figure{
		{at("deadline.exit_error_pct.mean", variant), benchline.Mean(amounts(errs)), "%"},
		{at("deadline.exit_error_pct.worst", variant), benchline.Farthest(errs), "%"},
		{at("deadline.late.all", variant), lateOf(errs), "runs"},
		{at("pacing.core_seconds_ratio", variant), benchline.Median(ratios), "ratio"},
	}, len(places)
}

// amounts are errors without their signs.
func amounts(errs []float64) (out []float64) {
	for _, e := range errs {
		out = append(out, math.Abs(e))
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
	exactly := func(pattern string, value float64) benchline.Goal {
		return benchline.Goal{Pattern: pattern, Least: value, Most: value, Text: fmt.Sprintf("%g", value)}
	}
	return []benchline.Goal{
		most("deadline.exit_error_pct.mean", 1), between("deadline.exit_error_pct.worst", 0, 2),
		most("deadline.late.all", 0),
		most("deadline.exit_error_pct.mean@certainty=0.95", 3.5), most("deadline.late.all@certainty=0.95", 0),
		most("deadline.late.*.20", 0), most("deadline.late.*.40", 0), between("deadline.exit_error_pct.*.20", 0, 2),
		between("deadline.exit_error_pct.*.40", 0, 2),
		most("overhead.wall_ratio", 1.02), most("overhead.core_seconds_ratio", 1.02),
		most("pacing.core_seconds_ratio", 1.03),
		most("contention.bench1.edf-pure.late", 0), most("contention.bench1.auto.late", 0),
		most("contention.bench1.edf-pure.mean_abs_error_pct", 2),
		most("contention.bench1.auto.mean_abs_error_pct", 2), most("contention.bench1.edf-all.makespan_ratio", 1.05),
		most("contention.bench1.stock-*.met", 2), most("contention.bench2.*.late", 0),
		least("contention.bench3.auto*.met_ratio*", 1),
		between("contention.beside_unpaced.error_pct", 0, 3), most("contention.beside_unpaced.late", 0),
		most("contention.beside_unpaced.outside", 0), least("contention.beside_unpaced.used_pct", 95),
		most("sim.contention.bench1.*.late", 0), most("sim.contention.bench1.edf-pure.g0.mean_abs_error_pct", 2),
		most("sim.contention.bench1.auto.g0.mean_abs_error_pct", 2),
		most("sim.contention.bench1.edf-all.g1.makespan_ratio", 1.05),
		most("sim.contention.bench2.*.g0.late", 0), least("sim.contention.bench3.auto.*.met_ratio", 1),
		most("auto.changes_per_minute", 2),
		most("tls.overhead_ratio", 1.05), most("chaos.broken", 0), most("failover_s.*", 5),
		least("attacks.tried", 60), most("attacks.succeeded", 0), most("flood.ping_ms.p99", 50),
		most("flood.heartbeats_lost", 0), most("flood.connections_cut", 0), most("flood.rss_mib", 256),
		most("loop.turn_ms.p99", 20),
		most("failover.node_lost_s.*", 10), most("question.register_ms.p99", 50), most("question.queue_ms.100x2000", 20),
		most("fuzz.crashes", 0),
		most("look.predictions_per_s", 250), most("why.unaccounted_pct.max", 1),
		exactly("docs.riddles", 0), exactly("docs.long_sentences", 0), exactly("docs.unexplained", 0),
		exactly("docs.broken_links", 0), exactly("docs.blocks_failed", 0), most("docs.tutorial_commands", 10),
		most("docs.readme_lines", 80), exactly("docs.keys_documented_pct", 100), least("errors.rows", 20),
		exactly("keys.files_per_cluster", 1), most("packages.deb_mib", 30), exactly("packages.reproducible", 1),
		most("image.mib", 60), most("units.exposure.planner", 2), most("units.exposure.node", 7), exactly("upgrade.lost", 0),
		least("airflow.cases", 14), most("airflow.orphans", 0), most("airflow.poisoned", 0),
		between("group.exit_error_pct", 0, 8),
		most("k8s.build_s", 900), most("k8s.ready_s", 90), between("k8s.exit_error_pct.*", -2, 10),
		least("k8s.found_pct", 100), most("k8s.quota_ms.p99", 50), most("k8s.left_changed", 0), most("k8s.answers_differ", 0),
		least("doctor.checks", 18), exactly("doctor.broken_found_pct", 100),
		most("web.kib_gz", 100), most("web.lines", 3000), most("web.go_lines", 900), most("web.requests_first", 25),
		most("web.requests_elsewhere", 0),
		most("web.console_errors", 0), most("web.csp_violations", 0), most("web.axe_serious", 0), most("web.dom_nodes", 6000),
		most("soak.rss_slope_mib_h", 4), most("soak.spark_rss_slope_mib_h", 4),
		least("torture.kills", 200), least("torture.partitions", 40), least("torture.node_losses", 20),
		most("torture.lost", 0), most("torture.wrong", 0), most("torture.late_possible", 0), most("torture.orphans", 0),
		least("verdict.feasible_met_ratio", 0.95), least("verdict.feasible", 20),
		most("verdict.infeasible_spare", 0), most("register.scale_ms.p99", 20),
		most("register.scale.flexible_ms.p99", 20),
		most("offheap.shrink_s.median", 2), most("offheap.grow_ms.median", 100), least("offheap.rss_released_pct", 85),
		between("precision.left_pct", 0, 3), most("precision.late", 0),
		most("plan.scale_own_ms.p99", 1), most("plan.latency_ms.p99", 50), most("plan.scale_rss_mib", 512),
		most("node.step_us.256", 100), most("node.tick_us.200", 1000), most("node.tick_us.256", 1500),
		most("quota.write_us", 100),
		most("rebind.ms.median", 20), most("rss.planner_mib", 64), most("rss.node_mib", 64),
		most("rss.node_mib.200", 96),
		most("start.cpu_ratio", 0.7), most("start.wall_ratio", 1.15),
		least("mesh.gain_cells.sparrow", 16), least("mesh.gain_cells.eagle-thesis", 14),
		least("mesh.gain_pct.google.*.no-rotation", 35), least("mesh.gain_pct.google.*.sparrow-estimates", 0),
		most("mesh.gain_pct.google.20.fifo", 5), most("mesh.gain_pct.google.20.lifo", 5), most("mesh.killed.*.lost", 0),
		most("mesh.killed.*.20.jct_pct", 15), most("mesh.run_s", 300), most("mesh.rss_mib", 1024),
		least("hosts.overloaded_gain_pct.ecocloud", 20), least("hosts.overloaded_gain_pct.*", 40),
		least("hosts.migrations_gain_pct.*", 0), least("hosts.slav_order_cells", 7), least("hosts.similarity_pct", 99),
		most("hosts.run_s", 60), most("hosts.rss_mib", 256),
		most("glap.live.awake", 2), most("glap.live.late", 0), most("glap.live.lost", 0),
		most("attach.virtual.late_pct", 3), most("attach.virtual.executors_ratio", 1.15),
		least("match.right_pct", 99), most("match.false_pct", 0.3), most("match.paused_pct", 1),
		between("attach.exit_error_pct.*", -2, 10), most("attach.core_seconds_ratio.*", 1.15), least("attach.layouts", 14),
		most("attach.answers_differ.*", 0), least("attach.found_pct.*", 100), most("attach.find_s.max.*", 3),
		most("attach.foreign_tasks.*", 0), most("attach.ended_by_us.*", 0), most("attach.left_changed", 0),
		most("attach.quota_ms.p99.*", 50),
		most("pace.changed.late_pct", 2), most("pace.changed.mean_abs_error_pct", 3), most("pace.same.worse_points", 0.1),
		most("heal.runs", 2), between("short.error_pct*", 0, 4), most("short.late", 0),
		least("eventlog.kinds", 20), least("eventlog.complete_pct", 100), least("eventlog.signatures_pct", 100),
		most("eventlog.panics", 0), least("eventlog.python_ratio", 1.5), most("eventlog.rss_mib", 256),
		most("eventlog.work_error_pct.median", 10), most("eventlog.work_error_pct.worst", 30),
		most("eventlog.first_late", 0), between("eventlog.first_early_pct", 0, 10), most("whatif.live.error_pct.mean", 12),
		most("whatif.virtual.error_pct.mean", 3), most("whatif.virtual.error_pct.worst", 8),
		between("whatif.virtual.inside_pct", 85, 96), most("whatif.virtual.promised_late_pct", 5),
		most("profiles.body_bytes", 2500), most("profiles.rss_mib", 512), most("growth.error_pct.median", 5),
		between("prophet.makespan_gain_pct.capacity", 16, 48), between("prophet.makespan_gain_pct.drf", 19.5, 58.5),
		between("prophet.makespan_gain_pct.tetris", 28, 84),
		between("prophet.makespan_gain_pct.prophet-no-backoff", 14, 42), least("prophet.order_ok", 1),
		least("prophet.execution_gain_pct.*", 0.01), most("placement.norm_ms.10k", 20), most("trace.s", 90),
		most("trace.rss_mib", 256), least("forecast.coverage_pct.gp", 97),
		most("knee.sim.error_pct", 10), most("knee.sim.batch_runs", 10), most("knee.sim.runs", 16),
		between("shaping.optimistic.oracle.0.0.failed_pct", 20, 55), most("shaping.pessimistic.oracle.0.0.failed_pct", 0),
		between("shaping.pessimistic.arima.5.0.gain", 4, 11), between("shaping.pessimistic.gp.5.3.gain", 5, 16),
		between("shaping.pessimistic.gp.5.3.slack_pct", 15, 33), most("shaping.gp.failed_ratio", 0.5),
		exactly("shaping.pessimistic.arima.100.0.gain", 1),
		most("slow_node.late", 0), least("speculation.late_saved", 1),
		exactly("slots.used", 2), most("straggler.idle_executors", 0), most("zombie.wait_s.max", 1),
		most("lock.visits_per_task", 5), most("evict.beat_s.max", 0.5), most("beats.lost.*", 0),
		exactly("contexts.accepted", 3),
		between("live.changed.exit_error_pct.*", -2, 10), most("live.changed.released", 0),
		most("sql.late", 0), between("sql.exit_error_pct.same", 0, 3), between("sql.exit_error_pct.dates", 0, 3),
		between("sql.exit_error_pct.fewer", 0, 15), between("sql.exit_error_pct.more", 0, 15),
		between("sql.exit_error_pct.reversed", 0, 15), between("sql.exit_error_pct.shuffled", 0, 15),
		most("sql.wrong*", 0), exactly("sql.answers*", sqlQueries),
		between("fluid.pace.fifo.flexible_malleable.mean_ratio", 0.7, 0.97),
		between("fluid.pace.sjf.flexible_malleable.mean_ratio", 0.7, 1),
		most("fluid.pace.fifo.flexible_rigid.median_ratio", 0.8),
		between("fluid.pace.fifo.malleable.cpu_pct", 74, 76), between("fluid.pace.fifo.malleable.memory_pct", 73, 75),
		least("fluid.pace.fifo_sjf.pending_ratio", 3), least("fluid.pace.preempted.wait_ratio", 30), most("fluid.run_s", 10),
		most("queue.sim.elastic_ratio", 0.85), most("queue.sim.rigid_ratio", 1), most("queue.sim.interactive_ratio", 0.2),
		least("queue.sim.met_gain", 0), most("queue.sim.batch_ratio", 1.15),
		most("knee.live.steps", 1), most("knee.live.runs", 10),
		most("protect.p95_ratio", 1.5), least("protect.idle_pct", 80), least("protect.cached_pct", 90),
		most("lend.turnaround_ratio", 0.75), most("lend.slack_ratio", 0.8), most("lend.late", 0), most("lend.ended", 0),
		most("lend.back_s.max", 10),
		most("cluster.first_task_ratio", 1.25), most("cluster.late", 0), most("cluster.early_pct.max", 5),
		most("cluster.kills_lost", 0), most("cluster.deadlocks", 0), most("component.start_s.p50", 1),
		most("queue.live.start_s.worst", 60), most("queue.live.wait_ratio", 0.6),
		between("fluid.tr1.pythia_fs.sdr_ratio", 2, 6), between("fluid.tr1.pythia_reactive.sdr_ratio", 1.5, 3.5),
		least("fluid.tr1.pythia_oracle.sdr_ratio.least", 0.9), most("fluid.tr1.pythia.waste", 0.02),
		least("fluid.tr1.fs.waste", 0.84), between("fluid.tr1.reactive.waste", 0.1, 0.5),
		least("fluid.tr1.justice_reactive.sdr_ratio.least", 1.2), least("fluid.tr1.justice_fs.sdr_ratio.least", 1.5),
		exactly("fluid.tr1.justice_fs.fairer", 7), least("fluid.tr1.justice_reactive.fairer", 5),
		least("fluid.tr1.justice_reactive.sdr_ratio.*.4500", 1), most("fluid.tr1.*.sdr_points.15000", 3),
		most("fluid.tr1_s", 30), most("fluid.tr1_s.fs", 120),
		least("admission.sim.pythia.met_ratio", 1.5), least("admission.sim.pythia.reserved_met_ratio", 0.75),
		least("admission.sim.pythia.all_gain", 0), least("admission.sim.pythia.known_met_ratio", 0.95),
		most("controller.step_ns", 200), least("sim.events_per_s", 500_000), most("sim.hour_10k_s", 300),
	}
}
