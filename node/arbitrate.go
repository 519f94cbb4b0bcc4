package node

import (
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// divide turns requests into grants and grants into quotas: points 3 to 6 of
// design section 4. Without a tick (a Plan between slots) no controller steps;
// the last requests stand and new targets ask for Eq 7. It returns the capacity.
func (e *Engine) divide(now units.Instant, tick bool) (limit units.Cores) {
	e.capacity.pass(now)
	limit = e.capacity.cores()
	if len(e.apps)+len(e.active) == 0 {
		return limit
	}
	e.groups, e.stages, e.active, e.grants = e.groups[:0], e.stages[:0], e.active[:0], e.grants[:0]
	for _, a := range e.apps {
		from := len(e.stages)
		for _, c := range a.controls {
			if c.active {
				e.request(c, now, limit, tick)
			}
		}
		if len(e.stages) > from {
			e.groups = append(e.groups, supervisor.App{})
			e.group(&e.groups[len(e.groups)-1], a, now, from)
		}
	}
	// The flat slice may have moved while it grew.
	from := 0
	for i := range e.groups {
		n := len(e.groups[i].Stages)
		e.groups[i].Stages = e.stages[from : from+n : from+n]
		from += n
	}
	if len(e.active) > 0 {
		e.grants = e.sup.Divide(limit, e.groups, e.grants)
	}
	for i, c := range e.active {
		e.grant(c, e.grants[i], now)
	}
	return limit
}

// request settles what c asks for and enters it for the division.
func (e *Engine) request(c *control, now units.Instant, limit units.Cores, tick bool) {
	if tick {
		e.step(c, now, limit)
	} else {
		floor, most := e.bounds(c, limit)
		e.propose(c, now, floor, most)
	}
	e.active = append(e.active, c)
	e.stages = append(e.stages, supervisor.Stage{})
	s := &e.stages[len(e.stages)-1]
	s.Key, s.Executor, s.Request, s.Runnable = c.target.StageKey, c.x.key.ID, c.request, c.ready
}

// group fills g, which is zero, with what the supervisor has to know of an
// application (design 10.3). A planner that tells no rate leaves that of its stages
// here, weighted by their work.
func (e *Engine) group(g *supervisor.App, a *app, now units.Instant, from int) {
	var records, work float64
	for _, c := range e.active[from:] {
		records += c.target.Records
		work += float64(c.target.Work)
	}
	g.ID, g.HasDeadline, g.Stages = a.plan.ID, a.plan.HasDeadline, e.stages[from:]
	if a.plan.HasDeadline {
		g.TTC = units.FromDuration(a.deadline.Sub(now))
	}
	if g.Rate = a.plan.NominalRate; g.Rate <= 0 && work > 0 {
		g.Rate = units.Rate(records / work)
	}
}

// grant tells c's control law what it was granted where that is not what the
// law takes for granted (Eq 19), with the value before rounding.
func (e *Engine) grant(c *control, grant units.Cores, now units.Instant) {
	if c.x.conflict.yields {
		grant = min(grant, c.x.quota) // What others left over cannot be had either.
	}
	c.grant = grant
	switch {
	case c.law == nil:
		law, err := controller.New(e.cfg.Controller, c.aimed(), grant)
		if err != nil {
			c.active = false
			e.controlError(c, err)
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
	e.dirty = true
}

// enforce writes x's quota if the grant is a quantum or more away from what is
// in force. An executor that nothing controls has no quota, and neither has one
// that is granted all there is. For one that is handsOff everything is worked out
// and nothing is written.
func (e *Engine) enforce(x *executor, limit units.Cores) {
	if !x.alive() || !x.here || !x.quotaKnown {
		return
	}
	c := x.ctl
	want, rest := units.Unlimited, units.Cores(0)
	if c != nil && c.active {
		x.charged = c.record
		want, rest = e.round(x, c.grant, limit)
	}
	if want == x.quota || !x.conflict.writes() {
		return
	}
	x.quota, x.remainder = want, rest
	if x.charged != nil {
		x.charged.quotaChanges++
	}
	if x.handsOff {
		return
	}
	e.counters.QuotaWrites++
	e.actions = append(e.actions, Action{Kind: ActSetQuota, Key: x.key, Cores: want})
}

// round returns the quota for a grant: the one in force if that is less than a
// quantum away, Unlimited for the whole capacity, else a multiple of the
// quantum. What rounding withholds is given back with the next quota.
func (e *Engine) round(x *executor, grant, limit units.Cores) (quota, rest units.Cores) {
	const close = 1e-9
	q := e.cfg.Quantum
	if grant >= limit-close {
		return units.Unlimited, 0
	}
	inForce := min(x.quota, limit)
	if math.Abs(float64(grant-inForce)) < float64(q-close) {
		return x.quota, x.remainder
	}
	aim := grant + x.remainder
	quota = max(q, q*units.Cores(math.Round(float64(aim/q))))
	if quota >= limit-close {
		return units.Unlimited, 0
	}
	return quota, (aim - quota).Clamp(-q/2, q/2)
}

// sampleStages keeps what this tick, of 1/perSecond seconds, looked like for every
// stage at work on x.
func (x *executor) sampleStages(now units.Instant, perSecond float64) {
	if !x.here {
		return
	}
	for _, r := range x.records {
		var c *control
		if x.ctl != nil && x.ctl.record == r {
			c = x.ctl
		}
		if c == nil && r.used <= 0 && r.running == 0 {
			continue
		}
		s := r.sample(now)
		*s = api.StageSample{Grant: api.Unknown, Running: r.running, Used: units.Cores(float64(r.used) * perSecond)}
		if c != nil {
			c.sample(r, s, now)
		}
	}
}

func (c *control) sample(r *record, s *api.StageSample, now units.Instant) {
	s.SetPoint = c.out.SetPoint
	s.Progress = units.Fraction(c.meter.done / c.target.Weight).Clamp()
	if s.Progress != r.progress {
		r.progress, r.changed = s.Progress, now
	}
	if c.active {
		s.Request = c.request
		if !c.x.quota.IsUnlimited() {
			s.Grant = c.grant
		}
	}
}
