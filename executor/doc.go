// Package executor starts, stops, inspects and recovers executors, and keeps the
// files that belong to them.
//
// # Concepts
//
// A Runtime drives executors: Process runs each as a JVM in its own cgroup and
// session, package docker in a container, Fake plays them for tests; package
// conformance holds all to the same promises. A Handle names an executor for ever: its process id counts only with
// the start time of the process and the boot it happened in. A Layout is the
// directory tree, of which Paths are one executor's part. Command makes the
// command line that turns a JVM into a stock Spark executor.
//
// # How a process starts
//
//	node controller                        shim (the same binary, ShimCommand)
//	  make files, open logs
//	  start, in a new session ------------>  read the request
//	  send the request                       write its id into each cgroup.procs
//	  wait on the status pipe                become the executor's user
//	                                         check what it has to read, chdir
//	  pipe closed: it runs    <------------  exec the program (pipe closes itself)
//	  pipe said why: it does not
//	  save the handle
//
// So the program has no moment outside its group, nobody stands between it and
// the node controller, and every reason for which it cannot start comes back as
// the error of Start. The executor survives its node controller. The next one
// finds it by Recover and can tell whether it runs, but only a parent is told an
// exit code: api.Unknown then. A zombie counts as exited.
//
// A container engine takes the shim's place by ProcessConfig.Launch: what it
// starts is held back until the runtime has its descriptor, and from there on is
// a process like any other, which somebody else reaps.
//
// The runtime starts no goroutine. Inspect polls a descriptor of the process, 1 us
// and no allocation, and reaps what has ended.
//
// # The command line
//
// What stock Spark would start (spark-facts 27), and: an explicit collector and
// ActiveProcessorCount, because a JVM sizes itself once by the CPUs it sees
// (spark-facts 23); malloc settings with which freed off-heap memory goes back
// (spark-facts 7); an environment made from nothing. A collector in the
// application's own options wins. The default is ParallelGC: it has no threads
// beside the application's, whereas what G1 does concurrently is CPU time that
// counts against the quota and is taken from tasks at once. Measured on Spark
// 4.3.0 (2 slots, 1 GiB, 36 million rows hashed, aggregated and sorted, two pairs
// on a loaded machine): 94 and 96 CPU-seconds against 106 and 107 with G1.
//
// What the JIT compiler costs every JVM pays anew, and a paced application has
// more JVMs than one at all cores. Measured with the demonstration's tasks in one
// JVM on two cores: compiler threads 18 and 19 core-seconds by default, 11 and 12
// with CompileThresholdScaling=3 (7 to 10 with 6 and 12, but then tasks take 10 to
// 20 % more); tasks 35.6 and 36.4 core-seconds, 33.4 and 31.5 where they yield to
// the compiler.
//
// A method that is thrown away since it met a branch it had not been compiled for is
// compiled again within a tenth of a second, but on Java 17 callers that were on it
// may enter it by the adapter to the interpreter from then on, until the code sweeper
// has been over them: a third of a task's samples were in that adapter and a sixth in
// the interpreter, and a record cost 1.7 to 3 times as much. By default the sweeper
// starts when code of 1.2 MiB was thrown away, 0.5 % of the code cache. Under a quota
// that takes minutes. Measured with group-by at s = 2 (one task has more than half of
// a stage; recording, a busy machine): by default four of five runs had 2.7 to 5 s of
// that, the heavy task took 7.2 to 9.6 core-seconds and the JVM 58 to 65; with 0.02 %
// none of six had, 4.9 to 7.1 and 52 to 57, 0.4 of them the sweeper's. With 0.1 % all of
// three had it; with 0.005 % none, and the sweeper takes 1.2. Java 20 and later have no
// sweeper: 21 may say once that it ignores the option, later ones are silent.
//
// The class path is Spark's jars as Spark's own scripts have them, the node's
// pacer jar, then SPARK_HOME/conf. What the user puts in front of Spark comes
// first, and then the pacer jar before it, because the layout of the progress
// page is agreed with this node.
//
// A Spark whose version is not the driver's is refused by Command, before a JVM
// finds out in a worse way.
//
// # Class-data archives
//
// An Archive holds the classes of a class path as a JVM lays them out, for other
// JVMs to map instead of reading and verifying them anew (spark-facts 21). It fits
// a JVM of the same build whose class path begins with the same files, unchanged;
// the collector and the heap do not matter below 32 GiB. Its Key is a digest of
// all that, so an archive is never out of date: another Spark has another key. A
// JVM that finds that it does not fit goes on without, and our options keep it
// silent about it.
//
// With nothing of the user's in front, executors begin with what spark-submit
// gives to drivers, and one archive serves both. The wildcard stays: JVMs expand
// it in the directory's order, which is part of the key. A directory rules out
// an archive when it stands in front, not when it stands behind; hence the
// configuration is the last for executors, and a driver with a configuration
// directory has no archive. No jar of Spark's holds a file that is configured
// there.
//
// Rehearsal makes an archive by a training run as the executors' user: a Spark is
// what an application names, so it never runs as root on its own account. An
// archive is code; it is mapped only by its owner, or by all if root owns it.
// Measured on Spark 4.3.0, Java 17: 164 MiB, 40 CPU-seconds to make; of 5369
// classes that an executor loads up to its driver 12 are still read from jars.
//
// # What the caller does
//
// It makes the group before Start and owns its quota until Stop, which lifts it.
// It calls Stop and Start off the tick: they take up to Grace and some 20 ms. It
// calls Remove once an executor has ended, which removes all but its logs, and the
// application's local directories with its last executor there. It prunes logs by
// Retention.Prune, a pure decision over Layout.Logs, and Layout.RemoveLogs. It
// calls Rehearsal.Make when the node has nothing better to do. Its
// main function calls Shim when its first argument is ShimCommand.
//
// The package does not restart executors, does not know when a JVM is ready, and
// chooses no quota. It uses packages cgroup and progress of its own level, for an
// executor is a process in a group with a page.
package executor
