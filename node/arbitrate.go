package node

import (
	"cmp"
	"math"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// division turns requests into grants. Its slices are used again from call to call.
type division struct {
	sup      *supervisor.Supervisor
	cfg      supervisor.Config // Of sup.
	rules    *sharing.Params
	capacity capacity
	// part are those of the last division, in the order of the Plan, but that the last of
	// them, from watched on, are of applications that are left alone: what they would get.
	part    []claimant
	watched int
	groups  []supervisor.App
	real    int // How many of groups are not of them, nor of drivers.
	// kept is what is kept for drivers by which stages wait.
	kept    units.Cores
	stages  []supervisor.Stage
	grants  []units.Cores
	would   []units.Cores
	givenUp []bool // Of the groups, but that are left alone.
	sums    []part
}

// claimant is an executor with running tasks: with its control, or nil where no target of
// it is in force. first says that its application has a deadline that can be kept, and no cap. urgent says that it is
// that, needs nearly all there is to be in time, and has its driver on the same cores. reserved says that it asks for
// no more than is reserved for its application, which no target holds.
type claimant struct {
	x                       *executor
	c                       *control
	first, urgent, reserved bool
}

// short reports whether p's stage is one of an application that has no time to lose, and asks for
// more than it is granted.
func (p claimant) short() bool { return p.urgent && p.c.grant < p.c.request-sameCores }

// divide settles what each claimant asks for and grants it a part of the capacity. An
// active control asks for what its law says, any other executor for its running tasks.
// Without a tick (a Plan between slots) no controller steps; the last requests stand and
// new targets ask for Eq 7.
//
// Observed applications take nothing from the others but what they use, which the capacity
// does not have. Their grants are worked out as if they were held back, too.
func (d *division) divide(r *roster, now units.Instant, tick bool) {
	d.capacity.pass(now)
	for _, p := range d.part {
		p.x.divided, p.x.free, p.x.place = false, false, 0
	}
	if len(r.apps)+len(d.part) == 0 {
		return
	}
	limit := d.capacity.cores()
	d.groups, d.stages, d.part = d.groups[:0], d.stages[:0], d.part[:0]
	d.enterAll(r, now, limit, tick, false)
	d.real, d.watched = len(d.groups), len(d.part)
	drivers := d.enterDrivers(r, now)
	d.enterAll(r, now, d.capacity.whole(), tick, true)
	d.cut()
	d.grants = d.sup.Divide(limit, d.groups[:d.real+drivers], d.grants[:0])
	d.givenUp = d.givenUp[:0]
	for i := range d.real {
		d.givenUp = append(d.givenUp, d.sup.GaveUp(i))
	}
	d.kept = 0
	for _, c := range d.grants[d.watched:] {
		d.kept += c
	}
	d.grants = d.grants[:d.watched]
	if d.watched < len(d.part) {
		d.would = d.sup.Divide(d.capacity.whole(), d.groups, d.would[:0])
		d.grants = append(d.grants, d.would[d.watched+drivers:]...)
	}
	held := d.keeps()
	for i, p := range d.part {
		p.x.divided = true
		if p.c != nil {
			r.grant(p.c, d.grants[i], now)
			held = held || p.short()
		}
	}
	for _, a := range r.apps {
		a.divideCap(now, &r.cfg)
	}
	for i, p := range d.part {
		if held && p.c == nil && (p.x.cap.part == 0 || d.grants[i] < p.x.cap.part) {
			// By weight alone it would take the core that is kept for a driver, or the time that a stage leaves which is short
			// of cores, but waits for its next tasks. All executors together have one weight against the driver that is to make
			// them.
			p.x.cap.part = d.grants[i]
		}
	}
	most := d.placeReserved()
	if r.cfg.attaches() {
		return // Weights are the managers': quotas alone divide.
	}
	if d.cfg.Gamma == 1 && !held && d.weigh(limit, most) {
		return
	}
	if x := d.unbound(limit); x != nil {
		x.free = true
	}
}

// weigh has weights divide what quotas would, and reports whether they do. With gamma 1 all that nobody asks for is
// given away, so no quota is to hold a stage back. A quota would leave idle what the first one, as it waits for its
// next tasks, does not use of its part. They do not where cores are left that a stage could use (Eq21Printed), or where
// those who share had less than their floor by weight.
func (d *division) weigh(limit, most units.Cores) bool {
	granted, bound, behind, all := units.Cores(0), false, Weight(0), Weight(0)
	for i, p := range d.part[:d.watched] {
		granted += d.grants[i]
		switch {
		case p.x.shares:
			behind = d.rules.Weights.Behind
		case p.first:
			bound = bound || p.c.grant < units.Cores(d.stages[i].Runnable)-sameCores
			all += d.rules.Weights.Place(float64(p.c.grant), float64(most))
		case p.reserved:
			all += p.x.place
		}
	}
	if bound && granted < limit-sameCores {
		return false
	}
	if behind > 0 && behind < Weight(d.cfg.FloorShare)*(all+behind) {
		return false
	}
	for _, p := range d.part[:d.watched] {
		if p.first {
			p.x.free, p.x.place = true, d.rules.Weights.Place(float64(p.c.grant), float64(most))
		}
	}
	return true
}

// keeps reports whether a core is kept for a driver, or most of one.
func (d *division) keeps() bool { return d.capacity.keeps() || d.kept > d.rules.Room.Driver/2 }

// enterDrivers has the drivers take part by which stages wait, in their applications' places,
// and returns how many there are.
func (d *division) enterDrivers(r *roster, now units.Instant) (n int) {
	for _, a := range r.apps {
		if !r.waits(a, now) {
			continue
		}
		d.stages = append(d.stages, supervisor.Stage{Request: d.rules.Room.Driver, Runnable: int(d.rules.Room.Driver)})
		d.groups = append(d.groups, supervisor.App{ID: a.plan.ID, HasDeadline: true,
			TTC:   units.FromDuration(a.deadline.Sub(now)),
			Least: a.least(now), Behind: a.plan.Band == api.BandBehind, Rate: a.plan.NominalRate,
			Stages: d.stages[len(d.stages)-1:]})
		n++
	}
	return n
}

// unbound is the executor that needs no quota, nil where all need one. Its stage is the only one or the first of all
// applications', asks for more than there is and has more than any other, and no core is kept for a driver. Executors
// with a quota have as much as that allows, since the kernel gives an executor that wants less than its part no less.
// By weight alone the executors that share have what is left of the capacity.
func (d *division) unbound(limit units.Cores) *executor {
	most, second := d.widest()
	c := most.c
	if c == nil || !d.rules.Room.Unbound || !most.first || d.keeps() || c.grant >= c.request-sameCores {
		return nil
	}
	if second > 0 && (!d.sup.InOrder() || second >= c.grant-sameCores) {
		return nil
	}
	weight, behind, left, placed := Weight(0), Weight(0), limit, units.Cores(0)
	for i, p := range d.part[:d.watched] {
		switch {
		case p.x.shares:
			behind = d.rules.Weights.Behind
		case p.c == nil:
			weight += cmp.Or(p.x.place, sharing.Normal) // It has no quota, and is weighed as those that come first.
			placed += d.grants[i]
		case p.c == c:
		case p.x.key.App == most.x.key.App:
			return nil // The cores that are short are divided among its stages.
		default:
			left -= p.c.grant
		}
	}
	kept := min(left-c.grant, units.Cores(d.cfg.FloorShare)*limit+placed)
	weight += behind
	if units.Cores(weight/(sharing.Normal+weight))*left < kept-sameCores {
		return nil
	}
	return most.x
}

// widest is the stage that is granted most, and what the next one is granted.
func (d *division) widest() (most claimant, second units.Cores) {
	for _, p := range d.part[:d.watched] {
		if p.c == nil {
			continue
		}
		if most.c == nil || p.c.grant > most.c.grant {
			most, p = p, most
		}
		if p.c != nil {
			second = max(second, p.c.grant)
		}
	}
	return most, second
}

// enterAll has the partakers of r take part whose applications are left alone, or are not.
func (d *division) enterAll(r *roster, now units.Instant, limit units.Cores, tick, leftAlone bool) {
	for _, a := range r.apps {
		if a.plan.Launch.Mode.Unmanaged() != leftAlone {
			continue
		}
		if tick {
			a.use()
		}
		from := len(d.part)
		first := a.plan.Band != api.BandShared && !leftAlone && a.plan.Cap == 0
		urgent := first && a.least(now) >= d.rules.Room.Pressed*limit && r.here(a.plan.Launch.DriverURL)
		for _, c := range a.controls {
			if c.active {
				r.request(c, now, limit, tick)
				d.enter(claimant{x: c.x, c: c, first: first, urgent: urgent}, c.target.StageKey, c.request, c.usable())
			}
		}
		d.group(a, now, from, false)
		from = len(d.part)
		reserved := a.plan.Reserved && !a.overdue(now)
		for _, x := range a.executors {
			x.cap.part = 0
			if n := x.unheld(now, r.cfg.Stale); n > 0 {
				d.enter(claimant{x: x, reserved: reserved}, api.StageKey{}, n, n)
			}
		}
		d.group(a, now, from, true)
	}
}

// cut gives the groups their stages: the flat slice may have moved while it grew.
func (d *division) cut() {
	from := 0
	for i := range d.groups {
		n := len(d.groups[i].Stages)
		d.groups[i].Stages = d.stages[from : from+n : from+n]
		from += n
	}
}

// unheld is what the tasks can use, in cores, that run on an executor that no target in force holds:
// what it asks for. It is 0 where what runs there is not known.
func (x *executor) unheld(now units.Instant, stale time.Duration) units.Cores {
	if x.ctl != nil && x.ctl.active || !x.known(now, stale) {
		return 0
	}
	return min(units.Cores(x.running())*x.room.taskCores, units.Cores(x.room.slots), x.life.found.most())
}

// enter has p take part, which can use so many cores.
func (d *division) enter(p claimant, key api.StageKey, request, usable units.Cores) {
	d.part = append(d.part, p)
	d.stages = append(d.stages, supervisor.Stage{})
	s := &d.stages[len(d.stages)-1]
	s.Key, s.Executor, s.Request, s.Runnable = key, p.x.key.ID, request, int(math.Ceil(float64(usable)))
}

// group has the partakers from from on, which are a's, divided as one. Executors that no target holds come without a
// deadline: they share, unless the deadline has passed only now, or cores are reserved for them, which they ask for. A
// planner that tells no rate leaves that of its stages here, weighted by their work.
func (d *division) group(a *app, now units.Instant, from int, unheld bool) {
	if len(d.part) == from {
		return
	}
	d.groups = append(d.groups, supervisor.App{})
	g := &d.groups[len(d.groups)-1]
	g.ID, g.Stages, g.Cap = a.plan.ID, d.stages[from:], a.plan.Cap
	reserved := d.part[from].reserved
	shares := unheld && !reserved && !a.overdue(now)
	g.Shares, g.Weight = a.plan.Band == api.BandShared || shares, a.plan.Class.Weight()
	if shares {
		return
	}
	if reserved {
		d.askReserved(a.plan.Least, from)
	}
	var records, work float64
	for _, p := range d.part[from:] {
		if p.c != nil {
			records += p.c.target.Records
			work += float64(p.c.target.Work)
		}
	}
	g.HasDeadline, g.Least, g.Behind = a.plan.HasDeadline, a.least(now), a.plan.Band == api.BandBehind
	if a.plan.HasDeadline {
		g.TTC = units.FromDuration(a.deadline.Sub(now))
	}
	if g.Rate = a.plan.NominalRate; g.Rate <= 0 && work > 0 {
		g.Rate = units.Rate(records / work)
	}
}
