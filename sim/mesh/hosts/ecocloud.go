package hosts

import "math"

// EcoCloud's constants: its thresholds are the source's, the exponents of its trials those of its authors. Who may take
// a VM from a machine above upper stays below a part of that one's load (calmer), so that the VM does not come back.
const (
	lower, upper, calmer           = 0.3, 0.8, 0.9
	acceptExponent, handOnExponent = 3, 0.25
)

// ecoCloud is a round of trials (C. Mastroianni, M. Meo, G. Papuzzo, "Probabilistic consolidation of virtual machines
// in self-organizing cloud data centers", 2013): a machine of little load hands a VM on, and one of too much; who takes
// it is one of those that accept. Where nobody does, a machine is woken for one of too much.
func ecoCloud(w *world) {
	for _, p := range w.order() {
		m := &w.machines[p]
		u := max(m.now.CPU, m.now.Memory)
		switch {
		case m.asleep:
		case m.now.CPU < lower && w.rand.Float64() < math.Pow(1-m.now.CPU/lower, handOnExponent):
			v := m.vms[w.rand.IntN(len(m.vms))]
			if to, ok := w.accepting(p, v, upper); ok {
				w.move(v, to)
			}
		case u > upper && w.rand.Float64() < math.Pow(1+(u-1)/(1-upper), handOnExponent):
			v := w.relieving(m, u-upper)
			to, ok := w.accepting(p, v, min(upper, calmer*u))
			for i := 0; i < len(w.machines) && !ok; i++ {
				to, ok = i, w.machines[i].asleep
			}
			if ok {
				w.move(v, to)
			}
		}
	}
}

// relieving is a VM that uses as much as is too much, from one that is drawn on, or the last one looked at.
func (w *world) relieving(m *machine, over float64) (v int) {
	from := w.rand.IntN(len(m.vms))
	for i := range m.vms {
		v = m.vms[(from+i)%len(m.vms)]
		if max(w.vms[v].now.CPU, w.vms[v].now.Memory) >= over {
			break
		}
	}
	return v
}

// accepting asks all that do not sleep, from one that is drawn on, and returns the first whose trial for each resource
// succeeds.
func (w *world) accepting(p, v int, bound float64) (to int, ok bool) {
	from := w.rand.IntN(len(w.machines))
	for i := range w.machines {
		to = (from + i) % len(w.machines)
		m := &w.machines[to]
		after := m.now.Plus(w.vms[v].now)
		if !m.asleep && to != p && max(after.CPU, after.Memory) <= bound &&
			w.rand.Float64() < accepts(m.now.CPU, bound)*accepts(m.now.Memory, bound) {
			return to, true
		}
	}
	return 0, false
}

// accepts is the chance that a machine takes a VM: 1 for the load at which u^p (bound - u) is greatest.
func accepts(u, bound float64) float64 {
	peak := bound * acceptExponent / (acceptExponent + 1)
	return math.Pow(u, acceptExponent) * max(0, bound-u) / (math.Pow(peak, acceptExponent) * (bound - peak))
}
