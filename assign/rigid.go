package assign

// rigid starts a job with all its units or not at all.
func rigid(r *round) {
	whole := func(h *holder) int { return h.Core + h.Elastic }
	r.enter(whole, whole, always)
}
