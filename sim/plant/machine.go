package plant

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/controller/physics"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Machine is a node's hardware: cores that are shared by what wants them. What is exported is
// set at its start, and read after that; Frozen, Deaf and ReadAt may change at any time.
type Machine struct {
	// ReadAt is when pages will be read next: an executor writes none before.
	ReadAt units.Instant
	Plant  *Plant
	Name   string
	// ID orders it among the plant's.
	ID uint64
	// Cores is how many it has, Speed what they are worth, Others how many anything but
	// executors and drivers takes.
	Cores, Speed, Others float64
	// Rates are bytes a second over its disks and its network, 0 for any number.
	Rates [2]float64
	// Frozen says that pages are not written, Deaf that executors see no wishes for memory.
	Frozen, Deaf bool

	// used is the CPU time of others until at, and of executors that are gone.
	used float64
	at   units.Instant
	// driving is what the drivers on it take, in cores; stolen are cores that it has and does
	// not get, as a machine that is virtual.
	driving, stolen float64
	procs           []*Process // In order of start.
	shares, weights []float64
	order           []int
	idle            [2]units.Instant // When its disks and its network have moved all that was asked for.
}

// move asks for bytes over the disks and the network, and returns when they are there: each moves what comes first at
// its full rate.
func (m *Machine) move(now units.Instant, bytes [2]float64) (there units.Instant) {
	for d := range bytes {
		if bytes[d] > 0 && m.Rates[d] > 0 {
			m.idle[d] = max(now, m.idle[d]).Add(time.Duration(bytes[d] / m.Rates[d] * 1e9))
			there = max(there, m.idle[d])
		}
	}
	return there
}

// Clock is what the machine's monotonic clock shows at a moment: each has its own.
func (m *Machine) Clock(at units.Instant) units.Instant {
	return at + bootTime + units.Instant(m.ID)*units.Instant(137*time.Millisecond)
}

// Boot is the id of its boot.
func (m *Machine) Boot() string { return "boot-" + m.Name }

// Processes are the executors on it, in order of start. The caller changes nothing.
func (m *Machine) Processes() []*Process { return m.procs }

// Held are those of Processes that a node controller holds.
func (m *Machine) Held() []*Process {
	unsought := func(p *Process) bool { return p.Unsought }
	if !slices.ContainsFunc(m.procs, unsought) {
		return m.procs
	}
	return slices.DeleteFunc(slices.Clone(m.procs), unsought)
}

// Find returns an executor, nil where it is not there.
func (m *Machine) Find(key node.Key) *Process {
	for _, p := range m.procs {
		if p.Key == key {
			return p
		}
	}
	return nil
}

// Used is the CPU time that the machine has used, in core-seconds; not 0 ever, which would
// mean that it cannot be read.
func (m *Machine) Used() float64 {
	m.advance()
	used := m.used + 1
	for _, p := range m.procs {
		p.advance(m.at)
		used += p.has.cpu
	}
	return used
}

func (m *Machine) advance() {
	now := m.Plant.clock.Now()
	m.used += m.Taken() * des.Seconds(m.at, now)
	m.at = now
}

// Taken is what is not left to executors, in cores.
func (m *Machine) Taken() float64 { return min(m.Others+m.driving, m.Cores) }

// drive has drivers take that many cores more from now on.
func (m *Machine) drive(cores float64) {
	m.advance()
	m.driving = max(0, m.driving+cores)
	m.divide(m.at)
}

// Disturb has other programs take that many cores from now on.
func (m *Machine) Disturb(cores float64) {
	m.advance()
	m.Others = cores
	m.divide(m.at)
}

// Steal keeps that many of its cores from executors, of which its CPU time tells nothing.
func (m *Machine) Steal(cores float64) {
	m.stolen = cores
	m.divide(m.Plant.clock.Now())
}

// Slow changes what its cores are worth.
func (m *Machine) Slow(speed float64) {
	now := m.Plant.clock.Now()
	for _, p := range m.procs {
		p.advance(now)
	}
	m.Speed = max(speed, 1e-3)
	for _, p := range m.procs {
		p.plan(now)
	}
}

// divide gives the cores to the executors, by their weights and up to what each wants and
// its quota allows (max-min).
func (m *Machine) divide(now units.Instant) {
	m.shares, m.weights = m.shares[:0], m.weights[:0]
	for _, p := range m.procs {
		m.shares, m.weights = append(m.shares, min(p.wants(), p.has.quota)), append(m.weights, p.has.weight)
	}
	m.order = physics.Divide(m.shares, m.weights, m.Cores-m.stolen-m.Taken(), m.order)
	for i, p := range m.procs {
		if m.shares[i] != p.has.got {
			p.advance(now)
			p.has.got = m.shares[i]
			p.plan(now)
		}
	}
}

// Remove takes an executor away.
func (m *Machine) Remove(p *Process) {
	now := m.Plant.clock.Now()
	p.advance(now)
	m.used += p.has.cpu
	m.procs = slices.DeleteFunc(m.procs, func(q *Process) bool { return q == p })
	m.Plant.clock.Cancel(&p.timer)
	m.divide(now)
}
