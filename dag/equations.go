package dag

import (
	"math"

	"github.com/sparkpacer/pacer/units"
)

// Weight is w_s of Eq 2, with d_s of Eq 3: how many times the time of stage s
// the stages still to execute take. remaining holds the durations of R_s, the
// stage's own included, which is own again. It is +Inf for a stage that takes
// no time (own <= 0): Eq 1 then leaves it no time, which means all cores.
func Weight(beta float64, remaining []units.Seconds, own units.Seconds) float64 {
	var sum units.Seconds
	for _, duration := range remaining {
		sum += duration
	}
	return weight(beta, len(remaining), sum, own)
}

// weight is Weight of n stages whose durations add up to sum.
func weight(beta float64, n int, sum, own units.Seconds) float64 {
	if !(own > 0) {
		return math.Inf(1)
	}
	return beta*float64(n) + (1-beta)*float64(sum/own)
}

// StageDeadline is Eq 1: the time that a stage of weight w may take from its
// submission on, in seconds. It is <= 0 when the deadline has passed: the stage
// then takes all the cores it can use.
func StageDeadline(alpha float64, deadline, spent units.Seconds, w float64) units.Seconds {
	return units.Seconds((alpha*float64(deadline) - float64(spent)) / w)
}

// AppError is Eq 4 in per cent: positive when the application ended before its
// deadline, negative when it was late. It is 0 without a deadline.
func AppError(deadline, duration units.Seconds) float64 {
	if deadline <= 0 {
		return 0
	}
	return 100 * float64((deadline-duration)/deadline)
}

// StageError is Eq 5 in per cent of the application's deadline, never negative.
// It is 0 without a deadline of the application.
func StageError(stageDeadline, stageDuration, appDeadline units.Seconds) float64 {
	if appDeadline <= 0 {
		return 0
	}
	return 100 * math.Abs(float64((stageDeadline-stageDuration)/appDeadline))
}

// EstimateCores is Eq 6: the cores that read records within the stage deadline
// at rate records per core-second each. It is Unlimited when the deadline has
// passed or the rate is not known, and 0 when there is nothing to read.
func EstimateCores(records float64, deadline units.Seconds, rate units.Rate) units.Cores {
	if records <= 0 {
		return 0
	}
	if !(deadline > 0) || !(rate > 0) {
		return units.Unlimited
	}
	return units.Cores(records / (float64(deadline) * float64(rate)))
}

// InitCores is Eq 7: the estimate divided among the stage's executors, rounded
// up to the quantum. Unlimited stays so; executors < 1 counts as 1.
func InitCores(estimate, quantum units.Cores, executors int) units.Cores {
	return (estimate / units.Cores(max(1, executors))).CeilTo(quantum)
}
