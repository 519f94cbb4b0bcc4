package node

import (
	"math"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/units"
)

// wake decides whether x's target is controlled at now: not while the executor
// starts, when its page is stale, or once its share is done. All those leave it
// all cores.
func (r *roster) wake(x *executor, now units.Instant) {
	x.ctl = x.choose()
	x.owner.retarget(x.ctl.aimsAt(), x.ctl != nil && x.ctl.ready == 0)
	for _, c := range x.controls {
		if c != x.ctl {
			c.active = false
		}
	}
	c := x.ctl
	if c == nil {
		x.seen.stale = false
		return
	}
	was := c.active
	c.active = false
	if !x.alive() || x.seen.pageAt == 0 {
		return
	}
	if why := x.staleness(now, r.cfg.Stale); why != "" {
		if !x.seen.stale {
			x.seen.stale = true
			r.out.counters.PagesStale++
			r.out.event(c.event(EventPageStale, why))
		}
		return
	}
	if x.seen.stale {
		x.seen.stale = false
		r.out.event(c.event(EventPageFresh, ""))
	}
	if c.erring && now.Sub(c.good) > r.cfg.Stale {
		c.released = true
	}
	c.active = c.ready > 0 && !c.released
	if !c.active {
		return
	}
	if !c.everActive {
		c.everActive = true
		r.out.event(c.event(EventBound, ""))
	} else if !was {
		c.resync = true
	}
}

// bounds are the least and the most that c may request: never more than the tasks that could run
// can use, nor than somebody else's quota that is yielded to.
func (r *roster) bounds(c *control, limit units.Cores) (floor, most units.Cores) {
	most = min(limit, c.usable(), c.x.life.found.most())
	if c.x.owner.yields {
		most = min(most, c.x.quota)
	}
	return min(r.cfg.Floor, most), most
}

// request settles what c asks for.
func (r *roster) request(c *control, now units.Instant, limit units.Cores, tick bool) {
	if tick {
		r.step(c, now, limit)
		return
	}
	floor, most := r.bounds(c, limit)
	r.propose(c, now, floor, most)
}

// step runs the control law of an active target on a page that is newer than
// the last one it saw, with a reading of the CPU time to go with it. Between pages,
// and while samples are refused, the last request stands.
func (r *roster) step(c *control, now units.Instant, limit units.Cores) {
	x := c.x
	floor, most := r.bounds(c, limit)
	if c.law != nil && x.seen.pageAt > c.at && x.seen.usageAt == now {
		dt, longest := x.seen.pageAt.Sub(c.at), c.longest()
		out, err := c.law.Step(controller.Input{At: x.seen.pageAt, Dt: dt, Done: c.meter.Done(),
			Runnable: c.ready, Width: c.each(), Min: floor, Max: limit, Used: c.spent.Per(dt), Chains: c.left(longest),
			Alike: c.alike(longest)})
		if err != nil {
			r.controlError(c, err)
		}
		if c.erring = err != nil; !c.erring {
			c.good = now
			c.width.observe(c.spent.Per(dt), x.quota, c.record.running, c.record.finished+c.record.failed, x.room.atOnce)
		}
		c.at, c.spent = x.seen.pageAt, 0
		c.out, c.request, c.told = out, out.Request, out.Request
		r.out.dirty = true
	}
	r.propose(c, now, floor, most)
}

// propose settles c's request where the control law does not: before its first
// step, after an interruption, and for a deadline that has passed.
func (r *roster) propose(c *control, now units.Instant, floor, most units.Cores) {
	switch {
	case c.deadline <= c.start || c.out.SetPoint >= 1 || c.x.owner.yields:
		c.request = most
	case c.resync:
		c.request = c.inForce(now, &r.cfg, most)
	case c.law == nil:
		c.request = c.first(most)
	}
	if c.target.Hold > 0 && now < c.held && !c.x.owner.yields && c.deadline > now && c.out.SetPoint < 1 {
		c.request = c.target.Hold
	}
	c.resync = false
	c.request = c.request.Clamp(floor, most)
}

// grant tells c's control law what it was granted where that is not what the
// law takes for granted (Eq 19), with the value before rounding.
func (r *roster) grant(c *control, grant units.Cores, now units.Instant) {
	if c.x.owner.yields {
		grant = min(grant, c.x.quota) // Cores that others left over cannot be had either.
	}
	c.grant = grant
	switch {
	case c.law == nil:
		law, err := controller.New(r.cfg.Controller, c.aimed(), grant)
		if err != nil {
			c.active = false
			r.controlError(c, err)
			c.erring = true
			return
		}
		c.law, c.at, c.spent, c.good = law, now, 0, now
		c.retarget = false
	case c.retarget:
		c.law.Retarget(c.aimed(), grant)
		c.retarget = false
	case math.Abs(float64(grant-c.told)) > 1e-9:
		c.law.Granted(grant)
	default:
		return
	}
	c.told = grant
	r.out.dirty = true
}
