package hosts

import (
	"slices"

	"github.com/sparkpacer/pacer/deciders/consolidation"
)

// learn is a round of the phase in which VMs stay where they are: machines learn, and in the end they average.
func (w *world) learn(o *Outcome) {
	averages := w.round > w.Learning-w.Averaging
	for i := range w.machines {
		w.shuffle(i)
		peer, ok := w.peer(i, false)
		switch {
		case averages && ok:
			consolidation.Average(w.tables(i), w.tables(peer))
		case !averages && w.GLAP.Trains(w.machines[i].now):
			vms := w.profiles(i)
			if ok {
				vms = append(vms, w.profiles(peer)...)
			}
			w.GLAP.Learn(w.tables(i), vms, w.rand.IntN)
		}
	}
	if averages || w.round == w.Learning-w.Averaging {
		half, sum := len(w.machines)/2, 0.0
		pairs := min(50, half)
		for i := range pairs {
			sum += consolidation.Similarity(w.tables(i), w.tables(i+half))
		}
		o.Similarity = append(o.Similarity, sum/float64(max(pairs, 1)))
	}
}

// tables are what a machine has learnt.
func (w *world) tables(i int) *consolidation.Tables {
	if w.machines[i].tables == nil {
		w.machines[i].tables = consolidation.NewTables()
	}
	return w.machines[i].tables
}

// profiles are what a machine knows of its VMs.
func (w *world) profiles(i int) []consolidation.VM {
	vms := make([]consolidation.VM, 0, 2*len(w.machines[i].vms))
	for _, at := range w.machines[i].vms {
		v := &w.vms[at]
		vms = append(vms, consolidation.VM{Now: v.now, Mean: v.mean.Value, Action: w.GLAP.Action(v.mean.Value, w.VM),
			Cost: v.now.Memory})
	}
	return vms
}

// glap is a round of exchanges: each machine that does not sleep meets another one.
func glap(w *world) {
	for _, p := range w.order() {
		w.shuffle(p)
		q, ok := w.peer(p, false)
		switch {
		case w.machines[p].asleep:
		case !ok:
			w.refused(p)
		default:
			a, b := w.machines[p].now, w.machines[q].now
			if consolidation.Sends(a, b, true) {
				w.handOver(p, q)
			}
			if consolidation.Sends(b, a, false) {
				w.handOver(q, p)
			}
		}
	}
}

// handOver is an exchange in which p sends.
func (w *world) handOver(p, q int) {
	from := consolidation.Machine{Now: w.machines[p].now, Mean: w.machines[p].mean, VMs: w.profiles(p)}
	to := consolidation.Machine{Now: w.machines[q].now, Mean: w.machines[q].mean}
	moves, _ := w.GLAP.HandOver(w.tables(p), &from, &to)
	vms := slices.Clone(w.machines[p].vms)
	for _, at := range moves {
		w.move(vms[at], q)
	}
	w.refused(p)
}

// refused wakes a machine for one that is overloaded still, for the third time, and could not hand on enough.
func (w *world) refused(p int) {
	m := &w.machines[p]
	if m.refused++; !m.now.Overloaded() {
		m.refused = 0
	}
	if m.refused < consolidation.Refusals || w.GLAP.Wake == consolidation.WakeNever {
		return
	}
	m.refused = 0
	if q, ok := w.peer(p, true); ok {
		w.handOver(p, q)
	}
}
