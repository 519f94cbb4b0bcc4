package estimate

import (
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Least is the least number of cores with which a, which is paced and on that course, is in
// time from where it stands: what is left of its work over the time in which stages can run.
// That is what is left of its deadline without the driver's gaps, its tail and its exit.
// Stages that run side by side have gaps and tails of each other to work in, which counts
// for nothing: so it is rather too much.
func Least(now units.Instant, a *ledger.App, c Course) units.Cores {
	left := a.Promise.Deadline - a.At(now) - c.Body.Tail - c.Body.Exit
	work := 0.0
	c.eachLeft(a, func(_ *ledger.Stage, rest float64, gap units.Seconds) {
		work += rest
		left -= gap
	})
	return units.Cores(work / max(float64(left), leastLeft))
}

// leastLeft is the time, in seconds, that is taken to be left at least.
const leastLeft = 0.1
