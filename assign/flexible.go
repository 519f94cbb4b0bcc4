package assign

// flexible is Algorithm 1: the line is closed while those that are served can fill the whole.
func flexible(r *round) {
	r.rebalance(func(*Job) bool { return !r.saturated() })
}

// rebalance starts those that wait for which the line is open. When something has left, it is enough that their core
// units fit beside those of all that are served; else only what is free counts. What the core units leave goes to those
// that are served, in order. With Pass nothing of it is spared for the head, as it can be taken back.
func (r *round) rebalance(open func(*Job) bool) {
	if r.Freed {
		r.squeeze()
	}
	r.grow(core)
	r.enter(core, core, open)
	r.head = nil
	r.order()
	r.grow(all)
}
