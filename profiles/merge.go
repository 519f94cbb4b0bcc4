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

// Merge returns old with a run at all cores folded in: an exponentially aged
// mean (doc.go) of sizes, work and times, and the nominal rates that follow.
// Durations are the run's alone if it had another number of cores, or is the first
// that was alone (api.Profile.Contended); then gaps and the tail are, too. It returns a
// KindConflict error when the run has another shape: other signatures, jobs or
// signatures of parents; the caller then chooses between the two.
func Merge(old, run api.Profile) (api.Profile, error) {
	w := newRunWeight(old)
	durations := w
	if old.Cores != run.Cores || old.Contended {
		durations = 1
	}
	gaps := w
	if old.Contended {
		gaps = 1
	}
	merged, err := merge(old, run, weights{all: w, durations: durations, gaps: gaps})
	merged.Contended = false
	return merged, err
}

// MergePaced is Merge for a run that did not have all cores: the durations of
// stages and the number of cores remain those of old.
func MergePaced(old, run api.Profile) (api.Profile, error) {
	run.Cores = old.Cores
	w := newRunWeight(old)
	return merge(old, run, weights{all: w, gaps: w})
}

// Replace returns run as the profile in the place of old, which is of another shape. How
// long a start or an exit takes hangs on neither shape: where the run shows only what one
// takes beside others, what old knows better stays.
func Replace(old, run api.Profile) api.Profile {
	if run.HeadContended && !old.HeadContended {
		run.Head, run.HeadContended = old.Head, false
	}
	if run.ExitContended && knowsExit(old) {
		run.Exits, run.Exit, run.ExitContended = slices.Clone(old.Exits), old.Exit, false
	}
	run.Duration = replay(run)
	return run
}

// Broken names a stage that failed in run and completes in old, "" for none: such a run does
// less than what old is of.
func Broken(old, run api.Profile) string {
	left := make(map[string]int)
	key := func(s api.ProfileStage) string { return cmp.Or(s.Lineage, s.Signature) }
	for _, s := range old.Stages {
		if s.Failed {
			left[key(s)]++
		}
	}
	for _, s := range run.Stages {
		if !s.Failed {
			continue
		}
		if left[key(s)]--; left[key(s)] < 0 {
			return s.Name
		}
	}
	return ""
}

// weights are what a new run counts against all before it.
type weights struct {
	// durations is that of the stages' durations, gaps that of their gaps and of the tail,
	// all that of everything else.
	all, durations, gaps float64
}

func newRunWeight(old api.Profile) float64 {
	return max(leastWeight, 1/float64(max(0, old.Runs)+1))
}

// merge folds run into old with those weights.
func merge(old, run api.Profile, w weights) (api.Profile, error) {
	stages, err := align(old, run)
	if err != nil {
		return api.Profile{}, err
	}
	merged := old
	merged.Runs = max(0, old.Runs) + 1
	merged.Cores = run.Cores
	merged.Head, merged.HeadContended = mergeHead(old, run, w.all)
	merged.Tail = mean(old.Tail, run.Tail, w.gaps)
	switch {
	case old.ExecutorStart == 0:
		merged.ExecutorStart = run.ExecutorStart
	case run.ExecutorStart > 0:
		merged.ExecutorStart = mean(old.ExecutorStart, run.ExecutorStart, w.all)
	}
	merged = mergeExits(merged, run)
	merged.Stages = make([]api.ProfileStage, len(stages))
	for i, s := range stages {
		merged.Stages[i] = mergeStage(old.Stages[i], s, w)
	}
	merged.Duration = replay(merged)
	return merged, nil
}

// mergeHead is the head of a merge, and whether none so far was alone. One that was alone
// counts more than any that was not; of those that were not the shortest is the nearest.
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

