package estimate

import (
	"slices"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Estimated is the part of what is left of a's work that nobody knows: of running stages that its profile lacks
// and whose tasks do not tell yet.
func Estimated(a *ledger.App) units.Fraction {
	guessed := func(s *ledger.Stage) bool {
		_, told := Told(s)
		return s.Estimated() && !told
	}
	if a.Profile == nil || !slices.ContainsFunc(a.Opened(), guessed) {
		return 0
	}
	part, all, c := 0.0, 0.0, CourseOf(a)
	for _, s := range c.Running(a) {
		annotation, _ := a.Profile.Graph.Stage(s.Annotation)
		left := float64(Predict(a, annotation, s).Work) * Left(s)
		if all += left; guessed(s) {
			part += left
		}
	}
	for _, id := range c.Coming {
		if s, ok := c.Graph.Stage(id); ok {
			all += float64(s.Records) / float64(s.NominalRate)
		}
	}
	if !(all > 0) {
		return 0
	}
	return units.Fraction(part / all)
}
