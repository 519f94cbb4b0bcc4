package plant

import (
	"math"
	"time"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// The ranks order what happens to a plant at one instant: what comes from outside first, then
// its executors move, then its drivers. RankRest is the first one of all that looks at it.
const (
	RankOutside des.Rank = iota
	RankExecutor
	RankDriver
	RankRest
)

// Plant is what machines, executors and drivers of one world have in common.
type Plant struct {
	// Weights says that drivers tell the sizes of a shuffle's partitions, as the jar does.
	Weights bool
	// Managed are the machines on which another cluster manager starts executors (App.Attach).
	Managed []*Machine
	// Exited is called with each executor that exits, before its driver notices.
	Exited func(*Process)

	cfg       Config
	clock     *des.Clock
	seed      uint64
	processes int
	// keep is how much of its noise a rate keeps in Config.Page, fresh the weight of
	// what is drawn for it.
	keep, fresh float64
}

// New returns a plant on a clock. All its randomness is by the seed.
func New(c Config, clock *des.Clock, seed uint64) *Plant {
	if c.Page == 0 {
		c.Page = 100 * time.Millisecond
	}
	p := &Plant{cfg: c, clock: clock, seed: seed, Exited: func(*Process) {}}
	p.keep = math.Exp(-c.Page.Seconds() / noiseTime)
	p.fresh = math.Sqrt(1 - p.keep*p.keep)
	return p
}

// detect is how long a driver takes to notice that a connection is gone.
const detect = 50 * time.Millisecond

// exited has the driver of an executor that is gone notice it.
func (p *Plant) exited(x *Process) {
	p.Exited(x)
	d := x.Driver
	d.Manager.gone(x)
	p.clock.After(detect, RankDriver, d.ID, func() { d.lost(x) })
}

// bootTime is how long a machine had been up when its world began.
const bootTime = units.Instant(time.Hour)
