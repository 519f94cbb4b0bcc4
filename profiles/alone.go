package profiles

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Alone returns p with times for an application that no run has shown alone: those of
// its work at all cores. Other profiles are returned as they are.
func Alone(p api.Profile) api.Profile {
	if !p.Contended {
		return p
	}
	p.Stages = slices.Clone(p.Stages)
	for i := range p.Stages {
		p.Stages[i].Duration = alone(p.Stages[i], p.Cores)
	}
	p.Duration = replay(p)
	return p
}

// alone is how long a stage takes for its work on so many cores.
func alone(s api.ProfileStage, cores units.Cores) units.Seconds {
	cores = min(max(cores, 1), units.Cores(s.Tasks)*s.Width())
	return max(leastDuration, s.LongestTask/units.Seconds(s.Width()),
		units.Seconds(float64(s.CoreSeconds)/float64(cores)))
}

// warmed is what a stage as it was before and in a run were merged to with the weight w, where the run had that many
// cold executors. It teaches what warming up takes, on each of them, and not what the stage itself does.
func warmed(merged, before, run api.ProfileStage, cold int, w float64) api.ProfileStage {
	if cold == 0 {
		return merged
	}
	extra := max(leastWork, (run.CoreSeconds-before.CoreSeconds)/units.Work(cold))
	if merged.Warmup = extra; before.Warmup > 0 {
		merged.Warmup = mean(before.Warmup, extra, w)
	}
	merged.CoreSeconds, merged.LongestTask = before.CoreSeconds, before.LongestTask
	merged.NominalRate = rate(merged.Records, merged.CoreSeconds)
	return merged
}
