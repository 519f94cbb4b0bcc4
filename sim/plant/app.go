package plant

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// App describes an application that a driver runs.
type App struct {
	// Name is the application's and, if Profile is empty, its profile's.
	Name, Profile string
	// Deadline is 0 for none. Head passes from the start of the deadline clock to
	// the first stage, Tail from the end of the last one to the end.
	Deadline units.Seconds
	// RequireFeasible asks for a refusal of an infeasible deadline.
	RequireFeasible bool
	Head, Tail      units.Seconds
	// Exit passes between its context's stop and the exit of its driver's process, give
	// or take Config.ExitSpread.
	Exit units.Seconds
	// Driver is how many cores of a node its driver takes where it works itself: in
	// head, gaps, tail and exit. It has them before executors do.
	Driver units.Cores
	Mode   api.Mode
	Class  api.Class
	Memory Memory
	// Stages are in order of id; ids and parents are places in the slice.
	Stages []Stage
	// Pace multiplies the rate of all its tasks; 0 is 1. Bend is Plant.Bend for its
	// executors, 0 for the plant's.
	Pace, Bend float64
	// Threads is how many cores each task can use, TaskCPUs how many it says that it does; 0 is 1.
	Threads, TaskCPUs float64
	// ExecutorCores is how many each executor has, 0 for its node's.
	ExecutorCores int
	// Nodes is on how many nodes it has executors; the zero value leaves that to the planner.
	Nodes api.NodeRange
	// Attach says that another cluster manager starts its executors, nil where nodes do.
	Attach *Attach
}

// Grown is a, which reads, does and writes that many times as much.
func (a App) Grown(by float64) App {
	a.Stages = slices.Clone(a.Stages)
	for i := range a.Stages {
		s := &a.Stages[i]
		s.Work *= units.Work(by)
		s.Records, s.Written = int64(by*float64(s.Records)), int64(by*float64(s.Written))
	}
	return a
}

// Stage describes a stage.
type Stage struct {
	Name    string
	Job     int
	Parents []int
	Tasks   int
	// Work is what all its tasks take, in core-seconds at full cores.
	Work units.Work
	// Records is what it reads, Written what it writes.
	Records, Written int64
	// Gap passes in the driver before its tasks are there.
	Gap units.Seconds
	// Zipf is the exponent of its tasks' sizes, 0 for equal ones; Skewed is the
	// share of the work that follows them (0 is all), the rest is equal.
	Zipf   float64
	Skewed units.Fraction
	// Bytes is the share of its tasks' bytes and records that follow the sizes: what a
	// driver weighs them by. 0 is Skewed, so that a byte costs the same in all.
	Bytes units.Fraction
	// Fetch is how long each task waits for its input, without using CPU.
	Fetch units.Seconds
	// Disk and Network are what its tasks read over their machines' disks and networks, where these have rates.
	Disk, Network units.Bytes
	// Read is the share of a task's work in which it reads its records; 0 is all.
	Read units.Fraction
	// Said is what its driver says of it when it is ready: what it is recognised by, and what it is to read. nil
	// is its name and Records.
	Said *api.StageReady
}

// Validate reports every fault of a at once: numbers that are impossible, parents
// that do not come before their stage (so there are no cycles).
func (a App) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	within := func(v, least, most float64) bool { return v >= least && v <= most }
	const long = 1e7
	check(a.Name != "", "an application without a name")
	check(within(float64(a.Deadline), 0, long), "deadline is %v s", float64(a.Deadline))
	check(within(float64(a.Head), 0, long) && within(float64(a.Tail), 0, long) && within(float64(a.Exit), 0, long),
		"head is %v s, tail %v s, exit %v s",
		float64(a.Head), float64(a.Tail), float64(a.Exit))
	check(within(float64(a.Driver), 0, 4096), "the driver takes %v cores", float64(a.Driver))
	check(a.Class.Known(), "class is %q, want one of %v", string(a.Class), api.Classes())
	if err := a.Memory.Validate(); err != nil {
		faults = append(faults, err)
	}
	check(len(a.Stages) > 0, "application %s has no stages", a.Name)
	check(within(a.Pace, 0, 100), "pace is %v", a.Pace)
	check(within(a.Threads, 0, 1024) && within(a.TaskCPUs, 0, 1024), "threads are %v, cpus %v, want 0 to 1024",
		a.Threads, a.TaskCPUs)
	check(a.ExecutorCores >= 0 && a.ExecutorCores <= 1024, "executors have %d cores, want 0 to 1024", a.ExecutorCores)
	check(a.Nodes.Least >= 0 && (a.Nodes.Most == 0 || a.Nodes.Least <= a.Nodes.Most),
		"application %s has executors on %d nodes at least and on %d at most", a.Name, a.Nodes.Least, a.Nodes.Most)
	if t := a.Attach; t != nil {
		check(a.ExecutorCores > 0 && t.Least >= 0 && t.Most >= max(1, t.Least) && t.Most <= api.MostExecutors &&
			within(float64(t.Wait), 0, long), "executors of %d cores from another manager, %d to %d within %v s",
			a.ExecutorCores, t.Least, t.Most, float64(t.Wait))
	}
	check(within(a.Bend, 0, 100), "bend is %v, want 0 to 100", a.Bend)
	for i, s := range a.Stages {
		at := fmt.Sprintf("stage %d: ", i)
		check(s.Tasks > 0 && s.Tasks <= 1e6, "%s%d tasks, want 1 to 1000000", at, s.Tasks)
		check(float64(s.Work) > 0 && float64(s.Work) <= 1e9, "%swork is %v core-seconds", at, float64(s.Work))
		check(s.Records >= 0 && s.Written >= 0 && s.Records < math.MaxInt64/4, "%srecords are negative or too many", at)
		check(s.Disk >= 0 && s.Network >= 0, "%sreads %d and %d bytes", at, s.Disk, s.Network)
		check(within(float64(s.Gap), 0, long) && within(float64(s.Fetch), 0, long), "%sgap is %v s, fetch %v s", at,
			float64(s.Gap), float64(s.Fetch))
		check(within(s.Zipf, 0, 10), "%szipf is %v, want 0 to 10", at, s.Zipf)
		check(within(float64(s.Skewed), 0, 1) && within(float64(s.Bytes), 0, 1) && within(float64(s.Read), 0, 1),
			"%sskewed, bytes or read is not 0 to 1", at)
		if i > 0 {
			check(s.Job >= a.Stages[i-1].Job, "%sjob %d after job %d", at, s.Job, a.Stages[i-1].Job)
		}
		for _, p := range s.Parents {
			check(p >= 0 && p < i, "%sparent %d is not a stage before it", at, p)
		}
	}
	return errors.Join(faults...)
}
