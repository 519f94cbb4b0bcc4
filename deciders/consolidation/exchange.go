package consolidation

// Machine is what an exchange knows of one. Its VMs come to Now and Mean, but for what is beside them.
type Machine struct {
	Now, Mean Use
	VMs       []VM
}

// Sends reports whether p hands VMs on where it meets q: it is overloaded, or uses less. Of two that use the same it is
// the one that asks.
func Sends(p, q Use, asks bool) bool {
	return p.Overloaded() || !q.Overloaded() && (p.Total() < q.Total() || asks && p.Total() == q.Total())
}

// HandOver is an exchange in which p sends (Algorithm 4): which of its VMs go to q, in their order, and whether the
// next one was refused. A machine that is overloaded hands on until it is not, another one all that it has. p and q are
// as they are afterwards, p with its VMs still in the list.
func (c Config) HandOver(t *Tables, p, q *Machine) (moves []int, refused bool) {
	gone := make([]bool, len(p.VMs))
	for whole := p.Now.Overloaded(); len(moves) < len(p.VMs) && (!whole || p.Now.Overloaded()); {
		at := best(t, p, gone)
		vm := p.VMs[at]
		if !c.Accepts(t, *q, vm) {
			return moves, true
		}
		gone[at] = true
		moves = append(moves, at)
		p.Now, p.Mean = p.Now.Less(vm.Now), p.Mean.Less(vm.Mean)
		q.Now, q.Mean = q.Now.Plus(vm.Now), q.Mean.Plus(vm.Mean)
	}
	return moves, false
}

// best is the VM of p that it is worth most to hand on, of those that are alike the cheapest to move; what is unknown
// is worth nothing.
func best(t *Tables, p *Machine, gone []bool) int {
	at, worth := -1, 0.0
	s := StateOf(p.Mean)
	for i := range p.VMs {
		if gone[i] {
			continue
		}
		v, known := t.Out.Known(s, p.VMs[i].Action)
		if !known {
			v = 0
		}
		if at < 0 || v > worth || v == worth && p.VMs[i].Cost < p.VMs[at].Cost {
			at, worth = i, v
		}
	}
	return at
}

// Accepts reports whether q may be given a VM: it has room for what that uses now, and nothing is learnt against it.
func (c Config) Accepts(t *Tables, q Machine, vm VM) bool {
	if q.Now.Plus(vm.Now).Overloaded() {
		return false
	}
	if v, known := t.In.Known(StateOf(q.Mean), vm.Action); known {
		return v >= 0
	}
	return c.Unknown == UnknownAccept || !q.Mean.Plus(vm.Mean).Overloaded()
}
