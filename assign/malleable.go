package assign

// malleable gives those that are served what is free before each that waits. With Pass those that have started since
// the first came do not grow into what its core needs.
func malleable(r *round) {
	r.enter(core, all, func(j *Job) bool {
		if r.head == nil {
			if r.Pass {
				r.reserve(j, j.Core)
			}
			r.grow(all)
			r.head = nil
		}
		return true
	})
	r.grow(all)
}
