package dag

import "github.com/sparkpacer/pacer/units"

// Rate is the application's average nominal rate, in records per core-second:
//
//	anr = sum_s nomRate_s w_s / sum_s w_s
//
// of section 6.2, with w_s of Eq 2 as it is when stage s and those after it are
// still to execute.
func (g *Graph) Rate(beta float64) units.Rate {
	var later units.Seconds // Durations of R_s.
	var sum, weights float64
	stages := g.profile.Stages
	for i := len(stages) - 1; i >= 0; i-- {
		s := &stages[i]
		later += s.Duration
		w := weight(beta, len(stages)-i, later, s.Duration)
		sum += w * float64(s.NominalRate)
		weights += w
	}
	return units.Rate(sum / weights)
}
