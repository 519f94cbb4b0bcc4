package hosts

// Outcome is what a world came to.
type Outcome struct {
	// Active, Overloaded and Moves are by round: machines that do not sleep, those that are overloaded, VMs that moved.
	Active, Overloaded, Moves []int
	// Fit is how many machines a best fit, decreasing, takes in each 20th round (bfd).
	Fit []int
	// SLAVO is the part of their time in which machines have all of their CPU in use, SLALM that of the CPU that VMs ask
	// for which moves take, both in the mean; SLAV is their product.
	SLAVO, SLALM, SLAV float64
	// Joules is the energy of all moves.
	Joules float64
	// Similarity of the machines' tables, when they have learnt and then by round of averaging.
	Similarity []float64
}

// fitEvery is in how many rounds a best fit is made for comparison.
const fitEvery = 20

// count takes in a round.
func (o *Outcome) count(w *world) {
	active, overloaded := 0, 0
	for i := range w.machines {
		m := &w.machines[i]
		if m.asleep {
			continue
		}
		m.active++
		active++
		if m.now.CPU >= 1 {
			m.full++
		}
		if m.now.Overloaded() {
			overloaded++
		}
	}
	for i := range w.vms {
		w.vms[i].requested += w.vms[i].now.CPU * roundSeconds
	}
	if len(o.Active)%fitEvery == 0 {
		o.Fit = append(o.Fit, bfd(w))
	}
	o.Active, o.Overloaded, o.Moves = append(o.Active, active), append(o.Overloaded, overloaded), append(o.Moves, w.moves)
}

// conclude makes up what is over all rounds.
func (o *Outcome) conclude(w *world) {
	for i := range w.machines {
		if m := &w.machines[i]; m.active > 0 {
			o.SLAVO += float64(m.full) / float64(m.active) / float64(len(w.machines))
		}
	}
	for i := range w.vms {
		if v := &w.vms[i]; v.requested > 0 {
			o.SLALM += v.lost / v.requested / float64(len(w.vms))
		}
	}
	o.SLAV, o.Joules = o.SLAVO*o.SLALM, w.joules
}

// bfd is how many machines the VMs would take, each put, the largest first, where it leaves the least room.
func bfd(w *world) int {
	var bins []Use
	all := make([]int, len(w.vms))
	for i := range all {
		all[i] = i
	}
	for _, v := range w.sorted(all, func(v *vm) float64 { return -max(v.now.CPU, v.now.Memory) }) {
		u, best := w.vms[v].now, -1
		for i, b := range bins {
			if b.CPU+u.CPU <= 1 && b.Memory+u.Memory <= 1 && (best < 0 || b.Total() > bins[best].Total()) {
				best = i
			}
		}
		if best < 0 {
			bins, best = append(bins, Use{}), len(bins)
		}
		bins[best] = bins[best].Plus(u)
	}
	return len(bins)
}
