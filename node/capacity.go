package node

import (
	"math"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// capacity estimates what the node can give to stages: cmax of each tick.
// Drivers and daemons live on the same cores, and a core that
// they use cannot be granted.
//
//	others(k)  = max(0, host used - our executors used) / dt
//	smooth(k)  = smooth(k-1) + (1 - e^(-dt/tau)) (others(k) - smooth(k-1))
//	capacity   = min(offered, machine - smooth), at least offered * least
//
// In a container the node may use less than the machine has: what others use there takes nothing
// from it as long as they leave it that.
//
// The CPU time of executors that are left alone (api.Mode) is smoothed alike and taken off as well, up to half of the
// capacity. With less a quota would keep what they have taken from ever coming back. A JVM that starts beside stages of
// other applications is one of the others.
//
// The smoothing and the floor keep one noisy tick from collapsing every grant;
// it cannot oscillate because nothing that Pacer grants enters others.
//
// A driver whose application is over has its exit before it, and its deadline. A core is kept free for each that runs
// on this machine, half of what is offered at most, until the planner knows that it has exited, for Room.Exit at most.
// Until it has that core, what others use does not show it.
type capacity struct {
	room                  *sharing.Room
	total, offered, floor units.Cores
	machine               units.Cores
	tau                   time.Duration
	host                  units.Work
	others, watched       units.Cores // Others, and executors that are left alone.
	contended             bool        // Others use so much that the floor stands for what they leave.
	short                 bool        // Executors had less than the floor in the last tick.
	exits                 []exit      // The drivers for which a core is kept.
}

// exit is a driver's for which a core is kept, for Room.Exit at most.
type exit struct {
	app   api.AppID
	until units.Instant
}

// driver keeps a core for the driver of an application that is over.
func (c *capacity) driver(now units.Instant, app api.AppID) {
	c.exits = append(c.exits, exit{app, now.Add(c.room.Exit)})
}

// exiting keeps cores for those drivers only.
func (c *capacity) exiting(apps []api.AppID) {
	c.exits = slices.DeleteFunc(c.exits, func(e exit) bool { return !slices.Contains(apps, e.app) })
}

// keeps reports whether a core is kept for a driver.
func (c *capacity) keeps() bool { return len(c.exits) > 0 }

// pass lets drivers' time go by.
func (c *capacity) pass(now units.Instant) {
	c.exits = slices.DeleteFunc(c.exits, func(e exit) bool { return e.until <= now })
}

func newCapacity(cfg Config) capacity {
	return capacity{room: &sharing.Of(cfg.Sharing).Room, total: cfg.Total, offered: cfg.Offered,
		floor: cfg.Offered * units.Cores(cfg.LeastCapacity), tau: cfg.Smoothing,
		machine: max(cfg.Machine, cfg.Total)}
}

// observe takes in what the whole machine has used since its boot and what our
// executors have used in the last dt, those that are left alone apart. A first, missing or
// decreasing reading, and one without time in between, changes nothing.
func (c *capacity) observe(host units.Work, used usage, dt time.Duration) {
	before := c.host
	c.host = host
	if before <= 0 || host < before || dt <= 0 || math.IsNaN(float64(host)) || math.IsInf(float64(host), 0) {
		return
	}
	c.short = (used.ours + used.watched).Per(dt) < c.floor
	c.others = c.smooth(c.others, host-before-used.ours-used.watched, dt)
	if left := c.machine - c.others; left < c.floor {
		c.contended = true
	} else if left > c.floor+c.room.Relief*c.offered {
		c.contended = false
	}
	c.watched = c.smooth(c.watched, used.watched, dt)
}

// smooth moves a mean towards what was used in dt.
func (c *capacity) smooth(mean units.Cores, used units.Work, dt time.Duration) units.Cores {
	now := min(max(0, used).Per(dt), c.machine)
	if now == mean {
		return mean // As on every idle node.
	}
	gain := 1.0
	if c.tau > 0 {
		gain = -math.Expm1(-dt.Seconds() / c.tau.Seconds())
	}
	return mean + units.Cores(gain)*(now-mean)
}

// cores is the capacity now; never above what is offered.
func (c *capacity) cores() units.Cores {
	all := c.whole()
	return max(all-c.watched, (1-c.room.LeftAlone)*all)
}

// whole is the capacity with what those use that are left alone.
func (c *capacity) whole() units.Cores {
	cores := c.all()
	if n := len(c.exits); n > 0 {
		cores = min(cores, max(c.total-units.Cores(n)*c.room.Driver, c.room.Drivers*c.offered))
	}
	return cores
}

// all is the whole capacity with what is kept for drivers: who is granted that much needs no
// quota.
func (c *capacity) all() units.Cores { return (c.machine - c.others).Clamp(c.floor, c.offered) }

// usage is what executors have used in a tick: ours, and those that are left alone. The CPU time of a JVM that starts
// beside others' stages is neither.
type usage struct{ ours, watched units.Work }
