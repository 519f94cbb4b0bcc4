package sim

import (
	"slices"

	"github.com/sparkpacer/pacer/physics"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// machine is a node's hardware: cores that are shared by what wants them.
type machine struct {
	id uint64
	// tickAt is when pages will be read next.
	tickAt units.Instant
	// others is what anything but executors takes, in cores; used the CPU time
	// of others until at and of executors that are gone.
	others, used float64
	// driving is what the drivers on it take, in cores.
	driving float64
	at      units.Instant
	cores   float64
	procs   []*process // In order of start.
	w       *World
	name    string
	speed   float64
	// gone says that it has no power.
	gone bool
	// frozen says that pages are not written, garbled that samples are wrong.
	frozen, garbled bool
	// deaf says that executors see no wishes for memory, starting what those take that are
	// being started, changed when an executor came or went, died who has gone.
	deaf     bool
	starting units.Bytes
	changed  units.Instant
	// beyond is when less than its memory was last wanted, doubled since when more is promised
	// than that, with what lives here and is strange.
	beyond, doubled units.Instant
	died            map[executorKey]bool
	shares, weights []float64
	order           []int
}

// hostUsed is the CPU time that the machine has used; des.Never 0, which would mean
// that it cannot be read.
func (m *machine) hostUsed(now units.Instant) float64 {
	m.advance(now)
	used := m.used + 1
	for _, p := range m.procs {
		p.advance(now)
		used += p.cpu
	}
	return used
}

func (m *machine) advance(now units.Instant) {
	m.used += m.taken() * des.Seconds(m.at, now)
	m.at = now
}

// taken is what is not left to executors, in cores.
func (m *machine) taken() float64 { return min(m.others+m.driving, m.cores) }

// drive has drivers take that many cores more from now on.
func (m *machine) drive(now units.Instant, cores float64) {
	m.advance(now)
	m.driving = max(0, m.driving+cores)
	m.divide(now)
}

// disturb has others take that many cores from now on.
func (m *machine) disturb(now units.Instant, cores float64) {
	m.advance(now)
	m.others = cores
	m.divide(now)
}

// divide gives the cores to the executors, by their weights and up to what each wants and
// its quota allows (max-min).
func (m *machine) divide(now units.Instant) {
	m.shares, m.weights = m.shares[:0], m.weights[:0]
	for _, p := range m.procs {
		m.shares, m.weights = append(m.shares, min(p.wants(), p.quota)), append(m.weights, p.weight)
	}
	m.order = physics.Divide(m.shares, m.weights, m.cores-m.taken(), m.order)
	for i, p := range m.procs {
		if m.shares[i] != p.got {
			p.advance(now)
			p.got = m.shares[i]
			p.plan(now)
		}
	}
}

// remove takes an executor away.
func (m *machine) remove(p *process, now units.Instant) {
	p.advance(now)
	m.used += p.cpu
	m.procs = slices.DeleteFunc(m.procs, func(q *process) bool { return q == p })
	m.w.clock.Cancel(&p.timer)
	m.divide(now)
}

func (m *machine) find(key executorKey) *process {
	for _, p := range m.procs {
		if p.key == key {
			return p
		}
	}
	return nil
}
