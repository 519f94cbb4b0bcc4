package io.sparkpacer

/**
 * The applications that Pacer is measured with: ordinary Spark programs that know
 * nothing of Pacer, one main class for all ([[Main]]).
 *
 * Five work on key-value records, after the definitions of spark-perf; KMeans,
 * PageRank and SVM are MLlib's and GraphX's own, after SparkBench's. These are the
 * eight applications of Baresi, Guinea, Leva, Quattrocchi, "Fine-grained Dynamic
 * Resource Allocation for Big-Data Applications" (IEEE TSE), section 7.1 and Table 2;
 * records drawn by Zipf's law are those of its section 7.1.1. Those are mostly chains of
 * long stages; `diamond` and `short-stages` add what they leave out ([[Shapes]]).
 *
 * Where the originals read files, the data are generated inside the tasks. A datum is
 * a function of the seed and of its index, so the same seed gives the same data
 * however they are partitioned, and the result line of a run can be compared with any
 * other's. The number of stages and tasks depends on the arguments alone.
 *
 * Sizes are counts of data; scale 1 is what stock Spark needs about 60 s for on two
 * cores, from spark-submit to the end of the context.
 */
package object workloads
