package handover

import (
	"math"

	"github.com/sparkpacer/pacer/units"
)

// part is one executor's share of a running stage as the hand-over of the tail
// sees it. Weights are in mean tasks.
type part struct {
	// weight is its share, done what it has done of that; running is the weight
	// of its running tasks, done in part: they stay where they are.
	weight, done, running float64
	// speed is the most it could do, in weight per second.
	speed float64
}

// rest is what it has left; movable the part of that which others can take.
func (p part) rest() float64    { return max(0, p.weight-p.done) }
func (p part) movable() float64 { return max(0, p.weight-p.done-p.running) }

// lateness is how much later than left seconds from now p ends at full speed:
// +Inf if it does not move.
func (p part) lateness(left units.Seconds) units.Seconds {
	if p.rest() == 0 {
		return -max(0, left)
	}
	return units.Seconds(p.rest()/max(0, p.speed)) - max(0, left)
}

// divide divides a running stage's shares anew and returns them
// in the order of parts; nil when they should stay as they are. left is the time
// until the stage's deadline, negative when passed.
//
// T is the time by which all can be done: the time left or, if that is too short
// for all of them together at full speed, sum of rest / sum of speed. Work that a part cannot do by T goes to parts
// that can do more by then, in proportion to how much more. The sum is kept, nobody gets less than is done or running
// there, and nobody gets more than it can do by T, so that with unchanged speeds a second call moves nothing.
func divide(parts []part, left units.Seconds) []float64 {
	var total, rest, speed float64
	for _, p := range parts {
		total += p.weight
		rest += p.rest()
		speed += max(0, p.speed)
	}
	if !(speed > 0) || inTime(parts, left) {
		return nil
	}
	by := max(float64(left), rest/speed)
	excess, spare := make([]float64, len(parts)), make([]float64, len(parts))
	var excesses, spares float64
	for i, p := range parts {
		able := max(0, p.speed) * by
		excess[i] = min(max(0, p.rest()-able), p.movable())
		spare[i] = max(0, able-p.rest())
		excesses += excess[i]
		spares += spare[i]
	}
	move := min(excesses, spares)
	if move < max(params.LeastMove, params.LeastMoveShare*total) {
		return nil
	}
	shares := make([]float64, len(parts))
	for i, p := range parts {
		shares[i] = p.weight - excess[i]*move/excesses + spare[i]*move/spares
	}
	return shares
}

// word are the shares that a driver is told of a stage, of which so many tasks have not finished. They are as they
// are where it waits for one that runs alone, and others do not have its cores. A rest that shares leave besides
// is no task then: the driver has divided them otherwise since. nil is for no word.
func word(parts []part, left units.Seconds, unfinished int, denied bool) []float64 {
	switch {
	case !lone(parts, left, unfinished):
		return divide(parts, left)
	case denied:
		return nil
	}
	return asTheyAre(parts)
}

// inTime reports whether no part threatens to be late enough for work to be moved.
func inTime(parts []part, left units.Seconds) bool {
	return worst(parts, left) <= params.LateShare*max(0, left)
}

// lone reports whether a stage, of which so many tasks have not finished, waits for one that runs alone and threatens
// to be late. Nothing can be moved, but the driver may have it copied: it is told the shares as they are.
func lone(parts []part, left units.Seconds, unfinished int) bool {
	running, waiting := 0.0, 0.0
	for _, p := range parts {
		if p.rest() > 0 { // A part that is done may be said to run for a moment longer, and not to have finished.
			running, waiting = running+p.running, waiting+p.movable()
		}
	}
	last := running == 1 && (unfinished == 1 || waiting < 0.5*params.LeastMove)
	return last && worst(parts, left) > max(params.LateTask, params.LateShare*left)
}

// asTheyAre are the shares that parts have.
func asTheyAre(parts []part) (shares []float64) {
	for _, p := range parts {
		shares = append(shares, p.weight)
	}
	return shares
}

// moved is the weight that changes hands between two divisions.
func moved(parts []part, shares []float64) float64 {
	var sum float64
	for i, p := range parts {
		sum += max(0, shares[i]-p.weight)
	}
	return sum
}

// worst is how late the latest of parts would be at full speed.
func worst(parts []part, left units.Seconds) units.Seconds {
	late := units.Seconds(math.Inf(-1))
	for _, p := range parts {
		late = max(late, p.lateness(left))
	}
	return late
}
