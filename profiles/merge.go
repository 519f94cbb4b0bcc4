package profiles

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// leastWeight is the least that a new run counts against all runs before it.
const leastWeight = 0.3

// Terms are what is known of a run besides its profile, by the ids of its stages (Recorder.Terms).
type Terms struct {
	// Held has the stages that had less than all cores at some moment: what they took is not what they
	// take at all cores.
	Held map[int]bool
	// Cold has on how many executors a stage ran that had run nothing while another one of their node
	// had.
	Cold map[int]int
	// Tried has the stages that were tried again, or repeated, with what their further attempts used: what they took
	// says nothing of a run without that.
	Tried map[int]units.Work
	// End is by how much the run ended after its aim, 0 where that is not known.
	End units.Seconds
	// Day is that on which it ended (2006-01-02), "" where that is not known.
	Day string
}

func (t Terms) tried(id int) bool {
	_, tried := t.Tried[id]
	return tried
}

// Merge returns old with a run folded in: an exponentially aged mean (doc.go) of sizes,
// work and times, and the nominal rates that follow, of each stage that both have. A stage
// that the run alone has enters with what it took; one that the run lacks stays, until
// keptMissed runs in a row have lacked it.
//
// A run at all cores teaches durations; they are the run's alone if it had another number of
// cores, or is the first that was alone (api.Profile.Contended); then gaps and the tail
// are, too. Of a run with stages that were held back the others teach durations, where it had
// old's number of cores. A contended run teaches work and sizes only. A new stage that
// teaches no duration has the one of its work at all cores; the duration of another one grows with its
// input. A stage that was tried again teaches nothing, and its run no gaps.
func Merge(old, run api.Profile, t Terms) api.Profile {
	paced := held(run, t) || len(t.Tried) > 0
	same, w := old.Cores == run.Cores && !old.Contended, newRunWeight(old)
	weight := weights{all: w, durations: w, gaps: w}
	anew := false // The times are the run's.
	switch {
	case run.Contended:
		run.Head, run.HeadContended, run.Tail = old.Head, old.HeadContended, old.Tail
		weight.durations, weight.gaps = 0, 0
	case paced && !same:
		weight.durations = 0
	case !paced && !same:
		weight.durations, anew = 1, true
		if old.Contended {
			weight.gaps = 1
		}
	}
	if len(t.Tried) > 0 {
		weight.gaps = 0
	}
	merged := old
	if anew {
		merged.Cores, merged.Contended = run.Cores, false
	}
	merged.Runs, merged.Habit.Pool = max(0, old.Runs)+1, cmp.Or(run.Habit.Pool, old.Habit.Pool)
	merged.Head, merged.HeadContended = mergeHead(old, run, w)
	merged.Tail = mean(old.Tail, run.Tail, weight.gaps)
	merged.ExecutorStart = meanKnown(old.ExecutorStart, run.ExecutorStart, w)
	merged = mergeExits(merged, run)
	merged.Reordered = learnt(old.Reordered, reordered(old, run), w)
	if Doubt(old) == 0 && Doubt(run) == 0 { // By a guess nobody can be surprised.
		merged.Residuals = differed(old, run, t)
	}
	merged.Stages, merged.Folds, merged.Habit.Stages = nil, nil, nil
	for _, at := range layout(old, run) {
		habit := at.habit(&old, &run, w, t)
		merged = withHabit(merged, at.id, habit)
		weight.growth = habit.Growth
		merged.Stages = append(merged.Stages, at.stage(old, run, merged.Cores, weight, t))
		if n := at.count(&run); n > 1 {
			merged = folded(merged, at.id, n)
		}
	}
	merged.Duration = replay(merged)
	return merged
}

// count is how many stages that place stands for: as many as in the run.
func (at place) count(run *api.Profile) int {
	if at.run < 0 {
		return 1
	}
	return run.Count(run.Stages[at.run].ID)
}

// stage is what the merge has at that place, on so many cores.
func (at place) stage(old, run api.Profile, cores units.Cores, weight weights, t Terms) api.ProfileStage {
	var s api.ProfileStage
	switch {
	case at.run < 0:
		s = old.Stages[at.old]
		s.Missed++
		s.LeftOut = learnt(s.LeftOut, true, weight.all)
	case at.old >= 0 && t.tried(run.Stages[at.run].ID):
		s = asMany(&old, at.old, at.count(&run))
		s.Missed, s.LeftOut = 0, learnt(s.LeftOut, false, weight.all)
	default:
		ran := run.Stages[at.run]
		if t.Held[ran.ID] {
			weight.durations = 0
		}
		switch {
		case at.skipped:
			weight.gaps = 0 // It waited for nothing.
		case at.run == 0 && !at.still:
			weight.gaps = 1 // The time before it is the head.
		}
		if at.old < 0 || old.Stages[at.old].Failed != ran.Failed {
			if s = ran; weight.durations == 0 {
				s.Duration = alone(s, cores)
			}
		} else {
			n := at.count(&run)
			before := asMany(&old, at.old, n)
			weight.work = workWeight(old.Habit.Stages[old.Stages[at.old].ID].Sure, run.Habit.Stages[ran.ID].Sure, weight.all)
			s = warmed(mergeStage(before, ran, n, weight), before, ran, t.Cold[ran.ID], weight.all)
		}
	}
	s.ID, s.Job, s.Parents = at.id, at.job, slices.Clone(at.parents)
	return s
}

