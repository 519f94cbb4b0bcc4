package node

import (
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// division turns requests into grants. Its slices are used again from call to call.
type division struct {
	sup      *supervisor.Supervisor
	capacity capacity
	// active are the controls of the last division, in the order of the Plan.
	active []*control
	groups []supervisor.App
	stages []supervisor.Stage
	grants []units.Cores
}

// divide settles what each active control of r asks for and grants it a part of the
// capacity, which it returns. Without a tick (a Plan between slots) no controller steps;
// the last requests stand and new targets ask for Eq 7.
func (d *division) divide(r *roster, now units.Instant, tick bool) (limit units.Cores) {
	d.capacity.pass(now)
	limit = d.capacity.cores()
	if len(r.apps)+len(d.active) == 0 {
		return limit
	}
	d.groups, d.stages, d.active, d.grants = d.groups[:0], d.stages[:0], d.active[:0], d.grants[:0]
	for _, a := range r.apps {
		from := len(d.stages)
		for _, c := range a.controls {
			if c.active {
				r.request(c, now, limit, tick)
				d.enter(c)
			}
		}
		if len(d.stages) > from {
			d.groups = append(d.groups, supervisor.App{})
			d.group(&d.groups[len(d.groups)-1], a, now, from)
		}
	}
	// The flat slice may have moved while it grew.
	from := 0
	for i := range d.groups {
		n := len(d.groups[i].Stages)
		d.groups[i].Stages = d.stages[from : from+n : from+n]
		from += n
	}
	if len(d.active) > 0 {
		d.grants = d.sup.Divide(limit, d.groups, d.grants)
	}
	for i, c := range d.active {
		r.grant(c, d.grants[i], now)
	}
	return limit
}

// enter has c take part.
func (d *division) enter(c *control) {
	d.active = append(d.active, c)
	d.stages = append(d.stages, supervisor.Stage{})
	s := &d.stages[len(d.stages)-1]
	s.Key, s.Executor, s.Request, s.Runnable = c.target.StageKey, c.x.key.ID, c.request, c.ready
}

// group fills g, which is zero, with what the supervisor has to know of an
// application. A planner that tells no rate leaves that of its stages
// here, weighted by their work.
func (d *division) group(g *supervisor.App, a *app, now units.Instant, from int) {
	var records, work float64
	for _, c := range d.active[from:] {
		records += c.target.Records
		work += float64(c.target.Work)
	}
	g.ID, g.HasDeadline, g.Stages = a.plan.ID, a.plan.HasDeadline, d.stages[from:]
	if a.plan.HasDeadline {
		g.TTC = units.FromDuration(a.deadline.Sub(now))
	}
	if g.Rate = a.plan.NominalRate; g.Rate <= 0 && work > 0 {
		g.Rate = units.Rate(records / work)
	}
}
