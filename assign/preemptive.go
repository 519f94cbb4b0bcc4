package assign

// preemptive is Algorithm 2. Jobs of a higher priority than the last that is served come before the line, and start where
// their core units fit beside those of all that are served, whether anything has left or not, and even where those can
// fill the whole.
func preemptive(r *round) {
	prior := func(*Job) bool { return false }
	if n := len(r.served); n > 0 {
		last := r.served[n-1].Priority
		prior = func(j *Job) bool { return j.Priority > last }
	}
	r.rebalance(func(j *Job) bool {
		if !prior(j) {
			return !r.saturated()
		}
		if !r.Freed && r.head == nil && r.besides(j) {
			r.Freed = true
			r.squeeze()
		}
		return true
	})
}

// besides reports whether j's core units fit beside those of all that are served.
func (r *round) besides(j *Job) bool {
	left := r.total
	for i := range r.served {
		left = left.less(r.served[i].Core, r.served[i].unit)
	}
	return left.fits(r.hold(j, r.Now, 0).unit) >= j.Core
}
