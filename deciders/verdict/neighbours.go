package verdict

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// neighbours are those beside whom an application is judged.
type neighbours struct {
	// others is how many run on its nodes or wait, promises what they have been promised.
	others   int
	promises []estimate.Promise
	// alone is the verdict without them, where it is infeasible beside them.
	alone api.Verdict
}

// neighboursOf are the neighbours of an application on some nodes.
func neighboursOf(v ledger.View, p estimate.Policy, a *ledger.App, nodes []string) neighbours {
	nodes = slices.Compact(slices.Sorted(slices.Values(nodes)))
	c := neighbours{promises: p.Promised(v, a, nodes)}
	if len(nodes) > 0 {
		for _, b := range v.Waiting() {
			if b.ID != a.ID {
				c.others++
			}
		}
	}
	seen := make(map[api.AppID]bool)
	for _, name := range nodes {
		for _, t := range v.Allocations(name) {
			if t.App.Running() && t.App.ID != a.ID && !seen[t.App.ID] {
				seen[t.App.ID] = true
				c.others++
			}
		}
	}
	return c
}

// Forecast is what a deadline would mean for a profile that starts at that moment on some
// nodes as they are now, with the line that says it. Without nodes it is alone.
func Forecast(v ledger.View, p estimate.Policy, a *ledger.App, q dag.Params, supply dag.Supply, nodes []string,
	at units.Instant) (dag.Forecast, string) {
	c := neighboursOf(v, p, a, nodes)
	supply.Taken = estimate.Taken(c.promises)
	elapsed := a.At(at)
	f := a.Profile.Graph.Forecast(q, a.Promise.Deadline, supply, elapsed)
	if f.Verdict == api.VerdictInfeasible && len(supply.Taken) > 0 {
		supply.Taken = nil
		c.alone = a.Profile.Graph.Forecast(q, a.Promise.Deadline, supply, elapsed).Verdict
	}
	return f, say(v, f, a, elapsed, c) + longExit(&a.Profile.Body) + longer(&a.Profile.Body) + shared(&a.Promise)
}

// An exit is long that takes more than exitSeconds and more than exitShare of the whole run.
const exitSeconds units.Seconds = 10

const exitShare = 0.1

// longExit names an exit that is long and was seen too seldom to tell whether the driver works
// on after its context's stop or hung: it is reckoned with, and may be in doubt.
func longExit(p *api.Profile) string {
	if p.Exit <= max(exitSeconds, exitShare*p.Duration) {
		return ""
	}
	var seen string
	switch len(p.Exits) {
	case 1:
		seen = "in the only run that is known"
	case 2:
		seen = "in one of the two runs that are known"
	default:
		return ""
	}
	return fmt.Sprintf("; %s pass after its context's stop, as %s", finishText(p.Exit), seen)
}

// longerBy is how many times what the likeliest variant takes another one has to take to be named.
const longerBy = 1.1

// longer names the variant of p that takes longest, where this run may turn out to be of it.
func longer(p *api.Profile) string {
	longest := units.Seconds(0)
	for _, v := range p.Variants {
		longest = max(longest, profiles.Alone(v).Duration)
	}
	switch {
	case longest <= longerBy*p.Duration:
		return ""
	case len(p.Variants) == 1:
		return "; its other variant takes " + finishText(longest)
	}
	return "; another variant of it takes " + finishText(longest)
}

// say is the line for the user about a forecast.
func say(v ledger.View, f dag.Forecast, a *ledger.App, elapsed units.Seconds, c neighbours) string {
	full := "all cores would finish in " + finishText(f.FullCores)
	if len(c.promises) > 0 {
		full = "all that is left would finish in " + finishText(f.FullCores)
	}
	deadline := a.Promise.Deadline
	if !(deadline > 0) {
		return "no deadline: " + full + c.beside()
	}
	text := fmt.Sprintf("%s is %s%s: %s", due(v, a), f.Verdict, c.beside(), full)
	if f.Verdict != api.VerdictInfeasible {
		return text + doubt(deadline-elapsed, f.FullCores-elapsed)
	}
	text += ", the earliest feasible deadline is " + earliestText(f.Earliest)
	if c.alone == api.VerdictFeasible || c.alone == api.VerdictTight {
		most := slices.MaxFunc(c.promises, func(x, y estimate.Promise) int { return compareCores(x.Cores, y.Cores) })
		text += fmt.Sprintf("; alone it would be %s, but %s has been promised %.1f cores", c.alone, most.App,
			float64(most.Cores))
	}
	return text
}

// shared is what a verdict's line says of a deadline that is a part of its submission's, "" of others.
func shared(p *ledger.Promise) string {
	if p.Followers == 0 {
		return ""
	}
	contexts := "a context that follows"
	if p.Followers > 1 {
		contexts = fmt.Sprintf("%d contexts that follow", p.Followers)
	}
	return fmt.Sprintf("; it is the part of %s that is not for %s", Deadline(p.Shared), contexts)
}

// doubtful is from how many times what an application takes its deadline is doubted.
const doubtful = 10

// doubt is what a verdict's line says of a deadline that is left for many times what the application
// takes at all cores, "" of others.
func doubt(left, takes units.Seconds) string {
	if times := left / takes; takes > 0 && times >= doubtful {
		return fmt.Sprintf("; that is %.0f times what it takes, and it holds its memory until then", float64(times))
	}
	return ""
}

// beside says how many others there are, "" of none.
func (c neighbours) beside() string {
	switch c.others {
	case 0:
		return ""
	case 1:
		return " beside another"
	}
	return fmt.Sprintf(" beside %d others", c.others)
}

func compareCores(x, y units.Cores) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
