package meter

import "github.com/sparkpacer/pacer/units"

// Params are the numbers by which a Meter estimates, beside its Settings. They were chosen on recorded histories of
// real runs and on the simulator's tables of skew (docs/decisions/007-progress-is-work.md, 008-longest-chain.md and
// 014-python-workers.md); the source has none of them.
type Params struct {
	// MostOfTask is the most that a running task may count, as a part of it; 0.95: it is not done before it says so.
	MostOfTask float64
	// MostOfLarge is that of a large task whose records say how much of it is done; 0.99: what a twentieth of it is to
	// others is a second to it.
	MostOfLarge float64
	// PriorTasks is how many mean tasks the predicted CPU time of a task is worth against what finished tasks really used;
	// 2. The prediction is that of the cgroup, the page shows that of the task's thread, which is less by garbage
	// collection and compilation, and two finished tasks outweigh it.
	PriorTasks float64
	// RecentRounds is how many tasks per slot the sums of a pace hold; 4: the rate of a stage changes while a compiler
	// works and with the cores in use.
	RecentRounds float64
	// ReadAhead is how far reading may be before the CPU time that it took; 4 times: more than that is read into a buffer,
	// or for another process, and not yet work done.
	ReadAhead float64
	// LeastSize is the size beside the mean one from which records tell how much of a task is done; 0.01.
	LeastSize float64
	// MostFixed bounds the part of the weights that goes by the number of tasks; 0.5.
	MostFixed float64
	// Doubt is by which part the rest of a large task is taken to take longer; 0.05. Unseen is by how much more while most
	// of it is left; 0.5. No cores can make up for it in the end, and what it has won early it gives back.
	Doubt, Unseen float64
	// ChainRounds, ChainWork and ChainShare say when chains are worth a look: few tasks wait per slot (8), their work is
	// little (2 core-seconds per slot), or a task is large beside all that waits (0.1). By the number of tasks alone a
	// stage of tasks of 25 ms would be steered by chains in its last 0.2 s only.
	ChainRounds           int
	ChainWork, ChainShare float64
	// ThreadsLeast is the part of what its executor's group uses for a stage below which its tasks' threads have to be for
	// it to work in child processes; 0.25. ThreadsMost is the part above which it does not any more; 0.4. A JVM that
	// compiles and collects leaves its tasks 0.4 and more of it, one whose tasks wait for Python workers 0.2 and less.
	ThreadsLeast, ThreadsMost units.Work
	// LeastSeen is how many core-seconds the group has to have used before that is judged, and MostSeen how many of the
	// last ones count; 1 and 3. It shows after a second or two, in which the JVM compiles what it sends its workers.
	LeastSeen, MostSeen units.Work
}

// Numbers returns what daemons and the simulator use.
func Numbers() Params {
	return Params{MostOfTask: 0.95, MostOfLarge: 0.99, PriorTasks: 2, RecentRounds: 4, ReadAhead: 4, LeastSize: 0.01,
		MostFixed: 0.5, Doubt: 0.05, Unseen: 0.5, ChainRounds: 8, ChainWork: 2, ChainShare: 0.1,
		ThreadsLeast: 0.25, ThreadsMost: 0.4, LeastSeen: 1, MostSeen: 3}
}

var params = Numbers()
