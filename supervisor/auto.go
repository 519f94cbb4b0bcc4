package supervisor

import (
	"slices"

	"github.com/sparkpacer/pacer/supervisor/sharing"
)

// Auto lets as few applications as possible be late, and serves the others first.
const Auto = "auto"

// auto knows of each application the least cores with which its deadline can be kept from
// now on. What it needs until then is that times the time to completion; where its control
// laws ask for less, which they do by what they have measured, that. Applications can
// all be in time, the earliest deadline first, if those that are due by any deadline need no
// more than the node has until then; where they need more, the one of them that needs most
// is given up, which leaves as few as possible late (Moore, "An n job, one machine
// sequencing algorithm for minimizing the number of late jobs", Management Science 15, 1968).
// A need that is a moment too much gives up nobody.
// Those that are kept get what they ask for in order of deadline, and then the others what is
// left, in that order. Who is given up keeps its place in that order where those behind it are
// in time all the same, with a reserve: it is late by less then, or by nothing, should the
// prediction be wrong. So does one whose deadline has passed and that is about to end.
//
// The lesser of the two has to say that a deadline cannot be kept, because who is given up
// is late by that. The least cores are predicted of runs at all cores: held back, a run may
// use half as many core-seconds. What it asks for may be more at one moment than it needs to
// the end. An application of which the least cores are not known is not given up.
func auto(left float64, demands []demand, by sharing.Doubts) {
	slices.SortFunc(demands, byDeadline)
	giveUp(left, demands, by)
	putBehind(left, demands, by)
	for _, behind := range []bool{false, true} {
		for i := range demands {
			if d := &demands[i]; d.behind == behind {
				d.taken = min(d.room, left)
				left -= d.taken
			}
		}
	}
}

// giveUp marks the applications that cannot be in time, as few as possible. demands are in
// order of time to completion.
func giveUp(cores float64, demands []demand, by sharing.Doubts) {
	work := 0.0 // Of those kept so far.
	for i := range demands {
		d := &demands[i]
		if !d.hasDeadline {
			break
		}
		ttc := float64(d.ttc)
		if ttc <= 0 {
			d.late = true
			continue
		}
		work += d.work()
		for work > cores*(ttc+by.Late) {
			most := -1
			for k := range demands[:i+1] {
				if !demands[k].late && (most < 0 || demands[k].work() > demands[most].work()) {
					most = k
				}
			}
			if most < 0 {
				break
			}
			demands[most].late = true
			work -= demands[most].work()
		}
	}
}

// putBehind has those who are given up come after the others, but that one that would make
// nobody late keeps its place. demands are in order of time to completion.
func putBehind(cores float64, demands []demand, by sharing.Doubts) {
	before := 0.0 // What those need, and take, that come before.
	for i := range demands {
		d := &demands[i]
		if !d.late {
			before += d.work()
			continue
		}
		all := d.least * max(0, float64(d.ttc))
		if d.ttc <= 0 {
			all = d.overdue
		}
		d.behind = all <= 0 || !harmless(cores, before+all, demands[i+1:], by)
		if !d.behind {
			before += all
		}
	}
}

// harmless reports whether those of demands that are not given up are in time after so much
// work of others, with a reserve.
func harmless(cores, before float64, demands []demand, by sharing.Doubts) bool {
	for i := range demands {
		d := &demands[i]
		if !d.hasDeadline {
			break
		}
		if d.late {
			continue
		}
		if before += d.work(); before*(1+by.Reserve) > cores*float64(d.ttc) {
			return false
		}
	}
	return true
}

// work is what d needs until its deadline, in core-seconds, 0 where that is not known.
func (d *demand) work() float64 { return min(d.least, d.request) * max(0, float64(d.ttc)) }
