package assign

import "math"

// preemptive is Algorithm 2. Jobs of a higher priority than the last that is served come before the line. They start
// where their core units fit beside those of all that are served, whether anything has left or not, and even where
// those can fill the whole.
func preemptive(r *round) {
	last := math.MaxInt
	if n := len(r.served); n > 0 {
		last = r.served[n-1].Priority
	}
	r.rebalance(func(j *Job) bool {
		if j.Priority <= last {
			return r.unsaturated(j)
		}
		left := r.Total
		for _, h := range r.served {
			left = left.less(h.Core, h.Unit)
		}
		if !r.Freed && r.head == nil && left.fits(j.Unit) >= j.Core {
			r.Freed = true
			r.squeeze()
		}
		return true
	})
}
