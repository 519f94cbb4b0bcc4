// Package dag plans over the stage graph of an application: it divides the time
// until the deadline among the stages, estimates the cores that a stage needs
// and foretells whether a deadline can be met.
//
// # Concepts
//
// A Graph is built from a profile (api.Profile). A stage depends on its parents,
// and every stage of a job depends on every stage of the job before it, since a
// driver submits its jobs one after the other. Two stages of which neither
// depends on the other can run side by side; Width is the largest number of
// stages that can.
//
// What a driver does between stages (the head before the first one, the gaps,
// the tail after the last one, the driver's exit) takes its time whatever the cores: it is a fixed
// cost that no stage deadline can compress.
//
// # Equations
//
// Numbers are those of Baresi, Guinea, Leva and Quattrocchi, "Fine-grained
// Dynamic Resource Allocation for Big-Data Applications" (IEEE TSE), section 4.
//
//	Eq 1  deadline_s = (alpha appDeadline - spentTime) / w_s        StageDeadline
//	Eq 2  w_s = beta |R_s| + (1 - beta) d_s                         Weight
//	Eq 3  d_s = sum over r in R_s of duration_r / duration_s        Weight
//	Eq 4  eps_a = 100 (appDeadline - appDuration) / appDeadline     AppError
//	Eq 5  eps_s = 100 |stageDeadline - stageDuration| / appDeadline StageError
//	Eq 6  estdCores_s = inputRecords_s / (deadline_s nomRate_s)     EstimateCores
//	Eq 7  initCores_s = ceil(estdCores_s / (cq executors_s)) cq     InitCores
//	6.2   anr = sum(nomRate_s w_s) / sum(w_s)                       Graph.Rate
//
// R_s is s and the stages that are not submitted yet; stages submitted together
// count in order of id. Eq 1 is applied with
//
//	spentTime = time really spent + Overhead(stages not submitted yet)
//
// so what the stages share is alpha appDeadline - spent - gaps to come - tail - exit.
// That is the source's with Aim = 0; otherwise alpha appDeadline is replaced by
//
//	max(alpha appDeadline, Aim appDeadline - Margin - room - stretch rest)
//
// where rest is what the stages after s take at all cores, stretch is 0.25 and
// room is what the longest task leaves uncertain (aim.go). So the last stage,
// for which rest is 0, aims at the deadline but for a small bias, and the stages
// before it leave it the reserve of 1 - alpha, as far as it can use that up.
//
// The overhead is the largest sum of gaps along one path of the stages to come,
// plus tail and exit: gaps of stages that are submitted together pass at once.
//
// Eq 1-3 treat stages that run side by side as if they ran one after the other.
// That is kept for the split named "paper". By the split "critical-path" branches
// share the time of their path: all that is left is worked off by a constant
// number of cores, which stages side by side share in proportion to the work of
// their branches. A stage that runs alone and could not use all cores in the
// recorded run counts with the time that it took there: a chain gets time in
// proportion to its durations.
//
// With Params.Executors fewer than the branches it is a list schedule: a stage keeps
// its executor to its end, and one that comes free goes to the waiting stage with the
// lowest id, as drivers give it. What is left is worked off by the same constant
// number of cores, shared by the stages that have executors. The order moves the end
// only by tails and gaps, since an executor may use all its node's cores; the walk
// below shows by how much. Another way to divide the time is one more file and one more
// row in the table of split.go.
//
// # Feasibility
//
// Forecast walks the graph in time. Each stage gets its deadline when it becomes
// ready and is aimed at the end of
//
//	max(deadline_s, busy_s / min(cmax, tasks, slots), longest task)
//
// It asks for the cores that finish its work then; stages that run side by side
// share cmax in proportion to what they ask for, and ask anew whenever a stage
// becomes ready, ends or passes its aim. Stages wait in it for executors as above.
//
// busy_s is what the stage keeps busy, in core-seconds: not its work, but what makes
// a walk at all cores take the time that the recorded run took (recorded.go), so that
// the forecast of the recorded shape is the recorded time. A profile that no run
// alone has recorded has no such times; its stages keep busy what they work.
//
// A deadline D is infeasible if the walk ends after D, tight if a walk at all cores
// in the recorded shape, all stages on one executor of a node, ends after 0.9 D.
// Comparing Eq 6 with cmax stage by stage would be too coarse: feasible cases ask for
// up to a third more than all cores for a while.
//
// # Shape
//
// Stages that are held to their deadlines side by side need executors of their own.
// Each beside the first one starts, and warms up for the first stage on it; what that
// costs comes from the profile, or where no run has shown it from a prior. Choose
// finds the cheapest shape that keeps the deadline with room to spare: turns on one
// executor, more executors, or none held back at all (Params.Open).
//
// # Units and use
//
// Times are seconds on the application's deadline clock, work is core-seconds,
// rates are records per core-second. Everything is pure and synchronous; a Graph
// never changes and is safe for concurrent use. The caller validates Params.
//
// The package does not match running stages to profiles (package profiles does),
// knows no nodes and steers nothing once a stage runs.
package dag
