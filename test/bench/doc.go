// Command bench measures Pacer: `go run ./test/bench help` says how. `make bench`, `make
// bench-deadlines`, `make bench-match`, `make bench-queue`, `make bench-sql`, `make
// bench-attach`, `make bench-scale` and `make bench-trust` run parts of it, `make figures` writes docs/figures.md.
//
// # Rows
//
// What is measured is divided into rows. A row takes its figures by itself, and puts them
// into docs/figures.jsonl in the place of the former ones of their names (package benchline);
// `-only` measures some of them. A workload under deadlines is a row with all of its runs,
// so is a benchmark of several applications. Nothing asserts a time: late is reported as
// late, and what was not measured is missing. What Pacer printed and tells at the end of a
// run of Benchmarks 1 to 3 is kept in out/bench/mixes, to look up why an application was
// late.
//
// # Names
//
// In alphabetical order; "W" stands for a workload, "S" for a slack in per cent:
//
//	admission.sim.pythia.met_ratio       40 applications with deadlines, half of them without a profile, on the engines
//	                                     (sim/unknown): of these in time, under pythia over open's mean, n traces
//	admission.sim.all_cores.pythia.*     the same where the load of 1.8 counts work at all cores
//	admission.sim.pythia.all_gain        of all of them in time, more than under open
//	admission.sim.pythia.reserved_met_ratio, .known_met_ratio   under pythia: of those that have a reservation, and of
//	                                     those with a profile that are called feasible, the part that is in time
//	archive.core_seconds                 to make a class-data archive, once for each Spark and Java
//	attach.exit_error_pct.A, .late.A     an application on a YARN of this machine, due 1.4 times what it takes there
//	                                     without Pacer: from its exit to its deadline, median, in per cent; runs late.
//	                                     A_strict is A where YARN gives each container a group with a strict quota
//	attach.core_seconds_ratio.A          the CPU time of its processes, those of YARN's containers too, over that without
//	                                     Pacer, pairs, median
//	attach.answers_differ.A, .found_pct.A, .foreign_tasks.A, .ended_by_us.A   of these runs under Pacer: other answers
//	                                     than without; executors that the node has found; tasks that ran on an executor
//	                                     which their stage never had; executors lost before the end
//	attach.find_s.max.A                  from an executor's registration with its driver until its node has found it
//	attach.quota_ms.p99.A                from the driver's "stage ready" to its executors being held back for it, where
//	                                     no other stage runs
//	attach.left_changed                  of n faults while a quota is in force, ends and kill -9 of node controllers,
//	                                     planners, guards and NodeManagers, which recover, and ends of the application:
//	                                     those after which group, quota, period or weight of an executor or a
//	                                     NodeManager is not as it was found
//	attach.layouts                       layouts of groups that are held and put back, on trees of files
//	auth.cases                           attacks that were refused, each for its reason, on the bus and by each verb, on
//	                                     HTTP, page, disk and process table; n tables
//	auto.changes_per_minute              how often it changes who comes behind others, in scenario flap
//	attacks.tried, .succeeded            tests, and parts of tests, named TestAttack..., each an attack; those that fail
//	flood.ping_ms.p99                    an operator's ping while one principal floods a planner in one of six ways,
//	                                     each for 15 s: the worst of them; .heartbeats_lost of a driver and
//	                                     .connections_cut of all others, in all of them; .rss_mib of the planner
//	loop.turn_ms.p99                     a turn of the planner's loop beside a user who sends as much as it may
//	chaos.seeds, chaos.broken            seeds of simulated worlds on which faults rain, two of each, of them those in
//	                                     which an invariant does not hold or an application does not end
//	contention.B.WAY.late, .met          of the source's Benchmark B under a strategy or on stock Spark: runs late;
//	                                     applications in time in a run, mean
//	contention.B.WAY.mean_abs_error_pct  how far they ended from their deadlines, either way
//	contention.bench1.WAY.makespan_ratio until all are done, over the better stock way of the same round
//	contention.bench3.clairvoyant.met    the most that can be in time for who knows all of them before
//	contention.bench3.WAY.met_ratio      applications in time over the former; WAY ends with .g1 for gamma 1, and is of
//	                                     gamma 0 without
//	contention.beside_unpaced.N.*        a paced application beside N first runs: its error, late runs, runs that are
//	                                     late or over 3 % early, and
//	                                     what the first runs use of what is left of the machine
//	contexts.accepted                    contexts of one submission, one after another on real Spark, that are taken in
//	                                     and finish, of three
//	controller.step_ns, .LAW             a step of the control laws
//	core_seconds.B.W, wall_s.B.W         of the baselines: stock, tuned, full
//	deadline.drift_pct.W                 how much longer tuned stock takes between the paced runs than before them
//	deadline.exit_error_pct.W.S          from the exit of `pacer submit` to its deadline, in per cent of it: early is
//	                                     positive
//	deadline.exit_error_pct.mean, .worst of the eight workloads at +20 and +40 %: mean of the amounts, and the farthest
//	deadline.late.W.S, deadline.late.all runs that exited after their deadline
//	deadline.planner_error_pct.W.S       the same as the planner has it
//	failover_s.median, .worst            from kill -9 of the planner that serves until the one that stands by has stored
//	                                     and answered a request, on three NATS servers
//	failover.node_lost_s.median, .worst  from that kill until the one that stands by knows of a node that it is lost,
//	                                     which has died at the same moment
//	fluid.pace.ORDER.RULES.*             80,000 applications on 100 machines without locality (sim/fluid): a rule over,
//	                                     or less, another one, n traces; .ORDER.RULE.*_pct: what it grants in the mean
//	fluid.pace.fifo_sjf.pending_ratio    applications that wait under flexible, fifo over sjf
//	fluid.pace.preempted.wait_ratio      median wait of the interactive, flexible over flexible-preemptive
//	fluid.run_s                          the longest of these runs, CPU time
//	fluid.tr1.RULE.GENERATOR.CPUS.*      20,000 jobs whose work nobody knows (sim/fluid): part of the deadlines that are
//	                                     met (sdr), of the work in time (ptr), of the work in vain (wtr), Jain of what
//	                                     jobs have of what they can use (jain), n traces
//	fluid.tr1.*_ratio*, .waste, .fairer  of these a rule over another one, least of the generators or as said; the mean
//	                                     WTR where deadlines vary; of how many generators the Jain of a rule is greater
//	fluid.tr1.*.sdr_points.15000         how far a rule's deadlines met are from the oracle's, the farthest generator
//	fluid.tr1_s, fluid.tr1_s.fs          a trace of the source's 159,194 jobs, CPU time: the slowest rule, and fair
//	                                     shares
//	fuzz.execs, fuzz.crashes             inputs that all fuzz targets have tried, n targets, and targets that found one
//	                                     that fails
//	live.changed.exit_error_pct.P        as deadline.exit_error_pct, of a program that has changed since its profile's
//	                                     run (live.go), due after 1.4 times that; live.changed.released: those runs that
//	                                     were let go before they were late
//	beats.lost.VERSION                   executors whose heartbeats have ended, of n accumulators that were read back
//	evict.beat_s.max                     the longest that what a heartbeat asks of the memory manager takes while 400 MiB
//	                                     of blocks are evicted to disk, of five rounds
//	lock.visits_per_task                 looks at sizes of blocks under the scheduler's lock, for each task of a stage of
//	                                     2,000 that reads 2,000 maps, counted by a test of the jar
//	match.right_pct, match.false_pct     stages of changed runs of which it is right, or false, that they are this one
//	                                     of their profile, or none; over the stages of all runs, as each of
//	                                     them becomes ready; n runs
//	pace.changed.late_pct                500 changed runs at +30 % in virtual time: of which part is late
//	pace.changed.mean_abs_error_pct      by how much they end beside their deadline, at exit
//	match.paused_pct                     of which part of those with half of their work known targets were paused
//	pace.same.worse_points               unchanged runs: mean absolute error, less that at commit 77b441e
//	match.over.*                         the same when the run is over
//	node.tick_us.N, node.step_us.N       a node controller's tick with N executors, its engine's part
//	objectstore.calls.WAY                calls of an object store, a gateway on this machine, that a job of one task has,
//	                                     by Hadoop's classic committer (v1, v2), its magic one, or directly
//	objectstore.calls_ratio.WAY, .bytes_ratio.WAY   200 files of 1 MiB: calls over the direct way's, bytes written or
//	                                     copied over the data
//	objectstore.tail_s.WAY               of these, from the last task's end to the job's, at 30 ms a call and 100 ms a
//	                                     MiB that is copied
//	objectstore.late.WAY                 jobs of real Spark that write 200 such files and are late, with a deadline of
//	                                     1.3 times what the direct way takes at all cores
//	objectstore.wrong                    jobs on real Spark with speculation, an executor of each killed, with another
//	                                     output than is right
//	offheap.shrink_s, .grow_ms           from a wish for less, or more, off-heap memory until it is in force, beside
//	                                     blocks and a running sort
//	offheap.rss_released_pct             resident memory that went within 5 s, of what was in use above the new size;
//	                                     .in_use_mib: that much was
//	overhead.*_ratio, overhead.*_ratio.W Pacer at all cores over tuned stock, of the demonstration and of a workload
//	pacing.core_seconds_ratio, .W.S      Pacer with a deadline over Pacer at all cores
//	plan.latency_ms.p99                  from a driver's event to the quota in force
//	question.queue_ms.100x2000           an ask of the queue, a second after the last one, while a hundred wait whose
//	                                     profiles have 2,000 stages, p99
//	plan.scale_ms.*                      a stage event of 1,000 applications on 10,000 nodes, on the disk when it ends
//	plan.scale_own_ms.*                  the CPU time of that
//	register.scale_ms.*                  a registration beside 1,000 applications on 10,000 nodes, on the disk when it
//	                                     ends; register.scale.flexible_ms.* under that rule of the queue
//	airflow.cases, .orphans, .poisoned   tasks of Airflow that are tried, processes that one has left 15 s after its end,
//	                                     runs that a profile knows and that have not succeeded
//	docs.riddles, .long_sentences,       sentences of the pages of users that hide their subject, or have over 30 words;
//	.unexplained, .broken_links          words of Pacer's inside there; links of all documents that lead nowhere
//	docs.blocks_run, .blocks_failed      blocks of the guides that are run in a fresh root, and pages of which one fails
//	docs.tutorial_commands               commands until a first deadline is kept; docs.readme_lines: of README.md
//	docs.keys_documented_pct             keys of the configuration and settings of an application that have a row
//	errors.rows                          faults whose line and exit code a table of tests holds
//	keys.files_per_cluster               files with credentials that an operator makes for all nodes
//	doctor.checks, .broken_found_pct     checks of pacer doctor, and of what is broken for a test the part that it names
//	group.exit_error_pct                 by how much a part of a session ends before its deadline of 1.8 times what it
//	                                     took: the worst of two
//	k8s.build_s, .ready_s                a Kubernetes of one node: until it is built, once, and until its node is ready
//	k8s.exit_error_pct.MODE              by how much an application there ends before its deadline, of 40 % more than it
//	                                     takes; its driver is outside of pods (client) or in one (cluster)
//	k8s.found_pct, .quota_ms.p99         executors that the node controller has found; from a stage ready to its quota
//	k8s.left_changed                     of 20 faults those after which the removal of Pacer left a pod's group otherwise
//	                                     than the kubelet makes it; k8s.answers_differ: runs with other answers than
//	                                     stock Spark's
//	packages.*, image.mib, units.*       sizes of packages and of the image, the same bytes twice, exposure of the units
//	web.kib_gz, web.lines                the page's files compressed, and the lines of ours
//	web.go_lines                         of package web, and of daemon what serves it, comments left out
//	web.requests_first, .elsewhere       requests until 1,000 applications on 500 nodes are shown, and to other servers
//	web.dom_nodes                        elements of that page
//	web.axe_serious, .console_errors,    of its views in both themes: what axe-core calls serious, what the console
//	.csp_violations                      says, and what the Content-Security-Policy does not allow
//	look.predictions_per_s               runs predicted for those who look at 1,000 applications once a second, with 100
//	                                     stage events a second, in the mean of two minutes of virtual time
//	watch.asks_per_s.N                   how often a planner is asked when N pages look, in virtual time
//	watch.kib_per_s, watch.age_s.max     what a page reads of 1,000 applications on 500 nodes whose figures all change;
//	                                     how old what it shows gets, after the planner's word
//	api.documented_pct                   answers of the API that are as openapi.yaml says, n answers of all routes
//	hosts.overloaded_gain_pct.POLICY,    machines that empty themselves (sim/mesh/hosts), means of nine cells: machines
//	hosts.migrations_gain_pct.POLICY     overloaded and moves of VMs under glap, less than under POLICY, n seeds
//	hosts.slav_order_cells               cells of the nine in which SLAV rises from glap over ecocloud and pabfd to grmp;
//	                                     hosts.similarity_pct: how alike what machines have learnt becomes
//	hosts.run_s, .rss_mib                CPU time and memory of 2,000 machines with 8,000 VMs, 700 and 720 rounds
//	glap.live.awake, .late, .lost        of four nodes of which a fifth is needed those that are awake after five
//	                                     minutes (planner.consolidate apply), applications late and tasks lost, n runs
//	mesh.gain_pct.TRACE.LOAD.SYSTEM      Peacock (sim/mesh) beside SYSTEM, n seeds: how much less the mean completion of
//	                                     jobs is; mesh.gain_cells.SYSTEM: cells of 18 in which it is less. no-rotation,
//	                                     fifo and lifo are Peacock without a part; sparrow-estimates has wrong ones
//	mesh.hops.LOAD.WORKERS               how often a task's probe is handed on, those of a job in one message once
//	mesh.killed.N.LOAD.jct_pct, .lost    how much longer jobs take where N of 100 workers are killed, and jobs lost
//	mesh.run_s, .rss_mib                 CPU time and memory of 10,000 workers, 5,000 of Google's jobs, at 300 % load
//	queue.sim.elastic_ratio, .rigid_ratio   100 applications on ten nodes of two units, on the engines (sim/zoe):
//	                                     turnaround under flexible over rigid, fifo, n traces
//	queue.sim.interactive_ratio, .met_gain, .batch_ratio   the same: waits, deadlines met and turnaround under
//	                                     flexible-preemptive over, or less, backfill, edf
//	attach.virtual.late_pct              of 300 applications whose executors another cluster manager starts, beside
//	                                     an oracle (sim/attach): late ones, of those that could be in time
//	attach.virtual.executors_ratio       executors that these have, over the fewest that an oracle needs
//	question.register_ms.*               a registration while another user asks again and again about a profile of 2,000
//	                                     stages; .answer_s: that answer
//	queue.live.start_s.worst             from the command of an application that a person waits for to its first task,
//	                                     beside a long one on both nodes, under flexible-preemptive
//	queue.live.wait_ratio                the median of these over that under backfill, queue.live.backfill_start_s.median
//	quota.*                              to write a quota, and what Docker takes for it
//	rebind.*                             from a stage that is ready to its first task
//	repro.SOURCE.held_ratio              of the n claims of a publication (sim/registry): the part that holds
//	repro.SOURCE.listed_pct              of the numbers that it prints for what Pacer has: those that a claim tries, or a
//	                                     reason says why none does
//	rss.*, start.*, sim.*                memory, starts, the simulator
//	short.error_pct, .25, .50            reports of 40 stages of 0.2 to 1 s with as much driver time, in virtual time:
//	                                     the error at exit, of all and at that slack; short.late: runs late
//	soak.rss_slope_mib_h, .spark_*       of the longest soak, and of the longest on real Spark: how much its resident
//	                                     memory grew by the hour, n samples, with two standard errors either side
//	sim.contention.B.S.gG.*              the same as contention.B at full size in the simulator, with strategy S and
//	                                     gamma G; makespan_ratio is over
//	                                     each in turn for as long as it takes alone
//	profiles.body_bytes                  a packed version of a profile of 30 stages that twelve runs have taught,
//	                                     median of 100
//	profiles.rss_mib                     a planner that goes on from a store of 10,000 such profiles, five versions each
//	growth.error_pct.median, .noisy      the CPU time of stages at three times the input, from what runs at half of it
//	                                     and at all of it say, 100 applications of five stages, in the simulator:
//	                                     where work differs by 1 % from run to run, and by 2 %
//	eventlog.work_error_pct.*            CPU time of stages over 2 core-seconds by an event log, against Pacer's own
//	                                     record of the same run: five programs on real Spark
//	eventlog.first_late, .first_early_pct
//	                                     their first runs by a log alone, due after 1.5 times the logged run: how many
//	                                     are late, and how early the earliest is
//	whatif.live.error_pct.mean           their ends on 1 and 1.5 cores, against what was foretold from two
//	whatif.virtual.*                     drawn applications on 4, 16 and 32 cores, foretold from a run on 8 (whatif.go)
//	prophet.*                            makespans and times of execution under Prophet, less than under others
//	placement.live_ratio                 two applications that wait for a link and two that compute, on two nodes, by the
//	                                     order prophet over least-committed: how long all take (-only live)
//	placement.verdict_error_pct          the verdicts of those that wait beside what they take, alone and beside another
//	placement.norm_ms.10k                the norms of 10,000 nodes for an application of 20 stages
//	trace.s, trace.rss_mib               to read a drawn trace of 15 million instances
//	forecast.coverage_pct.NAME           samples of 600 drawn series within three standard deviations of what was
//	                                     foretold; how often steps and bursts come was chosen with the figures in sight
//	precision.left_pct                   what is left of a deadline of 1.4 times the recorded run when the command has
//	                                     exited: late is negative
//	precision.late                       how many of those runs were late
//	slow_node.exit_error_pct, .late      as deadline.exit_error_pct, on two nodes of which one has a third of its
//	                                     speed, due after 1.4 times what the recorded run took there
//	speculation.saved_s                  how much earlier an application ends in virtual time where the largest task of a
//	                                     stage is copied, which is on a node at a third of its speed (copied.go)
//	speculation.late_saved, .late_made   how many pairs of these runs are late without copies alone, and with them alone
//	sql.exit_error_pct.WAY               as deadline.exit_error_pct, of a report of TPC-H's 22 queries (sql.go),
//	                                     due after 1.4 times what its recorded run took: the same, with other dates in
//	                                     its filters, six queries fewer, six more than its profile has, in reversed and
//	                                     in two drawn orders; sql.late: of all these runs
//	sql.wrong, sql.answers               answers of all runs that are not DuckDB's; of how many queries none was wrong
//	tls.overhead_ratio                   from a stage that is ready to the quota in force with TLS and credentials over
//	                                     without, pair by pair; tls.open_ms, .secured_ms: the two
//	torture.*                            sums over runs of make torture on these sources, n runs, with the least and the
//	                                     most of a run: kills, partitions and
//	                                     node_losses of processes and nodes; applications, of them lost (no answer, and
//	                                     no error of their own) and wrong (another
//	                                     answer than stock Spark's); deadlines that were possible after the faults, of
//	                                     them late_possible; orphans left over
//	tuning.*_ratio, tuning.*_ratio.W     tuned stock over stock as it comes
//	verdict.feasible_met_ratio           of 40 applications that come at load 1.5 in the simulator: in time of those
//	                                     called feasible
//	verdict.met.STRATEGY                 of the 40, those that are in time where cores are divided so, mean
//	verdict.infeasible_spare             called infeasible with over 5 % of the deadline to spare beside what others are
//	                                     promised; .turns: if those
//	                                     could wait as long as they are in time
//	why.unaccounted_pct.max              of applications in simulated worlds with faults: the part of the time from the
//	                                     submission to the exit that the parts of pacer why lack or tell twice
//
// A name with "@" behind it is of what stands there: a size, settings.
//
// # Deadlines and overhead
//
// Three baselines stand side by side. stock is Spark as it comes, on a standalone
// cluster. tuned is the same with all that Pacer gives its executors and drivers: the
// JVM options, archive and environment that executor.Command returns, the off-heap
// memory and the driver's options that Spark's event log has of a run under Pacer.
// full is Pacer at all cores, without a deadline. So tuning, overhead and pacing are
// three ratios. Deadlines are a slack over the median of tuned stock.
//
// Rounds hold one run of each, in an order drawn from the seed of the call; tuned stock
// runs once in each round of paced runs too. Every paced run starts from the profile
// that the runs at all cores have left, so that none learns from another. Figures over all
// workloads are made of those of each, where all are of the same sources.
//
// Wall time is from the start of the command to its exit. Core-seconds are what the
// kernel counts meanwhile in the groups of all of it: the command, drivers, Python
// workers, executors, and Pacer's daemons or Spark's master and worker.
// The making of a class-data archive is not among them: archive.core_seconds has it.
//
// Applications that contend have deadlines by the latest three runs alone on tuned stock,
// one of which each round begins with: the machine's speed differs by more from one quarter
// of an hour to another than by what a deadline is met or missed.
package main
