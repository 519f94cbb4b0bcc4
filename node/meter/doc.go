// Package meter estimates how much of a stage executor's share is done, in weight: the
// Do of Eq 9-10, from what the executor's progress page shows and its group has used.
//
// # Concepts
//
//	Page      what an executor's JVM shows of its stages and running tasks
//	share     the part of a stage that one executor runs: api.StageTarget
//	weight    how much work a task is; the mean task of a stage weighs 1
//	large     a task that weighs more than Large
//	long      a task that uses more than Long
//	Meter     the estimate for one target, page by page
//	Settings  what counts: finished tasks only, or running ones too
//
// # Finished and running tasks
//
// Tasks counts the weight of the finished tasks, as the paper does. Work adds, of each
// running task, its weight times
//
//	min(0.95, max(min(r min(1, records read / expected), 4 c), c)), c = CPU time / predicted
//
// where r is the lesser of Settings.Reading and the target's Reading, where that is known.
// Records expected are Records/Weight of the target times the task's weight. The CPU time predicted is Work/Weight
// times the weight, averaged with what the stage's finished tasks here have used. The prediction weighs as much as two
// mean tasks, for it is the group's, with garbage collection and compilation, where a page shows threads. Of the
// finished tasks the last four per slot count; all of them where a large task runs or waits. Records that took hardly
// any CPU time to read stand in a buffer, and count four times that time at most.
//
// # Large tasks
//
// A large task is measured by its records as soon as they can be believed. The target's Reading says in which part of
// such a task's CPU time it reads, and of the last task it is known how many records are left for it. It is taken to
// have up to half of what is left more before it, for as long as most is left (large.go).
//
// # Fixed cost
//
// Each task costs the target's TaskCost whatever it reads, Settings.TaskCost where that is
// not known. So of unequal weights a part goes by the number of tasks: a stage whose large
// tasks come first would seem to be nearly done while many light ones wait. Where earlier
// runs have shown how much of a stage's CPU time does not go with sizes, the weights have
// that part already (api.StageTarget.FixedPart); records are then expected by sizes, without
// it (fixed.go).
//
// # Child processes
//
// Tasks may work in child processes of their executor: PySpark's workers. Where threads have used less than a quarter
// of what the group has used for the stage, that is divided evenly over the running tasks, and their records do not
// count. The JVM has read them long before (children.go).
//
// # Progress never falls
//
// except after a failed task, and when tasks turn out to work in child processes. Observe
// says so, for the control law has to be synchronised then (Eq 19).
//
// # What the caller must do
//
// Refuse what Page.Fault finds. Before each page give Spend what the executor's group has
// used for the stage since the last one, then let Observe see the page. Bound the estimate
// when the target's weight changes. Keep State where the estimate is to outlive the
// process, and give it to New.
//
// Everything here is synchronous and pure; a Meter is for one goroutine.
//
// Equations are those of Baresi et al., "Fine-grained Dynamic Resource Allocation for
// Big-Data Applications" (IEEE TSE).
package meter
