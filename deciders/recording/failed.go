package recording

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// slower is by how many times what it takes at all cores something has to have taken longer to count as held back.
const slower = 1.05

// failed says what the failure of a's run says of old, its profile; did is "" where it says nothing. A paced run that
// was slower than at all cores is suspected of having failed by that. One at all cores that fails, too, clears the
// last one: its program does not fail by pacing.
func failed(v ledger.View, a *ledger.App, old api.Profile) (did string, learnt api.Profile) {
	switch times := slowed(a); {
	case !ofItself(&a.Outcome):
	case atAllCores(a) && old.Habit.Suspected > 0:
		old.Habit.Suspected = 0
		return Cleared, old
	case !atAllCores(a) && times > 0 &&
		slices.ContainsFunc(a.Order, func(s *ledger.Stage) bool { return heldBack(v, a, s) }):
		if old.Habit.Suspected = times; old.Habit.FailedAt > 0 && times >= old.Habit.FailedAt {
			// Its bound has not helped, so something else is waited for than was seen.
			old.Habit.Suspected = halved(old.Habit.FailedAt)
		}
		return Suspected, old
	}
	return "", api.Profile{}
}

// ofItself reports whether a program has failed, and was not ended by somebody or with its machine or driver.
func ofItself(o *ledger.Outcome) bool {
	return o.State == api.AppFailed && o.Killed == "" && o.EndedBy != api.EndedBySilence && o.ExitCode < api.Signalled &&
		o.Suspended == 0
}

// atAllCores reports whether nothing of a was held back.
func atAllCores(a *ledger.App) bool { return a.Observed() || !a.Promise.Targeted }

// confirmed is learnt after a run of a that has ended well: if it was one at all cores, pacing was why the last paced
// one failed.
func confirmed(a *ledger.App, learnt api.Profile) api.Profile {
	if learnt.Habit.Suspected > 0 && atAllCores(a) {
		learnt.Habit.FailedAt, learnt.Habit.Suspected = learnt.Habit.Suspected, 0
	}
	return learnt
}

// waited is a part of a run that its program may have waited for.
type waited struct{ began, until, takes units.Seconds }

// slowed is how many times what it takes at all cores something took that a, which has failed, may have waited for to
// its end. That is its last query or job, or a stage of that which had not ended well; where these were not slower, all
// from an earlier one on. Of several it is the least, 0 where nothing was slower. A query or job that has ended well
// was given up before, as by a program that joins its threads: nobody knows when, so it is half way.
func slowed(a *ledger.App) float64 {
	if a.Profile == nil {
		return 0
	}
	legs, at := make(map[int]*waited), []*waited{}
	last, until := -1, units.Seconds(math.Inf(-1))
	least, well := math.Inf(1), true
	count := func(w waited) bool {
		times := float64((w.until - w.began) / w.takes)
		if times > slower {
			least = min(least, times)
		}
		return times > slower
	}
	for _, s := range a.Order {
		leg, takes, known := dag.LegOf(s.Annotation, a.Profile.Graph)
		if !known {
			continue
		}
		w := legs[leg]
		if w == nil {
			w = &waited{began: s.ReadyAt, takes: takes}
			legs[leg], at = w, append(at, w)
		}
		end := endOf(a, s)
		w.until = max(w.until, end)
		if end >= until {
			last, until = leg, end
		}
	}
	for _, s := range a.Order {
		leg, _, known := dag.LegOf(s.Annotation, a.Profile.Graph)
		if annotation, _ := a.Profile.Annotated(s); known && leg == last && (s.Done == nil || s.Done.Failed) {
			well = false
			count(waited{s.ReadyAt, endOf(a, s), annotation.Duration})
		}
	}
	slices.SortStableFunc(at, func(x, y *waited) int { return cmp.Compare(y.began, x.began) })
	takes := units.Seconds(0)
	for _, w := range at {
		takes += w.takes
		if count(waited{w.began, until, takes}) || !math.IsInf(least, 1) {
			break
		}
	}
	switch {
	case math.IsInf(least, 1):
		return 0
	case well:
		least = halved(least)
	}
	return min(least, api.MostAmount)
}

// halved is the factor half way from so many times down to none.
func halved(times float64) float64 { return 1 + (times-1)/2 }

// endOf is when s ended, at the latest with its context.
func endOf(a *ledger.App, s *ledger.Stage) units.Seconds {
	switch {
	case s.Done != nil:
		return s.DoneAt
	case a.Outcome.DriverEnd:
		return a.Outcome.Stopped
	}
	return a.Outcome.Ended
}
