// Package executor starts, stops, inspects and recovers executors, and keeps their files.
//
// # Concepts
//
//	Runtime    drives executors: Process runs each as a JVM in its own cgroup and session,
//	           package docker in a container, package attached holds those of other
//	           managers; Fake plays them for tests
//	Handle     names an executor for ever: process id, start time and boot
//	Layout     the directory tree; Paths are an executor's part
//	Command    makes the command line of a stock Spark executor
//	Users      says whom the executors of each application run as
//	Places     are where an application's Spark and Java may be
//	Archive    a class-data archive; TrainingRun is the training run that makes it
//	Retention  says whose logs go
//
// # How a process starts
//
//	node controller                        shim (the same binary, ShimCommand)
//	  make files, open logs
//	  start, in a new session ------------>  read the request
//	  send the request                       write its id into each cgroup.procs
//	  wait on the status pipe                bound itself; take a view of the files of its own
//	                                         become the executor's user
//	                                         check what it has to read, chdir
//	  pipe closed: it runs    <------------  exec the program (pipe closes itself)
//	  pipe said why: it does not
//	  save the handle
//
// The program never runs outside its group, and whatever keeps it from starting is the error
// of Start. A node controller that dies before the handle is saved leaves a program that nobody
// would stop: Sweep finds it by its group. An executor outlives its node controller. The next one finds it by Recover
// and reports api.Unknown as its exit code, which only a parent is told.
//
// A container engine takes the shim's place by ProcessConfig.Launch. A container is held
// back until the runtime has its descriptor; somebody else reaps it.
//
// The runtime starts no goroutine. Inspect polls a descriptor and reaps what has ended.
//
// # The command line
//
// Command returns what stock Spark would start (docs/spark.md, S4) with additions
// (docs/decisions/022):
//
//	-XX:ActiveProcessorCount  the slots; a JVM sizes itself once, at its start (S24)
//	-XX:+UseParallelGC        unless the application's options choose a collector
//	compiler options          unless they tune the JIT compiler
//	-XX:SweeperThreshold      for Java 17 to 19 (S27)
//	MALLOC_ variables         freed off-heap memory goes back (S28)
//	environment               made from nothing
//
// The class path is Spark's jars as Spark's scripts have them, the node's pacer jar,
// then SPARK_HOME/conf. Jars that the user puts in front of Spark come first, and the pacer jar
// before it: the layout of the progress page is agreed with this node. Command refuses a
// Spark of another version than the driver's.
//
// # Class-data archives
//
// An Archive holds the classes of a class path as a JVM lays them out, for other JVMs to map
// (S30, S31). It fits a JVM of the same build whose class path begins with the same
// unchanged files; its Key is a digest of these. A JVM that it does not fit goes on without
// it, silently.
//
// Unless the user puts something in front, executors' class paths begin as drivers' do, and
// one archive serves both. A directory in front of the jars rules out an archive (S32), so
// executors have the configuration last, and a driver with such a directory has no archive.
//
// A TrainingRun is started as an executor is, by the same runtime and within the same bounds, as a user of its own.
// Where the Spark, the Java or the class path is an application's own it is started as its executors' user. An archive
// is code: it is mapped only by its owner, or by all if root owns it (docs/decisions/013).
//
// # What the caller does
//
//   - It calls Sweep after Recover and before the first Start.
//   - It makes the group before Start and owns its quota until Stop, which lifts it.
//   - It calls Start and Stop off the tick: they take some 20 ms and up to Grace.
//   - It calls Remove once an executor has ended. That removes all but its logs, and the
//     application's local directories with its last executor.
//   - It prunes logs: Retention.Prune decides over Layout.Logs, Layout.RemoveLogs removes.
//   - It chooses when to call TrainingRun.Make.
//   - Its main function calls Shim when the first argument is ShimCommand.
//
// # Confinement
//
// An executor is a stranger to the node controller, to the machine and to other applications
// (docs/decisions/034). Its user is the application's submitter where that is known, else one of a range. Its
// directories are passed through by that user's group alone and belong to the node controller, so that links lead
// nobody astray (Layout). A path that an application names, a home or a class path, is looked at with its user's rights
// (Credential.As). A process has no other groups, no way to more rights, and bounds on processes, open files and core
// dumps. Where its user is in no list of users, or may not reach a Spark that the node lists, it has a mount name space
// in which it is and does. A container has in addition process ids of its own.
//
// The package restarts nothing, does not know when a JVM is ready, and chooses no quota.
package executor
