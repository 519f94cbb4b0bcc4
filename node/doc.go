// Package node is the mind of a node controller: it turns Plans of the planner
// and samples of its executors into quotas, every half second, alone.
//
// # Concepts
//
//	Plan       what the planner wants of this node, whole, with an epoch
//	target     what one stage executor has to reach by when; a Plan holds many
//	control    a target in force: its anchor, progress, controller and grant
//	record     what one executor did for one stage, with or without a target
//	request    rc, the cores that a control law asks for
//	grant      cc, what the supervisor makes of the requests; before rounding
//	quota      the grant as it is written: a multiple of the quantum, or none
//	Sample     what the shell saw; Action what it has to do; Event what it may log
//
// # One tick (design section 4)
//
//	Apply     a Plan acts when it comes: new targets ask for Eq 7 through the
//	          supervisor; no controller steps
//	Step  1   failed actions, executors' states, CPU used, quotas in force, pages
//	      2   each controller computes its request on a page it has not seen,
//	          at the page's timestamp, over the time since its page before (Eq
//	          18); between pages the request stands
//	      3   the supervisor turns all requests into grants under the capacity
//	      4   where a grant is not what the control law takes for granted, it is
//	          told, with the value before rounding (Eq 19)
//	      5   quotas that are a quantum or more away from what is in force
//	      6   a Save if due, starts and stops, a status if due
//
// Where no executor is and none is wanted, slots before the next status have no tick
// (Engine.NextTick).
//
// Equations are those of Baresi et al., "Fine-grained Dynamic Resource Allocation
// for Big-Data Applications" (IEEE TSE); decisions 10.x are design.md's.
//
// # Anchors
//
// A target's Remaining is anchored on this clock when its Rev is first seen, and
// kept for as long as the Rev stays: in later Plans and across restarts. A
// greater Rev moves the anchor to now, and the control law goes on from its
// grant without a jump. An application's deadline is anchored at each new Plan.
//
// A Plan says when its times left were right. For how long it was held up on its way,
// beyond what the quickest one of the last minutes took (transit), is taken off them;
// the clocks of planner and node need not agree, and neither may have been set.
//
// # Progress
//
// Config.Progress says what counts. Tasks: the weight of the finished tasks.
// Work: in addition, of each running task, its weight times
//
//	min(0.95, max(min(0.5 min(1, records read / expected), 4 CPU), CPU)), CPU = CPU used / predicted
//
// Records expected are Records/Weight of the target times the task's weight. CPU
// predicted is Work/Weight times the weight, averaged with what the stage's
// finished tasks here have used, where the prediction weighs as much as two mean
// tasks: the prediction is of the group, garbage collection and compilation
// included, a page shows threads. Of the finished ones the last four per slot count;
// all where a task that runs or waits is heavy (weighs more than two mean ones). 0.5 (Config.Reading) is the part of a task that
// reading stands for: sorts and group-bys have their dearer half before them when
// all is read. What took hardly any CPU time to read stands in a buffer, and
// counts four times that time at most.
//
// A heavy task is measured by its records as soon as they can be believed
// (heavyPart): the profile's Reading says in which part of such a task's CPU time it
// reads, as the page showed it in an earlier run, and of the last task it is known
// how many records are left for it. Its CPU time alone is predicted within a fifth at best. It is
// taken to have up to half of what is left more before it, as long as most is left
// (doubted).
//
// Weights go by bytes, but each task costs Config.TaskCost whatever it reads. So of unequal
// weights a part goes by the number of tasks (evened): otherwise a stage whose heavy
// tasks come first seems to be nearly done while many light ones wait. Where earlier runs
// have shown that much of a stage's CPU time does not go with sizes, the driver has evened
// the weights (the target's Even); records are then expected by sizes, without that part.
//
// Tasks may work elsewhere than in their threads: PySpark's workers are processes of
// their executor's group. Where threads have used less than a quarter of what the
// group has used for the stage (0.4 and more in a JVM that compiles, 0.2 and less
// before Python), what the group uses is divided evenly over the running tasks, and
// their records do not count: the JVM has read them long before (elsewhere.go).
//
// Progress never falls, except after a failed task and when its tasks turn out to
// work elsewhere; then the controller is synchronised with its last grant.
//
// # Capacity
//
// cmax of a tick is min(offered, total - used by others), where others is the
// machine's CPU time less our executors', smoothed over 2 s, and at least half
// of what is offered (capacity.go). It is not rounded.
//
// # Requests and quotas
//
//   - A request is at most the runnable tasks (those that run, or those that are
//     left and find a slot) and the capacity, and at least the floor of 0.10
//     core. Once the set point is 1, or the deadline has passed, it is the most.
//   - A grant of the whole capacity is no quota (Unlimited).
//   - A quota is the multiple of the quantum next to the grant plus what rounding
//     withheld last time; so the sum of the quotas may be above the capacity by
//     half a quantum for each, and by less than another for quotas that are not
//     worth changing. The sum of the grants never is.
//   - No quota, and no part in the division: an executor without a target, one
//     that starts, one whose share is done, one whose page or CPU time was last
//     good 2 s ago.
//   - Low weight: an executor with neither target nor running tasks.
//   - A target without Work is taken for InitCores times its Remaining (Eq 6).
//
// # The longest chain
//
// Where work is measured, the law is told what is left for each slot
// (controller.Chains): the running tasks as the page shows them, and of those that
// wait what the target's Weight and Tasks leave, none of them heavier than the
// heaviest that the driver tells with each task, by the page, or than LongestTask
// where it tells none. That begins eight tasks per slot before the end, or earlier where
// one task is worth a tenth of what waits for each slot.
//
// # Bad samples
//
// A page or a reading of a group whose numbers are negative, none or infinite, a
// page that is older than the one before or more than an interval ahead of now, and
// a group's CPU time that fell are refused: counted, and told once for as long as
// it lasts. What was last good stands, the controller does not step. When the last
// good page or the last good reading is older than Stale (2 s), or the controller
// has refused its inputs for that long, the executor is released to all cores; it
// is controlled again with the next good one (after a controller's refusal, with
// the next target). A counter that fell is the mark for the next reading.
//
// # Interrupted control
//
// After a stale page, a failed quota write or a restart the controller goes on
// from what is in force (Eq 19): the last grant if the quota is its rounding, else
// the quota; if quotas were lifted, the work left over the time left (Eq 6). So a
// restart changes no quota.
//
// # Another writer
//
// A quota that is not the one written is somebody else's (an administrator, or
// docker update, which writes the container's group inside the executor's); it is
// told once, with the writer's name if the shell knows it, and once again only
// after the conflict is over: when ours has been in force for 20 ticks.
// Under Insist ours is written again in the same tick; if that did not last, after
// 4 ticks, then 8, 16, 32 and 64, so that two who insist write once in 32 s in the
// end; from the second time on the controller goes on from what is in force (Eq
// 19). Under Yield nothing is written until the stage ends, is released or gets
// another target: theirs bounds the request, and the controller is told (Eq 19).
// Yielding survives the node controller, which leaves their quota when it stops:
// the next one goes on, unless that quota is no longer in force. How often ours
// was written again does not.
//
// # Hands off
//
// Where an application's mode is observe or off (api.Mode) nothing is written for
// its executors: no quota, no weight, from their start to their end. Observed
// ones are controlled in every other respect: their stages take part in the
// division, so that others get what they would get beside a paced one, and what
// would be in force stands in for what is.
//
// # CPU of a stage
//
// What an executor's group used in a tick belongs to its stages in proportion to
// the CPU time their tasks report for it, else to their running tasks, else to
// the one active last, unless that is over a second ago. The start of a JVM
// belongs to none.
//
// # What the caller must do
//
// Loop does most of it. The daemon has to
//
//   - make Config from Default, with the node's name, Total, Offered, Memory,
//     Host, a new Incarnation and the machine's Boot; load the newest State;
//   - fill Ports: Clock is CLOCK_MONOTONIC, the clock of the pages (Java's
//     System.nanoTime); the Runtime starts JVMs without a quota, recovers those
//     that run before Run is called, and calls Wake when one exits; List shows
//     an executor from Start to Stop; Pages copies a progress.Snapshot into a
//     Page, where records read of tasks are both finished and running ones';
//   - give Calls, where a history is wanted, what copies a Call and does not wait;
//   - map WeightLow and WeightNormal to weights of groups;
//   - let Status and Store be called from goroutines other than Run's: what a
//     tick tells and remembers is encoded beside it, one of a kind at a time;
//   - give Plans to Offer, the reply to a hello (with Status) included;
//   - end the process's health when LastTick is older than a few seconds;
//   - call Run with Leave in a node controller and End in `pacer up`.
//
// An Engine user without Loop calls Step once before it relies on Apply, carries
// actions out in their order (a Save comes before the Start that it remembers;
// quotas come first, for they are urgent and read back), reports what fails in
// the next Sample, and uses State and Status before the next call.
//
// # What it does not do
//
// It knows no file, process, cgroup or network; it does not choose stages,
// deadlines or executors, does not talk to other nodes, and when the planner is
// silent it changes nothing.
package node
