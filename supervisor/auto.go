package supervisor

import "slices"

// Auto serves who can be in time by need, and lets as few as possible be late.
const Auto = "auto"

// auto knows of each application the least cores with which its deadline can be kept from
// now on. What it needs until then is that times the time to completion. Applications can
// all be in time, the earliest deadline first, if those that are due by any deadline need no
// more than the node has until then; where they need more, the one of them that needs most
// is given up, which leaves as few as possible late (Moore, "An n job, one machine
// sequencing algorithm for minimizing the number of late jobs", Management Science 15, 1968).
// Those that are kept get what they need, then what they ask for, both in order of deadline;
// the others what is left, in that order.
//
// What an application needs of which nobody knows it is what it asks for.
func auto(left float64, demands []demand) {
	slices.SortFunc(demands, byDeadline)
	giveUp(left, demands)
	for i := range demands {
		if d := &demands[i]; !d.late {
			d.taken = min(d.room, d.need(), left)
			left -= d.taken
		}
	}
	for _, late := range []bool{false, true} {
		for i := range demands {
			if d := &demands[i]; d.late == late {
				more := min(d.room-d.taken, left)
				d.taken += more
				left -= more
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
		ttc := max(0, float64(d.ttc))
		work += d.need() * ttc
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
const slack = 0.02

// need is what d needs of the cores that are divided.
func (d *demand) need() float64 {
	if d.least > 0 {
		return d.least
	}
	return d.request
}

// work is what d needs until its deadline, in core-seconds.
func (d *demand) work() float64 { return d.need() * max(0, float64(d.ttc)) }
