package estimate

import (
	"slices"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Estimated is the part of what is left of a's work that nobody knows: of running stages that its profile lacks
// and whose tasks do not tell yet.
func Estimated(a *ledger.App) units.Fraction {
	if a.Profile == nil || !slices.ContainsFunc(a.Opened(), guessed) {
		return 0
	}
	part, all := 0.0, 0.0
	courseOf(a).eachLeft(a, func(s *ledger.Stage, left float64, _ units.Seconds) {
		if all += left; s != nil && guessed(s) {
			part += left
		}
	})
	if !(all > 0) {
		return 0
	}
	return units.Fraction(part / all)
}
