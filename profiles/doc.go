// Package profiles makes and uses annotated DAG profiles (api.Profile): what is known of an
// application before it runs. The source is Baresi, Guinea, Leva, Quattrocchi, "Fine-grained
// Dynamic Resource Allocation for Big-Data Applications" (IEEE TSE), sections 3 and 4.
//
// # Concepts
//
//	Recorder    takes down one run, stage by stage
//	annotation  what a profile says of one stage (api.ProfileStage)
//	signature   a hash over a stage's lineage and call site, by which it is recognised in another run:
//	            without numbers, dates, hashes, paths and SQL texts, and the same whether a
//	            shuffle is read merged, split or locally
//	lineage     the same without the call site: by it a stage is recognised whose signature is not there
//	place       of a stage in its SQL query (api.QueryStage): the shape of the query's plan before
//	            adaptive execution (PlanNode.Shape), how many of that shape came before, and
//	            the operator whose output the stage hands on. Two stages of a query may have one,
//	            as a shuffle has and a broadcast of what it wrote
//	Align       says who is whom of a run that is over and a profile
//	Matcher     does the same while a run goes on, stage by stage
//	variant     what the application does in some of its runs (api.Profile.Variants)
//	contended   of a run: beside others, so that its times are not its own; of a profile:
//	            no run alone is known. Head and exit are judged by themselves: a run may
//	            start beside others, and go on alone
//
// # From a run to a profile
//
// A Recorder is told when stages are ready and done, and how much CPU time the nodes saw them
// use. Finish makes a profile of that:
//
//	Head         from the start of the deadline clock to the first stage ready
//	Gap          ready - the latest end of the stage's parents and of the job before
//	Duration     done - ready, at all cores
//	CoreSeconds  CPU time that the stage's cgroups used, at least that of its tasks
//	Records      input records; the number of tasks where Spark counts none
//	NominalRate  Records / CoreSeconds (section 3: nomRate)
//	FixedPart    part of the CPU time that is the same for each task, as the driver found
//	             it; 0 if most work was done outside the tasks' threads
//	TaskCost     CPU time that each task takes whatever it reads, seen at all cores: as the
//	             driver found it, times CoreSeconds / TaskTime where that is less
//	Tail         from the last stage's end to the context's stop
//	Exit         from there to the exit of the driver's process (WithExit): the median of
//	             the ordinary ones among the newest runs, of two the longer
//
// Ids are 0, 1, 2, ... in order of first submission. Parents that did not run are dropped. A
// stage that writes an earlier one's lost output again (StageReady.Repeats; S36 of
// docs/spark.md) is an attempt of that one.
//
// A job of a profile starts after the one before it has ended. So Spark jobs that overlap in
// time, as the inputs of a join under adaptive execution do (S41), are one job of the profile.
// In it a Spark job still follows those that had ended before it began: its stages without
// parents get their last stages as parents.
//
// # From run to run
//
// A profile of n runs gives a new run the weight w (docs/decisions/010):
//
//	new = (1-w) old + w run, w = max(0.3, 1/(n+1))
//
//	Merge   folds a run in: durations of what had all cores (Terms), work and sizes of
//	        the rest, whose durations grow with their sizes; of a contended run work and
//	        sizes only; nothing of a stage that was tried again
//	Learn   has a run go into the variant that it belongs to, or makes it one
//	First   makes a profile of the first run of a name
//	Alone   makes up a contended profile's times from its work
//
// Merge pairs the stages of the run with those of the profile. The graph of the merge is the
// run's: a stage that only the run has enters, one that the run lacks stays where it was
// (Missed) until five runs in a row have lacked it. Between two jobs of the run a job that
// it lacks stays a job; in a job a stage that it lacks comes after what it came after,
// and after its parents. A stage whose parents were skipped keeps those of the profile.
//
// A run belongs to the variant with which it has 80 % of the work in common, of its own and of
// that of the variant's newest run. Shares of variants age as means do (w = 0.3); the likeliest one
// is the profile itself (docs/decisions/040). Rivals tell a run's variant while it goes on.
//
// # From a profile to a run
//
// Each stage of a run has the likeliest annotation of those that are left, or none where it is likelier
// that the profile does not know it. Likelihoods are sums of losses in nats (likeness.go):
//
//	key      its place in a SQL query; its signature; its lineage; else what it reads from
//	parents  whether the stages that it reads from have the annotations that the annotation reads from
//	size     how much it reads, over what is expected: as much more than its annotation as the run so far,
//	         as its parents, or as some stage of late, or no more
//	order    how many annotations would be left out before it, or whether it comes late
//
// A query of the run is one of the profile from its first stage on; where that could be of several, a
// later stage may say that it is another. Of each key the annotations near to
// where the run is are looked at, so that the work per stage does not grow with the profile. A match
// stands unless it was doubtful and a later stage is by far the likelier owner. Further attempts keep
// their annotation. An annotation without a match is awaited (Remaining) until one that reads from it has a match, its
// query has ended, or the order of legs says that its own is left out (owed.go). docs/decisions/038 and 039 have the
// reasons.
//
// Predict scales an annotation to the input that the stage really has (Eq 6: inputRecords).
//
// # Units and use
//
// Seconds on the application's deadline clock, core-seconds, records per core-second.
// Functions are pure. Recorder and Matcher are plain values for one goroutine. The package
// stores and decides nothing: the planner chooses which runs become profiles.
package profiles
