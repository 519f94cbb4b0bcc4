package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/devices"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// Forecast is what a deadline would mean for a case that starts at that moment by q, with the line that
// says it. Without nodes it is alone.
func Forecast(v ledger.View, c estimate.Case, q dag.Params, at units.Instant) (dag.Forecast, string) {
	if q = c.Reserved(q); Suspected(c.App) {
		q.Open, q.Executors = true, 0
	}
	a, f, alone := c.App, c.Forecast(q, at), api.Verdict("")
	if f.Verdict == api.VerdictInfeasible && len(c.Promises) > 0 {
		alone = c.Alone().Forecast(q, at).Verdict
	}
	return f, say(v, f, c, a.At(at), alone) + longExit(&a.Profile.Body) + longer(&a.Profile.Body) + shared(&a.Promise) +
		kept(c, f.Verdict) + limited(a) + bound(c.Bounds(f.Stages))
}

// toldReserve is from which part of the deadline on what is kept is told.
const toldReserve = 0.01

// kept is what a verdict's line says of what is kept for what nobody foresees, "" of little.
func kept(c estimate.Case, verdict api.Verdict) string {
	r, keeps := c.Reserve()
	switch keep := r.Keep[0]; {
	case !keeps || keep < toldReserve*c.App.Promise.Deadline || verdict == api.VerdictInfeasible ||
		Suspected(c.App):
		return ""
	case r.Runs == 0:
		return fmt.Sprintf("; how much its runs differ is not known: it is aimed %s before the deadline", finishText(keep))
	default:
		return fmt.Sprintf("; earlier runs had up to %.0f %% more than foreseen: it is aimed %s before the deadline",
			100*float64(r.Share), finishText(keep))
	}
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

// say is the line for the user about a forecast of c, which would have that verdict alone where it is infeasible.
func say(v ledger.View, f dag.Forecast, c estimate.Case, elapsed units.Seconds, alone api.Verdict) string {
	full := "all cores would finish in " + finishText(f.FullCores)
	if len(c.Promises) > 0 {
		full = "all that is left would finish in " + finishText(f.FullCores)
	}
	a, others := c.App, beside(c.Others())
	deadline := a.Promise.Deadline
	if !(deadline > 0) {
		return "no deadline: " + full + others
	}
	text := fmt.Sprintf("%s is %s%s: %s", due(v, a), f.Verdict, others, full)
	if f.Verdict != api.VerdictInfeasible {
		return text + doubt(deadline-elapsed, f.FullCores-elapsed)
	}
	text += ", the earliest feasible deadline is " + earliestText(f.Earliest)
	if alone == api.VerdictFeasible || alone == api.VerdictTight {
		most := slices.MaxFunc(c.Promises, func(x, y estimate.Promise) int { return cmp.Compare(x.Cores, y.Cores) })
		text += fmt.Sprintf("; alone it would be %s, but %s has been promised %.1f cores", alone, most.App,
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
func beside(others int) string {
	switch others {
	case 0:
		return ""
	case 1:
		return " beside another"
	}
	return fmt.Sprintf(" beside %d others", others)
}

// A neighbour is named that takes this part of a device, and it is half of it within halfway of 0.5.
const (
	toldPart = 0.05
	halfway  = 0.05
)

// Bound says what takes that time at any number of cores: devices, or longest tasks where these bind for longer. It is
// "" where cores bind for longest, and where no rates are known. Stages that nobody has told enough of are said once,
// together.
func Bound(bounds estimate.Bounds) string {
	if !bounds.Rated {
		return ""
	}
	by, longest := map[bool]units.Seconds{}, (*devices.Bound)(nil)
	var cores units.Seconds
	for i := range bounds.Stages {
		switch b := &bounds.Stages[i]; {
		case b.By == devices.BoundCores:
			cores += b.Takes
		default:
			by[b.At != nil] += b.Takes
			if b.At != nil && (longest == nil || b.Takes > longest.Takes) {
				longest = b
			}
		}
	}
	text := ""
	switch moves, tasks := by[true], by[false]; {
	case moves > 0 && moves >= max(tasks, cores):
		text = fmt.Sprintf("%s at any number of cores: %s", finishText(moves), longest.At.Name())
		if app, part := longest.At.Neighbour(longest.Takes); part >= toldPart {
			text += ", " + partText(part) + " of it " + string(app) + "'s"
		}
	case tasks > max(moves, cores):
		text = fmt.Sprintf("%s at any number of cores: %s", finishText(tasks), devices.BoundTask)
	}
	switch {
	case bounds.Untold > 0 && text != "":
		text += "; "
		fallthrough
	case bounds.Untold > 0:
		text += fmt.Sprintf("what %d of its stages read from other hosts is not known yet", bounds.Untold)
	}
	return text
}

func partText(part float64) string {
	if part > 0.5-halfway && part < 0.5+halfway {
		return "half"
	}
	return fmt.Sprintf("%.0f %%", 100*part)
}

// bound is Bound as a part of a verdict's line.
func bound(bounds estimate.Bounds) string {
	if text := Bound(bounds); text != "" {
		return "; " + text
	}
	return ""
}

// BoundOf is Bound of a, which runs and has a profile, from where it stands.
func BoundOf(o *estimate.Outlook, a *ledger.App) string {
	if a.Profile == nil || !a.Running() || a.Promise.Mode == ledger.Unpaced {
		return ""
	}
	return Bound(estimate.BoundsOf(a, o))
}
