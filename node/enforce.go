package node

import (
	"math"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// stopAgain is when a stop that had no effect is asked for again.
const stopAgain = 10 * time.Second

// enforce writes x's quota if the grant is a quantum or more away from what is
// in force. An executor that nothing controls has no quota but its cap, and neither has one that is granted all there
// is, or all that those leave who share. The use of others is a mean of the last seconds, and weights keep their floor.
// An executor that is capped has a quota always. For one that is unmanaged everything is worked out, and nothing is
// written but its cap.
func (r *roster) enforce(x *executor, limit units.Cores) {
	if !x.alive() || !x.life.here || !x.quotaKnown || x.life.found.Unpaced != "" {
		return
	}
	if x.unmanaged {
		x.holdToCap(r.cfg.Quantum, &r.out)
	}
	if x.cap.any {
		limit = units.Unlimited // Others may leave more in a moment.
	}
	limit = min(limit, x.life.found.most())
	c := x.ctl
	want, rest := units.Unlimited, units.Cores(0)
	if c != nil && c.active {
		x.charged = c.record
		if !x.free {
			want, rest = r.round(x, c.grant, limit)
		}
	} else if x.cap.part > 0 {
		want, rest = r.round(x, x.cap.part, limit)
	}
	if want == x.quota || !x.owner.writes() {
		return
	}
	x.quota, x.remainder = want, rest
	if x.charged != nil {
		x.charged.quotaChanges++
	}
	if x.unmanaged {
		return
	}
	r.out.counters.QuotaWrites++
	r.out.act(Action{Kind: ActSetQuota, Key: x.key, Cores: want})
}

// sameCores is how far apart cores may be that are the same.
const sameCores = 1e-9

// round returns the quota for a grant: the one in force if that is less than a
// quantum away, Unlimited for the whole capacity, else a multiple of the
// quantum. Cores that rounding withholds are given back with the next quota.
func (r *roster) round(x *executor, grant, limit units.Cores) (quota, rest units.Cores) {
	q := r.cfg.Quantum
	if grant >= limit-sameCores {
		return units.Unlimited, 0
	}
	inForce := min(x.quota, limit)
	if math.Abs(float64(grant-inForce)) < float64(q-sameCores) {
		return x.quota, x.remainder
	}
	aim := grant + x.remainder
	quota = max(q, q*units.Cores(math.Round(float64(aim/q))))
	if quota >= limit-sameCores {
		return units.Unlimited, 0
	}
	return quota, (aim - quota).Clamp(-q/2, q/2)
}

// launch marks x if it has to be started: each listed executor once, when there is memory
// for it and the Plan has its secrets.
func (r *roster) launch(x *executor) bool {
	if !x.life.listed || x.life.started || x.memory.waits || x.memory.loan.taken || x.life.withheld {
		return false
	}
	x.life.started, x.life.launching = true, true
	return true
}

// reconcile appends the starts that launch marked and the stops of what the
// Plan does not list, and forgets what is gone. A node that never had a Plan
// stops nothing.
func (r *roster) reconcile(now units.Instant) {
	if r.plan.Epoch == 0 {
		return
	}
	r.execs = slices.DeleteFunc(r.execs, func(x *executor) bool {
		if !x.life.listed {
			return r.dismiss(x, now)
		}
		if x.life.launching && !x.life.asked {
			x.life.asked = true
			r.out.changed = true
			start := Action{Kind: ActStart, Key: x.key, Launch: r.launchOf(x.key.App), Lent: x.memory.loan.lent}
			if start.Component = x.life.component; x.life.component != nil {
				start.Launch = x.life.component.Launch(start.Launch)
			}
			r.out.act(start)
		}
		takeBack(x, r, now)
		return false
	})
}

// dismiss stops an executor that the Plan does not list. It reports whether it
// is gone and all about it has been told.
func (r *roster) dismiss(x *executor, now units.Instant) (forget bool) {
	again := x.life.stopAsked == 0 || now.Sub(x.life.stopAsked) >= stopAgain
	switch {
	case !x.life.here && (!x.life.launching || (again && x.life.stopAsked > 0)):
		if x.lingers(now, r.cfg.Linger) {
			return false
		}
		r.forget(x)
		return true
	case again:
		x.life.stopAsked = now
		r.out.act(Action{Kind: ActStop, Key: x.key})
	}
	return false
}

// takeBack stops x, whose memory is taken back, when its driver has had the time to hear of it.
func takeBack(x *executor, r *roster, now units.Instant) {
	due := now.Sub(x.memory.loan.at) >= takeWait && (x.life.stopAsked == 0 || now.Sub(x.life.stopAsked) >= stopAgain)
	if x.memory.loan.taken && x.life.here && x.alive() && due {
		x.life.stopAsked = now
		r.out.act(Action{Kind: ActStop, Key: x.key})
	}
}
