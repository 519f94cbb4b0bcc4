package node

import (
	"math"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// capacity estimates what the node can give to stages: cmax of each tick
// (design 10.8). Drivers and daemons live on the same cores, and a core that
// they use cannot be granted.
//
//	others(k)  = max(0, host used - our executors used) / dt
//	smooth(k)  = smooth(k-1) + (1 - e^(-dt/tau)) (others(k) - smooth(k-1))
//	capacity   = min(offered, total - smooth), at least offered * least
//
// The smoothing and the floor keep one noisy tick from collapsing every grant;
// it cannot oscillate because nothing that Pacer grants enters others.
type capacity struct {
	total, offered, floor units.Cores
	tau                   time.Duration
	host                  units.Work
	others                units.Cores
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
	return (c.total - c.others).Clamp(c.floor, c.offered)
}
