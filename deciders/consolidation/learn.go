package consolidation

// VM is what is known of one.
type VM struct {
	// Now and Mean are parts of its machine.
	Now, Mean Use
	// Action is its state, by Config.Action.
	Action State
	// Cost is what it takes to move it: of several that are alike the cheapest one goes.
	Cost float64
}

// Action is the state of a VM that in the mean uses that part of its machine, and was given that part of it.
func (c Config) Action(mean, given Use) State {
	if c.Levels == LevelsVM {
		mean = mean.Of(given)
	}
	return StateOf(mean)
}

// Profiles are copied until they come to as much of a machine in the mean, so that states of high load occur, but to no
// more than so many.
const (
	enough   = 1.5
	profiles = 64
)

// Learn trains q for a round on the VMs of a machine and of one neighbour (Algorithm 2). It does so on virtual machines
// that have some of them each, a run of all in an order that is drawn.
func (c Config) Learn(q *Tables, vms []VM, draw func(n int) int) {
	if len(vms) == 0 {
		return
	}
	total := Use{}
	for _, v := range vms {
		total = total.Plus(v.Mean)
	}
	all := make([]VM, 0, profiles)
	for copies := 1.0; ; copies++ {
		all = append(all, vms...)
		if len(all)+len(vms) > profiles || copies*max(total.CPU, total.Memory) >= enough {
			break
		}
	}
	n := len(all)
	for i := n - 1; i > 0; i-- {
		k := draw(i + 1)
		all[i], all[k] = all[k], all[i]
	}
	sums := sumsOf(all)
	departing, arriving := learner{Table: &q.Out}, learner{Table: &q.In}
	for range c.Repeats {
		size := 1 + draw(n)
		from, at := draw(n), draw(size)
		vm := &all[(from+at)%n]
		mean, now := sums.run(from, size)
		next := StateOf(now.Less(vm.Now))
		departing.update(&c, StateOf(mean), vm.Action, outReward(next), next)
		mean, now = sums.run(draw(n), draw(n))
		next = StateOf(now.Plus(vm.Now))
		arriving.update(&c, StateOf(mean), vm.Action, c.inReward(next), next)
	}
}

// sums are what the first VMs come to, those of a list twice.
type sums struct{ mean, now []Use }

func sumsOf(all []VM) sums {
	s := sums{make([]Use, 1, 2*len(all)+1), make([]Use, 1, 2*len(all)+1)}
	for i := range 2 * len(all) {
		v := &all[i%len(all)]
		s.mean = append(s.mean, s.mean[i].Plus(v.Mean))
		s.now = append(s.now, s.now[i].Plus(v.Now))
	}
	return s
}

// run is what so many VMs come to from one of them on.
func (s sums) run(from, size int) (mean, now Use) {
	return s.mean[from+size].Less(s.mean[from]), s.now[from+size].Less(s.now[from])
}
