package supervisor

import "github.com/sparkpacer/pacer/supervisor/sharing"

// Speed divides by weights that grow as the nominal rate shrinks: an application
// that needs more time for a record gets more cores. An application never gets more than its request.
const Speed = "speed"

// extreme bounds the weights of Speed, upwards and as its inverse: rates are read
// from profiles, and a slip in one must not starve its owner or the others.
const extreme = 1e6

// speed is Speed of section 6.2 and Table 1:
//
//	w_i = ANR / anr_i,   ANR the mean of all anr
//
// Cores that one application cannot take are divided among the others by the same weights. An application whose rate is
// not known counts as one of the mean rate.
func speed(left float64, demands []demand, _ sharing.Doubts) {
	var sum, known float64
	for i := range demands {
		if demands[i].rate > 0 {
			sum += float64(demands[i].rate)
			known++
		}
	}
	for i := range demands {
		d := &demands[i]
		d.weight = 1
		if d.rate > 0 {
			d.weight = min(extreme, max(1/extreme, sum/known/float64(d.rate)))
		}
	}
	byWeight(left, demands)
}
