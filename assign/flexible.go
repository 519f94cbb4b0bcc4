package assign

// flexible is Algorithm 1.
func flexible(r *round) { r.rebalance(r.unsaturated) }

// unsaturated reports whether those that are served can not fill the whole in any dimension.
func (r *round) unsaturated(*Job) bool {
	var cores, memory float64 // Sums of bytes may be too large for whole numbers.
	for _, h := range r.served {
		cores += float64(all(h.Job)) * float64(h.Unit.Cores)
		memory += float64(all(h.Job)) * float64(h.Unit.Memory)
	}
	return (r.Total.Cores == 0 || cores < float64(r.Total.Cores)-rounding) &&
		(r.Total.Memory == 0 || memory < float64(r.Total.Memory))
}

// squeeze leaves those that are served their core units alone.
func (r *round) squeeze() {
	for i := range r.served {
		r.give(&r.served[i], min(0, r.served[i].Core-r.served[i].units))
	}
}

// rebalance starts those that wait for which the line is open. When something has left, it is enough that their core
// units fit beside those of all that are served; else only what is free counts. Units that the core units leave go to
// jobs that are served, in order. With Pass nothing of it is spared for the head, as it can be taken back.
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
