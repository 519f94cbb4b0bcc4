// Package attached is the runtime of executors that another cluster manager starts and ends: it finds
// them, holds them, bounds what they use, and lets them go. It starts none, stops none and sweeps
// nothing.
//
// # Finding
//
// An executor is a JVM whose command line has one of Spark's main classes of executors, and behind it
// the pairs that its application's driver gave it: --app-id, --executor-id, --driver-url. The
// planner names the executors that are sought (CommandLine). Anybody may have a process show that: the executor is
// the one whose page shows a hash of its driver's secret (api.Attach.Proof). A process is held by an
// open directory of /proc and by its start time: its id may go to another one.
//
// # Groups
//
//	/proc/PID/cgroup                          the group
//	.../container_ID[/...]                    YARN's, one per container: adopted
//	.../podUID/ID[/...], ...-podUID.slice/ID  a kubelet's, one per container: adopted
//	anything else, of YARN                    the NodeManager's own: the container's processes are
//	                                          moved into a group of Pacer's, in the cpu trees alone,
//	                                          where a NodeManager of their user has started them
//
// An adopted group keeps its weight, which tells what is guaranteed (Executor.Guaranteed), and has its
// quota and period back when it is let go (cgroup.Adopted). In v1 CPU time may be counted in a tree where
// the container has no group: there its processes are moved too. In v2 a move would leave a memory limit
// behind: where there is one, the executor is held and not bounded (Executor.Unpaced says why).
//
// The group as it was found is in a file per executor below Config.State before anything is written. Recover
// reads it, and PutBack, which a guard process calls.
//
// # The progress page
//
// The executor's plugin makes it in its working directory and keeps it open, so that no directory is
// shared and it is found in a container's name space too. It is found among the files that the process has open, on a
// file system that answers by itself. It has to be a regular file of a page's size that belongs to the process's user
// and shows what that very process has to. A copy proves nothing. One process is looked at once a second, and then less
// often, whoever seeks it (Executor.OpenPage does not count); looking through /proc takes a twentieth of the time.
//
// # What the caller does
//
// It calls Recover before the first Start, and Start again for as long as that is api.KindNotFound.
// Stop lets an executor go, as Remove does: its process runs on.
package attached