func mergeStage(old, run api.ProfileStage, weight weights) api.ProfileStage {
	w := weight.all
	s := old
	s.Name, s.Tasks = run.Name, run.Tasks
	s.Lineage = cmp.Or(run.Lineage, s.Lineage)
	s.Parents = slices.Clone(old.Parents)
	s.Records = meanCount(old.Records, run.Records, w)
	if run.Records == int64(run.Tasks) || old.Records == int64(old.Tasks) {
		// A number of tasks and a number of records have no mean.
		s.Records = run.Records
	}
	s.Bytes = meanCount(old.Bytes, run.Bytes, w)
	s.RecordsWritten = meanCount(old.RecordsWritten, run.RecordsWritten, w)
	s.BytesWritten = meanCount(old.BytesWritten, run.BytesWritten, w)
	s.Duration = mean(old.Duration, run.Duration, weight.durations)
	s.Gap = mean(old.Gap, run.Gap, weight.gaps)
	s.LongestTask = mean(old.LongestTask, run.LongestTask, w)
	s.TaskCores = max(old.TaskCores, run.TaskCores)
	if weight.durations > 0 {
		s.TaskCores = run.TaskCores // At all cores nothing holds a task back.
	}
	s.Reading = meanKnown(old.Reading, run.Reading, w)
	s.FixedPart = mean(old.FixedPart, run.FixedPart, w)
	s.TaskCost = meanKnown(old.TaskCost, run.TaskCost, weight.durations)
	s.CoreSeconds = mean(old.CoreSeconds, run.CoreSeconds, w)
	s.NominalRate = rate(s.Records, s.CoreSeconds)
	return s
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

// align returns run's stages in the order of old's, the k-th of a signature beside the k-th and
// what is left by lineage, or an error if the two graphs differ. Stages that run side by
// side may be submitted in another order from run to run.
func align(old, run api.Profile) ([]api.ProfileStage, error) {
	if len(old.Stages) != len(run.Stages) {
		return nil, api.Errorf(api.KindConflict, "profile %s: it has %d stages, the run had %d", old.Name, len(old.Stages),
			len(run.Stages))
	}
	aligned, found, taken := make([]api.ProfileStage, len(old.Stages)), make([]bool, len(old.Stages)),
		make([]bool, len(run.Stages))
	for _, key := range []func(api.ProfileStage) string{bySignature, byLineage} {
		left := make(map[string][]int)
		for k, s := range run.Stages {
			if !taken[k] && key(s) != "" {
				left[key(s)] = append(left[key(s)], k)
			}
		}
		for i, s := range old.Stages {
			if same := left[key(s)]; !found[i] && len(same) > 0 {
				k := same[0]
				aligned[i], left[key(s)], found[i], taken[k] = run.Stages[k], same[1:], true, true
			}
		}
	}
	for i, s := range old.Stages {
		if !found[i] {
			return nil, api.Errorf(api.KindConflict, "profile %s: the run had no stage like %d (%s)", old.Name, s.ID, s.Name)
		}
	}
	for i, s := range old.Stages {
		if s.Failed != aligned[i].Failed {
			return nil, api.Errorf(api.KindConflict, "profile %s: stage %d (%s) failed in one of the two", old.Name, s.ID,
				s.Name)
		}
	}
	key := bySignature
	if lineages(old) && lineages(run) {
		key = byLineage
	}
	for i, s := range old.Stages {
		if rank(old, s.Job) != rank(run, aligned[i].Job) ||
			!slices.Equal(parents(old, s, key), parents(run, aligned[i], key)) {
			return nil, api.Errorf(api.KindConflict, "profile %s: stage %d (%s) depended on others in the run", old.Name, s.ID,
				s.Name)
		}
	}
	return aligned, nil
}

func bySignature(s api.ProfileStage) string { return s.Signature }
func byLineage(s api.ProfileStage) string   { return s.Lineage }

// lineages reports whether the lineage of each stage of p is known.
func lineages(p api.Profile) bool {
	return !slices.ContainsFunc(p.Stages, func(s api.ProfileStage) bool { return s.Lineage == "" })
}

// rank is how many jobs of p come before job: job numbers need not be dense.
func rank(p api.Profile, job int) int {
	n, last := 0, 0
	for i, s := range p.Stages {
		if s.Job >= job {
			break
		}
		if i == 0 || s.Job != last {
			n++
		}
		last = s.Job
	}
	return n
}

// parents returns the keys of a stage's parents in order. Their ids are no measure: of two
// branches alike either may be the first in a run.
func parents(p api.Profile, s api.ProfileStage, key func(api.ProfileStage) string) []string {
	var keys []string
	for _, other := range p.Stages {
		if slices.Contains(s.Parents, other.ID) {
			keys = append(keys, key(other))
		}
	}
	slices.Sort(keys)
	return keys
}
