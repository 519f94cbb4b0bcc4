package profiles

import (
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Least values of an annotation: a profile wants positive numbers, and clocks
// show nothing shorter.
const (
	leastDuration units.Seconds = 0.001
	leastWork     units.Work    = 0.001
)

// observed is a stage of a run on its way into a profile. Its place in the list
// of all is its id there.
type observed struct {
	Attempt
	// first is when its first attempt was ready.
	first units.Seconds
	// tries is how many attempts it had, used what all of them used.
	tries int
	used  units.Work
	// parents are places, ascending; group is the job in the profile.
	parents []int
	group   int
}

// span is the time that one Spark job took, first stage ready to last one done.
type span struct {
	from, to units.Seconds
	// last are the places of its stages that no other stage of it reads from.
	last []int
}

// graph fills in parents and groups of the stages of a run.
func graph(stages []observed) {
	place := make(map[int]int, len(stages))
	for i := range stages {
		// Only stages before this one are known here, so a parent that did not
		// run, or ran later, is dropped.
		for _, id := range stages[i].Ready.Parents {
			if p, ran := place[id]; ran {
				stages[i].parents = append(stages[i].parents, p)
			}
		}
		place[stages[i].Ready.Stage] = i
	}
	jobs := spans(stages)
	group(stages, jobs)
	follow(stages, jobs)
	for i := range stages {
		slices.Sort(stages[i].parents)
		stages[i].parents = slices.Compact(stages[i].parents)
	}
}

// spans returns the Spark jobs by their numbers.
func spans(stages []observed) map[int]span {
	read := make(map[int]bool) // places that a stage of the same job reads from
	for i := range stages {
		for _, p := range stages[i].parents {
			if stages[p].Ready.Job == stages[i].Ready.Job {
				read[p] = true
			}
		}
	}
	jobs := make(map[int]span)
	for i := range stages {
		s := &stages[i]
		j, known := jobs[s.Ready.Job]
		if !known {
			j = span{from: s.first, to: s.DoneAt}
		}
		j.to = max(j.to, s.DoneAt)
		if !read[i] {
			j.last = append(j.last, i)
		}
		jobs[s.Ready.Job] = j
	}
	return jobs
}

// group numbers the jobs of the profile: a new one begins with a stage that was
// ready when all Spark jobs before had ended.
func group(stages []observed, jobs map[int]span) {
	number, until := 0, jobs[stages[0].Ready.Job].to
	for i := range stages {
		s := &stages[i]
		if s.first >= until && i > 0 {
			number++
		}
		until = max(until, jobs[s.Ready.Job].to)
		s.group = number
	}
}

// follow makes the stages without parents depend on the Spark jobs of the same
// group that had ended before their own job began.
func follow(stages []observed, jobs map[int]span) {
	for i := range stages {
		s := &stages[i]
		if len(s.parents) > 0 {
			continue
		}
		for _, number := range preceding(jobs, s.Ready.Job) {
			for _, p := range jobs[number].last {
				if p < i && stages[p].group == s.group {
					s.parents = append(s.parents, p)
				}
			}
		}
	}
}

// annotate describes stage i of the run; head is when the first one was ready.
func annotate(stages []observed, i int, head units.Seconds) api.ProfileStage {
	s := &stages[i]
	waited := head
	for _, p := range s.parents {
		waited = max(waited, stages[p].DoneAt)
	}
	for k := range stages[:i] {
		if stages[k].group < s.group {
			waited = max(waited, stages[k].DoneAt)
		}
	}
	work := max(s.Work, units.Work(s.Done.TaskCPU), leastWork)
	records := known(s.Ready.Records, s.Done.RecordsRead, int64(s.Ready.Tasks)*int64(max(1, s.Count)))
	a := api.ProfileStage{
		ID: i, Job: s.group, Name: s.Ready.Name, Signature: s.Ready.Signature, Lineage: s.Ready.Lineage,
		Query: ofQuery(s.Ready.Query), Parents: slices.Clone(s.parents),
		Tasks: s.Ready.Tasks, Failed: s.Done.Failed, Duration: max(leastDuration, s.DoneAt-s.ReadyAt),
		Gap:     max(0, s.first-waited),
		Records: records, Bytes: known(s.Ready.Bytes, s.Done.BytesRead, 0),
		RecordsWritten: max(0, s.Done.RecordsWritten), BytesWritten: max(0, s.Done.BytesWritten),
		CoreSeconds: work, NominalRate: rate(records, work), LongestTask: longestTask(s.Done, work),
		TaskCores: seenCores(s, work), Reading: s.Reading, FixedPart: fixedPart(s.Done, work),
		TaskCost: taskCost(s.Done, work),
	}
	if s.Lane > 0 {
		a.Duration, a.Gap = max(leastDuration, s.Ran), s.Waited
	}
	if s.Count > 1 {
		a.Query = nil // They are of as many queries.
	}
	return a
}

// ofQuery is a stage's place in its query as it is in every run.
func ofQuery(q *api.QueryStage) *api.QueryStage {
	if q == nil {
		return nil
	}
	every := *q
	every.Execution = 0
	return &every
}

// A task that uses several threads is told from one that compiles by the work of the whole stage. So much of it, in
// core-seconds, may be each executor's compiling, and of the rest a task has used more than several cores all the time
// that it ran.
const (
	compiling units.Work  = 5
	several   units.Cores = 1.5
)

// seenCores is how many cores a task of s used on the mean, 0 where that was not more than one thread does.
func seenCores(s *observed, work units.Work) units.Cores {
	if s.Done.TaskTime <= 0 {
		return 0
	}
	work -= compiling * units.Work(max(1, len(s.Ready.Bindings)))
	if cores := units.Cores(work) / units.Cores(s.Done.TaskTime); cores >= several {
		return cores
	}
	return 0
}

// fixedPart is what the driver found of a stage, 0 where most of its work was done outside its
// tasks' threads: of that the driver knows nothing.
func fixedPart(done *api.StageDone, work units.Work) units.Fraction {
	if outside(done, work) {
		return 0
	}
	return done.FixedPart.Clamp()
}

// outside reports whether most of a stage's work was done outside its tasks' threads.
func outside(done *api.StageDone, work units.Work) bool { return 2*units.Work(done.TaskCPU) < work }

// longestTask is what the driver found of a stage's longest task. A task that works outside its thread takes its run
// time less the time that tasks waited, under a quota say.
func longestTask(done *api.StageDone, work units.Work) units.Seconds {
	longest := finite(done.LongestTask)
	if held := units.Work(finite(done.TaskTime)); outside(done, work) && held > work {
		longest *= units.Seconds(work / held)
	}
	return longest
}

// leastTaskCost is what a task takes at least, in core-seconds: its launch, its code, its
// answer.
const leastTaskCost units.Work = 0.005

// taskCost is what the driver found that each task took, less where tasks held their slots
// for longer than the stage used CPU time. 0 where it found nothing.
func taskCost(done *api.StageDone, work units.Work) units.Work {
	cost := units.Work(finite(done.TaskCost))
	if cost == 0 {
		return 0
	}
	if held := units.Work(finite(done.TaskTime)); held > work {
		cost *= work / held
	}
	return max(leastTaskCost, cost)
}

// known returns the first count that is positive, the last one if none is. A count that the driver tells before a stage
// starts comes first: it is all that a later run can be compared by at that moment.
func known(counts ...int64) int64 {
	for _, n := range counts {
		if n > 0 {
			return n
		}
	}
	return counts[len(counts)-1]
}

// pool is the fair scheduler's pool with most of the work, "" where none is known.
func pool(stages []observed) (most string) {
	work := map[string]units.Work{}
	for i := range stages {
		s := &stages[i]
		name := s.Ready.Pool
		if work[name] += s.Work; name != "" && (most == "" || work[name] > work[most]) {
			most = name
		}
	}
	return most
}

// finite returns s, or 0 when s is no time at all.
func finite(s units.Seconds) units.Seconds {
	if !(s > 0) || math.IsInf(float64(s), 1) {
		return 0
	}
	return s
}
