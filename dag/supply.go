package dag

import (
	"math"

	"github.com/sparkpacer/pacer/units"
)

// Supply is what an application can have of a cluster.
type Supply struct {
	// Cores is cmax, what all its nodes offer; Slots is how many tasks of a stage can run
	// at once, <= 0 for any number.
	Cores units.Cores
	Slots int
	// Taken is what of Cores others have been promised, in any order.
	Taken []Taken
	// Least is how long what is left of a stage takes at least from a moment of the deadline clock on, whatever its cores:
	// disks and networks give it no more. 0 or nil is no time at all.
	Least func(stage int, from units.Seconds) units.Seconds
}

// Taken are cores that others have from one moment of the application's deadline clock until
// another, the first one included.
type Taken struct {
	Cores       units.Cores
	From, Until units.Seconds
}

// leastFree is the part of the cores that is there whatever others have been promised: they
// may need less, and a walk has to come to an end.
const leastFree = 0.05

// free is what is left of the cores at now, in seconds of the deadline clock.
func (s Supply) free(now float64) float64 {
	free := float64(s.Cores)
	for _, t := range s.Taken {
		if float64(t.From) <= now && now < float64(t.Until) {
			free -= float64(t.Cores)
		}
	}
	return max(free, leastFree*float64(s.Cores))
}

// next is when what others have changes next, +Inf for never.
func (s Supply) next(now float64) float64 {
	at := math.Inf(1)
	for _, t := range s.Taken {
		for _, moment := range [...]float64{float64(t.From), float64(t.Until)} {
			if moment > now {
				at = min(at, moment)
			}
		}
	}
	return at
}

// Between is what there is from one moment of the deadline clock until another, in
// core-seconds, and what of the cores is left in the end.
func (s Supply) Between(from, until units.Seconds) (work units.Work, last units.Cores) {
	for now, end := float64(from), float64(until); now < end; {
		next := min(s.next(now), end)
		last = units.Cores(s.free(now))
		work += units.Work(float64(last) * (next - now))
		now = next
	}
	return work, last
}

// After is the moment of the deadline clock until which there are so many core-seconds from
// another moment on.
func (s Supply) After(from units.Seconds, work units.Work) units.Seconds {
	now := float64(from)
	for work > 0 {
		free, next := s.free(now), s.next(now)
		if end := now + float64(work)/free; end <= next {
			return units.Seconds(end)
		}
		work -= units.Work(free * (next - now))
		now = next
	}
	return units.Seconds(now)
}
