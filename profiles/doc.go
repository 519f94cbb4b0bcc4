// Package profiles makes and uses annotated DAG profiles (api.Profile): what is
// known of an application before it runs.
//
// # From a run to a profile
//
// A Recorder is told when stages are ready and done and how much CPU time the
// nodes saw them use; Finish turns that into a profile:
//
//	Head         from the start of the deadline clock to the first stage ready
//	Gap          ready - the latest end of what the driver waited for: the
//	             stage's parents and the stages of the job before
//	Duration     done - ready, at all cores
//	CoreSeconds  CPU time that the stage's cgroups used, at least that of its
//	             tasks (which stands in where the nodes saw nothing)
//	Records      input records; the number of tasks where Spark counts none
//	NominalRate  Records / CoreSeconds, in records per core-second (the nomRate
//	             of the source, section 3): a throttled run gives the same
//	Tail         from the last stage's end to the context's stop
//	Exit         from there to the exit of the driver's process (WithExit): the
//	             third quartile of the ordinary ones among the newest runs
//
// Ids are 0, 1, 2, ... in order of first submission; parents that did not run in
// this application are dropped. A stage that writes an earlier one's lost output again
// (StageReady.Repeats) is an attempt of that one. Spark jobs that overlapped in time become one
// job of the profile, because a job of a profile starts after the one before it
// ended: under adaptive execution the two inputs of a join are jobs of their
// own. Inside such a job a Spark job still follows those that had ended before
// it began: its stages without parents get their last stages as parents.
//
// # From run to run
//
// A stage's Even is what the driver found by the line of least squares through its tasks'
// CPU times over their sizes, unless most of its work was done outside their threads. By
// it the next run's weights go with the work rather than with bytes.
//
// Merge ages: a profile of n runs gives a new run the weight 1/(n+1), but never
// less than 0.3, so that the first runs count alike and older ones then fade by
// 0.7 a run. Durations mean "at all cores" and are not averaged across different
// numbers of cores (the new run's count); MergePaced takes from a run that was
// held back only what does not depend on that: work, records, gaps. MergeContended
// takes from a run beside other applications its work and sizes alone; a profile that
// begins with such a run says so (Contended), and Alone makes up its times from its
// work. Warmed tells what a stage uses from what its cold executors do. The shape of
// a profile, its signatures, jobs and parents, never changes by a merge.
//
// # From a profile to a run
//
// A Matcher finds the annotation of a running stage: the k-th stage ready with a
// signature is the k-th of that signature in the profile; a stage submitted
// again keeps its annotation. A stage that finds none is a mismatch. An annotation
// that none has matched while one that runs after it has is a stage that was skipped,
// because what it writes was there or a loop ended early: it is not awaited
// (Remaining). Such a run has another shape, so Merge refuses it. Predict then scales the annotation to the
// input that the stage really has, and Scale a whole profile.
//
// # Units and use
//
// Times are seconds on the application's deadline clock, work is core-seconds.
// Everything is pure; Recorder and Matcher are for one goroutine, and plain JSON
// values, so that a planner can save them and go on after a restart.
//
// The package stores nothing and decides nothing: which runs become profiles is
// the planner's choice (source: Baresi et al., "Fine-grained Dynamic Resource
// Allocation for Big-Data Applications", IEEE TSE, sections 3 and 4).
package profiles
