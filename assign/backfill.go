package assign

// backfill lets those that wait come before those that are served grow, and those behind one that does not fit pass.
func backfill(r *round) {
	r.Pass = true
	r.enter(core, all, nil)
	r.grow(all)
}
