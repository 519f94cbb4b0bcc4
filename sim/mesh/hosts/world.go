package hosts

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sparkpacer/pacer/deciders/consolidation"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/mesh/gossip"
)

// roundSeconds is how long a round is.
const roundSeconds = 120

// vm is a VM, where it is and what it uses.
type vm struct {
	demand
	home int
	now  Use
	mean consolidation.Mean
	// requested and lost are CPU, in parts of a machine times seconds: asked for, and lost to its moves.
	requested, lost float64
}

// machine hosts VMs, or sleeps.
type machine struct {
	vms       []int
	now, mean Use
	asleep    bool
	// active and full are rounds: those in which it did not sleep, and those with all of its CPU in use.
	active, full int
	view         gossip.View
	tables       *consolidation.Tables
	refused      int
	// history is of its CPU, the newest last.
	history []float64
}

// world is machines and VMs at one moment.
type world struct {
	Config
	vms      []vm
	machines []machine
	round    int
	// load and rand draw for what VMs use, and for all else.
	load, rand *rand.Rand
	moves      int
	joules     float64
}

// newWorld has each VM on a machine that is drawn and has room for all that it was given.
func newWorld(c Config) *world {
	w := &world{Config: c, vms: make([]vm, c.Machines*c.Ratio), machines: make([]machine, c.Machines),
		load: des.Random(c.Seed, "load"), rand: des.Random(c.Seed, c.Policy)}
	place := des.Random(c.Seed, "places")
	room := int(min(1/c.VM.CPU, 1/c.VM.Memory))
	for i := range w.vms {
		at := place.IntN(c.Machines)
		for len(w.machines[at].vms) >= room {
			at = (at + 1) % c.Machines
		}
		w.vms[i] = vm{demand: c.Load.begin(w.load), home: at}
		w.machines[at].vms = append(w.machines[at].vms, i)
	}
	for i := range w.machines {
		peers := make([]int, 2*gossip.Size)
		for k := range peers {
			peers[k] = place.IntN(c.Machines)
		}
		w.machines[i].view = gossip.New(i, peers)
		w.settle(i)
	}
	return w
}

// step has a round pass: VMs use what they do in the next one.
func (w *world) step() {
	for i := range w.machines {
		w.machines[i].now, w.machines[i].mean = Use{}, Use{}
	}
	for i := range w.vms {
		v := &w.vms[i]
		part := w.Load.step(&v.demand, w.round, w.load)
		v.now = Use{CPU: part.CPU * w.VM.CPU, Memory: part.Memory * w.VM.Memory}
		v.mean.Add(v.now)
		m := &w.machines[v.home]
		m.now, m.mean = m.now.Plus(v.now), m.mean.Plus(v.mean.Value)
	}
	for i := range w.machines {
		if m := &w.machines[i]; !m.asleep {
			m.history = append(m.history[max(0, len(m.history)-historyLength+1):], m.now.CPU)
		}
	}
	w.round++
}

// A move costs energy. The source has no constants: a move has the network of both machines to itself, 10 Gbit/s; it
// takes a tenth of what the VM uses of the CPU, and power is linear in CPU, between those that the machine's maker
// measured.
const (
	machineBytes = 4 << 30
	bandwidth    = 10e9 / 8
	moveCPU      = 0.1
	dynamicWatts = 135 - 93.7
)

// move moves a VM, which counts where it comes at once. A machine without VMs sleeps.
func (w *world) move(v, to int) {
	of := &w.vms[v]
	from, dest := &w.machines[of.home], &w.machines[to]
	at := slices.Index(from.vms, v)
	from.vms = slices.Delete(from.vms, at, at+1)
	from.now, from.mean = from.now.Less(of.now), from.mean.Less(of.mean.Value)
	w.settle(of.home)
	dest.vms, dest.asleep, of.home = append(dest.vms, v), false, to
	dest.now, dest.mean = dest.now.Plus(of.now), dest.mean.Plus(of.mean.Value)
	seconds := cmp.Or(w.Move, of.now.Memory*machineBytes/bandwidth)
	of.lost += moveCPU * of.now.CPU * seconds
	w.joules += 2 * dynamicWatts * moveCPU * of.now.CPU * seconds
	w.moves++
}

// settle puts a machine to sleep that has no VM.
func (w *world) settle(i int) {
	if m := &w.machines[i]; len(m.vms) == 0 {
		m.asleep, m.now, m.mean, m.refused, m.history = true, Use{}, Use{}, 0, nil
	}
}

// order is the machines in an order that is drawn.
func (w *world) order() []int { return w.rand.Perm(len(w.machines)) }

// shuffle has a machine gossip: those that sleep do as well, so that they are known when they are wanted.
func (w *world) shuffle(i int) {
	v := &w.machines[i].view
	if peer, sent, ok := v.Begin(w.rand.IntN); ok {
		v.End(w.machines[peer].view.Answer(sent, w.rand.IntN), sent)
	}
}

// peer draws one of those that a machine knows and that sleep, or do not.
func (w *world) peer(i int, asleep bool) (int, bool) {
	var fit [gossip.Size]int
	n := 0
	for _, e := range w.machines[i].view.Entries() {
		if w.machines[e.Peer].asleep == asleep {
			fit[n] = e.Peer
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return fit[w.rand.IntN(n)], true
}

// Run runs a world.
func Run(c Config) (Outcome, error) {
	if err := c.Validate(); err != nil {
		return Outcome{}, fmt.Errorf("machines and VMs: %w", err)
	}
	w := newWorld(c)
	policy, o := policies[slices.Index(Policies(), c.Policy)].round, Outcome{}
	for range c.Learning {
		if stopped(c.Stop) {
			return o, des.ErrStopped
		}
		w.step()
		if c.Policy == GLAP {
			w.learn(&o)
		}
	}
	if c.Learning == 0 {
		w.step()
	}
	for range c.Rounds {
		if stopped(c.Stop) {
			return o, des.ErrStopped
		}
		w.moves = 0
		policy(w)
		w.step()
		o.count(w)
	}
	o.conclude(w)
	return o, nil
}

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}
