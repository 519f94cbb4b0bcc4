package plant

import (
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/units"
)

// setFixedPart gives the tasks the weights of which that part is the same for each, as
// TaskWeights.withFixedPart does.
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

// line is the line of least squares through times of tasks over their weights, as
// StageTotals.Line is.
type line struct{ n, x, y, xx, xy float64 }

func (l *line) add(weight, time float64) {
	l.n++
	l.x += weight
	l.y += time
	l.xx += weight * weight
	l.xy += weight * time
}

// at is the time of a task of that weight, 0 where the tasks are few or too much alike to tell.
func (l *line) at(weight float64) float64 {
	const leastTasks, leastSpread = 8, 0.0625
	spread := l.n*l.xx - l.x*l.x
	if l.n < leastTasks || spread < leastSpread*l.x*l.x {
		return 0
	}
	return max(0, (l.y+(l.n*l.xy-l.x*l.y)/spread*(l.n*weight-l.x))/l.n)
}

// proportional is the part of the mean time that goes with the weight, 0 to most; 1
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

// taskCost is what it says that each task took (api.StageDone.TaskCost). Tasks use their
// slots all the time.
func (r *stageRun) taskCost() units.Seconds {
	const mostWeight = 4 * driver.MeanWeight
	if len(r.weights) > 0 && slices.Max(r.weights) > mostWeight {
		return 0
	}
	return units.Seconds(r.late.at(float64(r.fixed)))
}
