package profiles

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// keptExits bounds the exits kept of a profile: enough to tell what is ordinary, and
// few enough to forget a machine that was loaded last week.
const keptExits = 7

// Bounds of an ordinary exit: at most ordinaryTimes the median and ordinaryMore on top.
const (
	ordinaryTimes               = 2
	ordinaryMore  units.Seconds = 1
)

// WithExit returns the profile of a run with what passed between the context's stop
// and the exit of the driver's process.
func WithExit(run api.Profile, exit units.Seconds) api.Profile {
	run = addExit(run, max(0, exit))
	run.Duration = replay(run)
	return run
}

// knowsExit reports whether p knows an exit that was alone, or was told one by hand.
func knowsExit(p api.Profile) bool { return !p.ExitContended && (p.Exit > 0 || len(p.Exits) > 0) }

// mergeExits returns p with the exits of a run. Exits beside others take longer and count only as long as p knows no
// other.
func mergeExits(p, run api.Profile) api.Profile {
	switch {
	case len(run.Exits) == 0 || run.ExitContended && knowsExit(p):
		return p
	case p.ExitContended && !run.ExitContended:
		p.Exits, p.Exit = nil, 0
	}
	p.ExitContended = run.ExitContended
	for _, exit := range run.Exits {
		p = addExit(p, exit)
	}
	return p
}

// addExit adds what one more run took for its exit. An exit written by hand counts as
// one that was seen.
func addExit(p api.Profile, exit units.Seconds) api.Profile {
	exits := slices.Clone(p.Exits)
	if len(exits) == 0 && p.Exit > 0 {
		exits = append(exits, p.Exit)
	}
	exits = append(exits, exit)
	p.Exits = exits[max(0, len(exits)-keptExits):]
	p.Exit = ordinaryExit(p.Exits)
	return p
}

// ordinaryExit is what to reckon with: the median of the ordinary exits, of two the longer
// one, since what is reckoned too short makes a run late. The spread of exits is in the aim's margin already. A driver
// that hangs after its stop once in several runs changes nothing; the only exit there is, or one of two, is believed
// however long it is.
func ordinaryExit(exits []units.Seconds) units.Seconds {
	sorted := slices.Sorted(slices.Values(exits))
	bound := ordinaryTimes*sorted[len(sorted)/2] + ordinaryMore
	ordinary := slices.DeleteFunc(sorted, func(exit units.Seconds) bool { return exit > bound })
	return ordinary[len(ordinary)/2]
}
