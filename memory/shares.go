package memory

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// weight is a's part of the pool, 1 where it declares none.
func (a App) weight() float64 {
	if a.Weight == 0 {
		return 1
	}
	return a.Weight
}

// floor is the least that a has of the pool.
func (a App) floor() units.Bytes { return units.Bytes(a.Executors) * a.Floor }

// shares reports whether a takes part in the division.
func (a App) shares() bool { return !a.Fixed && a.Executors > 0 }

// divide is the pool in parts by weight, none below its floor: max(floor, level x weight)
// with the level at which they come to the pool. In the order of apps, 0 for who does not
// share. It reports false if the floors alone are more than the pool; each then has its
// floor.
func divide(pool units.Bytes, apps []App) ([]units.Bytes, bool) {
	parts := make([]units.Bytes, len(apps))
	var open []int // Indices of applications above their floors, the lowest floor for its weight first.
	weights, left := 0.0, float64(pool)
	for i, a := range apps {
		if a.shares() {
			parts[i] = a.floor()
			open = append(open, i)
			weights += a.weight()
		}
	}
	// The order decides about rounding only; by identity it is not the caller's.
	slices.SortFunc(open, func(i, j int) int {
		x, y := &apps[i], &apps[j]
		return cmp.Or(cmp.Compare(float64(x.floor())/x.weight(), float64(y.floor())/y.weight()), cmp.Compare(x.ID, y.ID))
	})
	for len(open) > 0 {
		last := open[len(open)-1]
		if float64(parts[last]) <= left/weights*apps[last].weight() {
			break
		}
		left -= float64(parts[last])
		weights -= apps[last].weight()
		open = open[:len(open)-1]
	}
	if left < 0 {
		return parts, false
	}
	for _, i := range open {
		parts[i] = units.Bytes(math.Floor(left / weights * apps[i].weight()))
	}
	return parts, true
}

// Spark's own rules for what an executor needs off its heap.
const (
	// reserved is what Spark leaves alone of a heap, executionPart is what it uses of the
	// rest (spark.memory.fraction).
	reserved      = 300 * units.MiB
	executionPart = 0.6
	// leastPage is the size of the pages in which tasks take memory off the heap, as
	// executors are started: each task needs two (docs/spark.md, S54).
	leastPage = units.MiB
)

// Floor is the least off-heap memory that an executor is started with and ever shrunk to. It is the most of what its
// user declared, what Spark would use of the heap for execution, which all moves off it, and two pages of at least a
// MiB for each slot.
func Floor(declared, heap, page units.Bytes, slots int) units.Bytes {
	execution := units.Bytes(float64(max(0, heap-reserved)) * executionPart)
	floor := max(declared, execution, 2*max(page, leastPage)*units.Bytes(slots))
	return (floor + units.MiB - 1) / units.MiB * units.MiB
}

// FloorOf is Floor for executors started by launch with that many slots; what the user
// fixed where it is fixed.
func FloorOf(launch *api.Launch, slots int) units.Bytes {
	if launch.OffHeapFixed {
		return launch.OffHeap
	}
	return Floor(launch.OffHeapFloor, launch.Heap, launch.OffHeapPage, slots)
}
