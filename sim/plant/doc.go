// Package plant is what stands for real machines and real Spark: cores that are shared,
// executors that turn them into work, off-heap memory that moves, and drivers that submit
// stages and start their tasks. It goes from event to event on a clock of package des.
//
// # Concepts
//
//	Plant    what the machines, executors and drivers of one world have in common
//	Config   how executors turn cores into work
//	Machine  a node's hardware, and the executors on it
//	Process  an executor's JVM: its cores, its tasks, its progress page
//	Pools    the off-heap memory of a Process that declares a heap, with its group's limit
//	Driver   an application's driver without its conversation with a planner
//	App      an application: its stages, and what its tasks take
//	Manager  another cluster manager, which starts the executors that an application asks for (App.Attach)
//
// # How it goes
//
// Between two events everything goes on at a constant speed, so nothing is
// stepped through: a process's timer is set to when something happens next. A
// machine's cores are divided max-min, each executor up to what its running tasks can use
// and its quota; an executor's computing tasks share equally and never have more than
// a core for each of their threads. The work that n of them do in a second is
//
//	f(eff) speed warmth noise,   f(c) = c (1+k)/(1 + k c/C)
//
// where eff follows the cores obtained as Eq 8 says, k is Config.Bend and C the
// slots. A task waits for its dispatch and its fetch first, without using CPU. A
// JVM starts with Start core-seconds, warms up, and stops its tasks for
// collections that cost CPU time; records are read in the first part of a task's
// work. A driver takes cores of its node where it works itself, and ends some time
// after its context's stop. Pages show all this every 100 ms, as the JVM's do.
//
// Where an executor is lost with its outputs, stages whose outputs are still to be read
// run again in part, and those that were reading them fail and come again with what
// they had not done, as in Spark (attempt.go). Tasks of a failed attempt that have fetched are zombies: they hold
// their slots, and take cores, until they end.
//
// # Memory
//
// Executors of an application that declares a heap take heap, overhead and their off-heap
// memory of their node. Pools grow at once; a shrink of d bytes takes
//
//	(b - s/2)/Evict + t/Spill + rest/Evict seconds
//
// where b of it are blocks above half of the s bytes wanted, t what tasks hold and rest what is
// left, after what nobody uses went at once.
//
// # Units
//
// Core-seconds, cores, seconds, bytes. Instants are the clock's; each machine shows its
// own (Machine.Clock).
//
// # What the caller must do
//
// Let the clock's timers fire; have each Driver follow the Directives that it gets, and carry
// what it says to a planner; Launch and Kill executors, set their quotas, and read their
// samples as a node controller does.
//
// # What it does not do
//
// It models no disk, no cache and no speculation of Spark's own. Memory that is short makes nothing slower:
// what is evicted and spilled is counted. Output of a zombie is thrown away, of which Spark takes outputs of
// shuffles. A driver takes no cores for the launch of tasks, and is not slowed by its neighbours.
package plant
