package node

import (
	"math"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// capacity estimates what the node can give to stages: cmax of each tick.
// Drivers and daemons live on the same cores, and a core that
// they use cannot be granted.
//
//	others(k)  = max(0, host used - our executors used) / dt
//	smooth(k)  = smooth(k-1) + (1 - e^(-dt/tau)) (others(k) - smooth(k-1))
//	capacity   = min(offered, total - smooth), at least offered * least
//
// The smoothing and the floor keep one noisy tick from collapsing every grant;
// it cannot oscillate because nothing that Pacer grants enters others.
//
// A driver whose application is over has its exit before it, and its deadline: for
// driverRoom a core is kept free for each that runs on this machine, half of what is offered
// at most. Until it has that core, what others use does not show it.
type capacity struct {
	total, offered, floor units.Cores
	tau                   time.Duration
	host                  units.Work
	others                units.Cores
	exits                 []units.Instant // Until when a core is kept for a driver.
}

// driverRoom is for how long a driver's exit is made room for: 0.7 to 2.8 s are seen.
const driverRoom = 3 * time.Second

// mostForDrivers is the share of what is offered that may be kept for drivers.
const mostForDrivers = 0.5

// driver keeps a core for a driver that leaves.
func (c *capacity) driver(now units.Instant) { c.exits = append(c.exits, now.Add(driverRoom)) }

// pass lets drivers' time go by.
func (c *capacity) pass(now units.Instant) {
	c.exits = slices.DeleteFunc(c.exits, func(until units.Instant) bool { return until <= now })
}

func newCapacity(cfg Config) capacity {
	return capacity{total: cfg.Total, offered: cfg.Offered, floor: cfg.Offered * units.Cores(cfg.LeastCapacity), tau: cfg.Smoothing}
}

// observe takes in what the whole machine has used since its boot and what our
// executors have used in the last dt. A first, missing or decreasing reading,
// and one without time in between, changes nothing.
func (c *capacity) observe(host, ours units.Work, dt time.Duration) {
	before := c.host
	c.host = host
	if before <= 0 || host < before || dt <= 0 || math.IsNaN(float64(host)) || math.IsInf(float64(host), 0) {
		return
	}
	others := min(max(0, host-before-ours).Per(dt), c.total)
	if others == c.others {
		return // As on every idle node.
	}
	gain := 1.0
	if c.tau > 0 {
		gain = -math.Expm1(-dt.Seconds() / c.tau.Seconds())
	}
	c.others += units.Cores(gain) * (others - c.others)
}

// cores is the capacity now; never above what is offered.
func (c *capacity) cores() units.Cores {
	cores := (c.total - c.others).Clamp(c.floor, c.offered)
	if n := len(c.exits); n > 0 {
		cores = min(cores, max(c.total-units.Cores(n), mostForDrivers*c.offered))
	}
	return cores
}
