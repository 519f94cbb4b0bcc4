package sim

import (
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/units"
)

// setFixedPart gives the tasks the weights of which that part is the same for each, as
// StageHistory.withFixedPart does.
func (r *stageRun) setFixedPart(part units.Fraction) {
	if r.fixed = min(part.Clamp(), api.MostFixedPart); r.weights == nil || r.fixed == 0 {
		return
	}
	left := int64(len(r.weights)) * driver.MeanWeight
	for i, w := range r.weights {
		r.weights[i] = int64(math.Round(float64(r.fixed)*driver.MeanWeight + float64(1-r.fixed)*float64(w)))
		left -= r.weights[i]
	}
	r.weights[0] += left // The heaviest.
}

// line is the line of least squares through the CPU times of tasks over their weights, as
// StageTotals.Line is.
type line struct{ n, x, y, xx, xy float64 }

func (l *line) add(weight, cpu float64) {
	l.n++
	l.x += weight
	l.y += cpu
	l.xx += weight * weight
	l.xy += weight * cpu
}

// proportional is the part of the mean CPU time that goes with the weight, 0 to most; 1
// where there is nothing to tell it by.
func (l *line) proportional(most float64) float64 {
	spread := l.n*l.xx - l.x*l.x
	if spread <= 1e-9*l.x*l.x || l.y <= 0 {
		return min(1, most)
	}
	return max(0, min(most, (l.n*l.xy-l.x*l.y)/spread*l.x/l.y))
}

// fixedPart is what the driver says of a stage that has ended (api.StageDone.FixedPart).
func (r *stageRun) fixedPart() units.Fraction {
	sized := float64(1 - r.fixed)
	return 1 - units.Fraction(sized*r.line.proportional(1/sized))
}
