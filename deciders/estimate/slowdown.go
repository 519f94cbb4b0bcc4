package estimate

import (
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Slowdown is by which part of it a's driver takes longer from stage to stage than in the recorded run, by those that
// have been ready so far. It is 0 where it does not, or little has been seen.
func (p Policy) Slowdown(a *ledger.App) float64 {
	ended := ends(a)
	var recorded, took units.Seconds
	for _, s := range a.Order {
		if s.Annotation == ledger.Unmatched || s.Estimated() || again(s) {
			continue
		}
		if from, ok := after(a, s, ended); ok {
			annotation, _ := a.Profile.Annotated(s)
			recorded += annotation.Gap
			took += max(0, s.ReadyAt-from)
		}
	}
	r := p.rules().Aims
	if recorded < r.Seen {
		return 0
	}
	return min(r.Slower, max(0, float64(took/recorded)-1))
}

// after is when the last of those had ended that s was ready after; false where that is not
// known of all of them, or there are none.
func after(a *ledger.App, s *ledger.Stage, ended map[int]units.Seconds) (last units.Seconds, ok bool) {
	for _, id := range a.Profile.Graph.Before(s.Annotation) {
		at, known := ended[id]
		if !known {
			return 0, false
		}
		last, ok = max(last, at), true
	}
	return last, ok
}
