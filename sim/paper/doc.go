// Package paper has the source's experiments on the simulator, beside the source's own
// figures: L. Baresi, S. Guinea, A. Leva, G. Quattrocchi, "Fine-grained Dynamic Resource
// Allocation for Big-Data Applications" (IEEE TSE), section 7, and what was added to it.
//
// # Concepts
//
//	workload    one of the source's eight applications (Workloads)
//	experiment  cases that belong together, of the source or beside them (Tables)
//	case        a workload at a slack, with what differs from the others
//	baseline    the run at all cores that gives a case its profile and its deadline
//	cell        what a case gave under one control law, over its seeds
//	table       the cells of an experiment, as rows and as a plot
//
// A case with seed i runs in two worlds of package sim: one without a deadline, which
// records the profile, and one under the deadline
//
//	D = T (1 + slack)
//
// where T is the baseline's duration. Its error is eps_a of Eq 4, in per cent of the
// deadline and negative when late; stages err by eps_s (Eq 5).
//
// # What is fitted
//
// The bend of each workload's plant is fitted to the source's mean cores (Workloads),
// the share of skewed work to its Table 5, the size of Benchmark 3 to its Table 9. All
// else of the plant is plant.Default.
//
// # What the caller must do
//
// Call Run with the name of an experiment; the same Options give the same Table. Runs of
// the experiment `runs` go as fast as those that were measured on real Spark, whose
// durations are in the directory runs.
package paper
