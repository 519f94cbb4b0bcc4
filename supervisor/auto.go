package supervisor

import "slices"

// Auto lets as few applications as possible be late, and serves the others first.
const Auto = "auto"

// auto knows of each application the least cores with which its deadline can be kept from
// now on. What it needs until then is that times the time to completion. Applications can
// all be in time, the earliest deadline first, if those that are due by any deadline need no
// more than the node has until then; where they need more, the one of them that needs most
// is given up, which leaves as few as possible late (Moore, "An n job, one machine
// sequencing algorithm for minimizing the number of late jobs", Management Science 15, 1968).
// Those that are kept get what they ask for in order of deadline, and then the others what is
// left, in that order.
//
// An application of which that is not known is not given up: what it asks for at one moment
// says nothing of what it needs to the end.
func auto(left float64, demands []demand) {
	slices.SortFunc(demands, byDeadline)
	giveUp(left, demands)
	for _, late := range []bool{false, true} {
		for i := range demands {
			if d := &demands[i]; d.late == late {
				d.taken = min(d.room, left)
				left -= d.taken
			}
		}
	}
}

// giveUp marks the applications that cannot be in time, as few as possible. demands are in
// order of time to completion.
func giveUp(cores float64, demands []demand) {
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
		for work > cores*ttc*(1+slack) {
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

// slack is by how much more than there is those who are kept may need: needs are predicted,
// and nobody is given up for what may be an error of that.
const slack = 0.1

// work is what d needs until its deadline, in core-seconds, 0 where that is not known.
func (d *demand) work() float64 { return d.least * max(0, float64(d.ttc)) }
