package profiles

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// MergeContended is Merge for a run beside other applications: what it took of the
// cores is its own, how long that took is theirs as well. Work and sizes are merged,
// times and the number of cores remain those of old. Its exit is judged by itself
// (api.Profile.ExitContended).
func MergeContended(old, run api.Profile) (api.Profile, error) {
	run.Cores, run.Head, run.HeadContended, run.Tail = old.Cores, old.Head, old.HeadContended, old.Tail
	stages, err := align(old, run)
	if err != nil {
		return api.Profile{}, err
	}
	run.Stages = slices.Clone(run.Stages)
	for i, s := range stages {
		at := slices.IndexFunc(run.Stages, func(r api.ProfileStage) bool { return r.ID == s.ID })
		run.Stages[at].Gap = old.Stages[i].Gap
	}
	return merge(old, run, weights{all: newRunWeight(old)})
}

// Alone returns p with times for an application that no run has shown alone: those of
// its work at all cores. Other profiles are returned as they are.
func Alone(p api.Profile) api.Profile {
	if !p.Contended {
		return p
	}
	p.Stages = slices.Clone(p.Stages)
	for i := range p.Stages {
		s := &p.Stages[i]
		cores := min(max(p.Cores, 1), units.Cores(s.Tasks)*s.Width())
		s.Duration = max(leastDuration, s.LongestTask/units.Seconds(s.Width()),
			units.Seconds(float64(s.CoreSeconds)/float64(cores)))
	}
	p.Duration = replay(p)
	return p
}

// Warmed returns what old and a run were merged to, with the stages that ran on cold
// executors: cold has, by id of a stage of the run, how many of its executors had run
// nothing while another one of their node had. Such a stage teaches what warming up
// takes, on each of them, and not what the stage itself does.
func Warmed(merged, old, run api.Profile, cold map[int]int) api.Profile {
	stages, err := align(old, run)
	if err != nil || len(cold) == 0 {
		return merged
	}
	merged.Stages = slices.Clone(merged.Stages)
	for i, s := range stages {
		executors := cold[s.ID]
		if executors == 0 {
			continue
		}
		m, before := &merged.Stages[i], old.Stages[i]
		extra := max(leastWork, (s.CoreSeconds-before.CoreSeconds)/units.Work(executors))
		if m.Warmup = extra; before.Warmup > 0 {
			m.Warmup = mean(before.Warmup, extra, newRunWeight(old))
		}
		m.CoreSeconds, m.LongestTask = before.CoreSeconds, before.LongestTask
		m.NominalRate = rate(m.Records, m.CoreSeconds)
	}
	return merged
}
