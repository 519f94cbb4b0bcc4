// Package dag plans over the stage graph of an application: it divides the time until the
// deadline among the stages, estimates the cores that a stage needs and forecasts whether a
// deadline can be met.
//
// # Concepts
//
//	Graph     the stages of a profile (api.Profile), and what each one waits for
//	Moment    the situation in which a stage gets its deadline
//	split     the rule by which the time left is divided among stages
//	shape     Executors on a node; Open: one executor, and nothing held back
//	Forecast  what a deadline means: verdict, end, stages
//	Standing  how far an application has come
//	leg       a SQL query with all its jobs, or a job that is of none: what a program waits for as one
//
// A stage depends on its parents and on every stage of the job before. Width is the largest
// number of stages that can run side by side. The head before the first stage, the gaps
// between stages, the tail and the driver's exit are fixed costs: no core shortens them.
//
// # Equations
//
// Baresi, Guinea, Leva, Quattrocchi, "Fine-grained Dynamic Resource Allocation for Big-Data
// Applications" (IEEE TSE), sections 4 and 6.2:
//
//	Eq 1  deadline_s = (alpha appDeadline - spentTime)/w_s       StageDeadline
//	Eq 2  w_s = beta |R_s| + (1-beta) d_s                        Weight
//	Eq 3  d_s = sum over r in R_s of duration_r/duration_s       Weight
//	Eq 4  eps_a = 100 (appDeadline-appDuration)/appDeadline      AppError
//	Eq 5  eps_s = 100 |stageDeadline-stageDuration|/appDeadline  StageError
//	Eq 6  estdCores_s = inputRecords_s/(deadline_s nomRate_s)    EstimateCores
//	Eq 7  initCores_s = ceil(estdCores_s/(cq executors_s)) cq    InitCores
//	6.2   anr = sum(nomRate_s w_s)/sum(w_s)                      Graph.Rate
//
// R_s is s and the stages not submitted yet; stages submitted together count in order of id.
// spentTime is the time really spent, the largest sum of gaps on a path to come, tail and
// exit. If Aim is not 0, alpha appDeadline is replaced by
//
//	max(alpha appDeadline, Aim appDeadline - Margin - room - stretch rest)
//
// where rest is what the stages after s take at all cores, stretch is 0.25 and room is what
// the longest task leaves uncertain (aim.go, docs/decisions/004).
//
// # Splits
//
// "paper" is Eq 1-3: stages side by side count as if they ran one after the other. By
// "critical-path" they share the time of their path (docs/decisions/021):
//
//	deadline_s = (alpha appDeadline - spentTime) * work done when s ends / all work left
//
// in a schedule where a constant number of cores, shared in proportion to the work of
// branches, works off all that is left. With fewer Executors than branches it is a list
// schedule: a stage keeps its executor to its end, and a free one goes to the waiting stage
// with the lowest id. A stage that runs alone and could not use all cores in the recorded run
// counts with the time that it took.
//
// Legs have a bound where something in the program has (Params.Legs). A stage gets no more than the part of what is
// left of its leg's time that its duration is of those of what follows it there (Within).
//
// # Feasibility
//
// Forecast walks the graph in time. A stage that is ready gets its deadline and aims at the
// end of
//
//	max(deadline_s, busy_s/min(cmax, tasks, slots), longest task)
//
// with the cores that finish its work then; stages side by side share cmax in proportion to
// these. busy_s, in core-seconds, makes a walk of the recorded shape at all cores take the
// recorded time (recorded.go); without a recorded run alone it is the work.
//
// A deadline D is infeasible if the walk ends after D, and tight if an Open walk, at all
// cores, ends after 0.9 D.
//
// Choose takes the cheapest shape that keeps the deadline with room to spare, given what
// another executor's start and warm-up cost (docs/decisions/009).
//
// # Units and use
//
// Seconds on the application's deadline clock, core-seconds, records per core-second.
// Functions are pure; a Graph never changes and is safe for concurrent use. The caller
// validates Params and matches running stages to the profile (package profiles).
package dag
