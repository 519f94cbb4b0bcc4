package estimate

import (
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// least is the least number of cores with which a, which is paced and on that course, is in time from where it stands.
// That is what is left of its work over the time in which stages can run. That is what is left of its deadline without
// the driver's gaps, its tail and its exit. Stages that run side by side have gaps and tails of each other to work in,
// which counts for nothing: so it is rather too much.
func least(now units.Instant, a *ledger.App, c Course) units.Cores {
	left := a.Promise.Deadline - a.At(now) - c.Body.Tail - c.Body.Exit
	work := 0.0
	c.eachLeft(a, func(_ *ledger.Stage, rest float64, gap units.Seconds) {
		work += rest
		left -= gap
	})
	return units.Cores(work / max(float64(left), leastLeft))
}

// unbegun is the prospect of a, which waits and has all of its profile before it: none of its stages is looked at,
// for each one that comes asks about all that wait.
func unbegun(now units.Instant, a *ledger.App) *prospect {
	all, body := a.Profile.Graph.Sums, &a.Profile.Body
	left := float64(a.Promise.Deadline - a.At(now) - body.Tail - body.Exit - all.Gaps)
	return &prospect{least: units.Cores(float64(all.Work) / max(left, leastLeft)),
		fastest: max(float64(body.Tail+body.Exit+all.Durations), leastLeft)}
}

// leastLeft is the time, in seconds, that is taken to be left at least.
const leastLeft = 0.1

// Needed is the least number of cores with which a run by profile p that has not started would be in time: its
// work over the time in which stages can run (least). A longer deadline never needs more.
func Needed(p *ledger.Profile, deadline units.Seconds) units.Cores {
	left, work := deadline-p.Body.Head-p.Body.Tail-p.Body.Exit, 0.0
	for _, s := range p.Graph.Stages() {
		if s.NominalRate > 0 {
			work += float64(s.Records) / float64(s.NominalRate)
			left -= s.Gap
		}
	}
	return units.Cores(work / max(float64(left), leastLeft))
}

// fastest is about the time in which a, which is on that course, ends at all cores from where it
// stands, in seconds: the durations that are recorded of its stages, one after the other.
func fastest(a *ledger.App, c Course) float64 {
	left := float64(c.Body.Tail + c.Body.Exit)
	for _, s := range c.Running(a) {
		annotation, _ := c.Graph.Stage(s.Annotation)
		left += float64(annotation.Duration) * Left(s)
	}
	for _, id := range c.Coming {
		if s, ok := c.Graph.Stage(id); ok {
			left += float64(s.Gap + s.Duration)
		}
	}
	return max(left, leastLeft)
}