// Broken names a stage that failed in run and completes in old, "" for none: such a run does
// less than what old is of.
func Broken(old, run api.Profile) string {
	for i, k := range pairs(old, run) {
		if k >= 0 && run.Stages[i].Failed && !old.Stages[k].Failed {
			return run.Stages[i].Name
		}
	}
	return ""
}

// weights are what a new run counts against all before it.
type weights struct {
	// durations is that of the stages' durations, gaps that of their gaps and of the tail,
	// work that of what a stage uses, all that of everything else.
	all, durations, gaps, work float64
	// growth is how the work of the stage goes with its size.
	growth api.Growth
}

func newRunWeight(old api.Profile) float64 {
	return max(leastWeight, 1/float64(max(0, old.Runs)+1))
}

// mergeHead is the head of a merge, and whether none so far was alone. A head that was alone counts more than any that
// was not; of those that were not the shortest is the nearest.
func mergeHead(old, run api.Profile, w float64) (head units.Seconds, contended bool) {
	switch {
	case old.HeadContended && run.HeadContended:
		return min(old.Head, run.Head), true
	case old.HeadContended:
		return run.Head, false
	case run.HeadContended:
		return old.Head, false
	}
	return mean(old.Head, run.Head, w), false
}

// mergeStage merges stages that stand for n each.
func mergeStage(old, run api.ProfileStage, n int, weight weights) api.ProfileStage {
	w := weight.all
	s := old
	s.Name, s.Tasks, s.Missed, s.LeftOut = run.Name, run.Tasks, 0, learnt(old.LeftOut, false, w)
	s.Signature, s.Lineage = cmp.Or(run.Signature, s.Signature), cmp.Or(run.Lineage, s.Lineage)
	if s.Query = cmp.Or(run.Query, s.Query); n > 1 {
		s.Query = nil
	}
	s.Records = meanCount(old.Records, run.Records, w)
	if uncounted(&run, n) || uncounted(&old, n) {
		// A number of tasks and a number of records have no mean.
		s.Records = run.Records
	}
	s.Bytes = meanCount(old.Bytes, run.Bytes, w)
	s.RecordsWritten = meanCount(old.RecordsWritten, run.RecordsWritten, w)
	s.BytesWritten = meanCount(old.BytesWritten, run.BytesWritten, w)
	// The sum of both is that of the mean size, where it is known how it goes with that.
	was, is := 1.0, 1.0
	if sure(weight.growth) {
		was, is = Grown(weight.growth, grown(old, s, n)), Grown(weight.growth, grown(run, s, n))
	}
	s.Duration = mean(old.Duration*units.Seconds(was), run.Duration*units.Seconds(is), weight.durations)
	s.Gap = mean(old.Gap, run.Gap, weight.gaps)
	s.LongestTask = mean(old.LongestTask, run.LongestTask, weight.work)
	s.TaskCores = max(old.TaskCores, run.TaskCores)
	if weight.durations > 0 {
		s.TaskCores = run.TaskCores // At all cores nothing holds a task back.
	}
	s.Reading = meanKnown(old.Reading, run.Reading, w)
	s.FixedPart = mean(old.FixedPart, run.FixedPart, w)
	s.TaskCost = meanKnown(old.TaskCost, run.TaskCost, weight.durations)
	s.CoreSeconds = mean(old.CoreSeconds*units.Work(was), run.CoreSeconds*units.Work(is), weight.work)
	if weight.work == 0 {
		s.CoreSeconds = old.CoreSeconds * units.Work(Grown(weight.growth, grown(old, s, n)))
	}
	s.NominalRate = rate(s.Records, s.CoreSeconds)
	if weight.durations == 0 {
		s.Duration = old.Duration * units.Seconds(Grown(weight.growth, grown(old, s, n)))
	}
	return s
}

// uncounted reports whether the records of s, which stands for n, are its number of tasks.
func uncounted(s *api.ProfileStage, n int) bool { return s.Records == int64(n)*int64(s.Tasks) }

// grown is how much more a stage reads as merged than it did as old, 1 where that is not known.
func grown(old, merged api.ProfileStage, n int) float64 {
	records := merged.Records
	if uncounted(&merged, n) {
		records = 0
	}
	r, _ := Ratio(old, records, merged.Bytes)
	return r
}

func mean[T ~float64](old, run T, w float64) T {
	return T((1-w)*float64(old) + w*float64(run))
}

// meanKnown is mean of what is 0 where it is not known.
func meanKnown[T ~float64](old, run T, w float64) T {
	switch {
	case old == 0 && w > 0:
		return run
	case run > 0:
		return mean(old, run, w)
	}
	return old
}

func meanCount(old, run int64, w float64) int64 {
	return int64(math.Round((1-w)*float64(old) + w*float64(run)))
}
