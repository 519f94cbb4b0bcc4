package node

import (
	"cmp"
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// Apply takes a Plan at once, between two ticks. It starts and stops executors, gives new targets Eq 7 through the
// supervisor and lifts the quota of what has no target any more, without a controller step. A Plan that is not newer
// than the one in force, for another node, or of another planner that does not succeed the one in force while an
// executor runs changes nothing. Executors of applications that the Plan knows nothing of run on (orphans). The engine
// keeps the Plan, and fills in how executors are started where the Plan leaves that out: the caller must not change it
// afterwards.
func (e *Engine) Apply(now units.Instant, p api.Plan) []Action {
	r := &e.roster
	r.out.begin()
	faults, err := e.accept(&p)
	if err != nil {
		e.refuse(&p, err)
		return nil
	}
	held := e.transit.heldUp(now, &p)
	if anothers := p.Planner != r.plan.Planner && p.Planner != "" && r.plan.Planner != ""; anothers {
		if p.Succeeds != r.plan.Planner && r.runs() {
			e.refuseForeign(&p)
			return nil
		}
	} else if why := e.stalePlan(&p); why != "" {
		if p.Epoch != r.plan.Epoch || p.Term < r.plan.Term {
			r.out.event(Event{Kind: EventPlanIgnored, Epoch: p.Epoch, Detail: why})
		}
		return nil
	}
	e.stranger, e.refused = "", ""
	e.leaveOut(now, &p, append(faults, r.keepLaunches(&p)...))
	e.division.capacity.exiting(p.Exiting)
	for _, id := range r.exiting(&p) {
		e.division.capacity.driver(now, id)
	}
	r.orphans = r.orphans.adopt(r, now, &p)
	r.takePlan(now, now.Add(-held), p)
	r.out.event(Event{Kind: EventPlanApplied, Epoch: p.Epoch})
	e.follow(p.Division)
	for _, x := range r.execs {
		r.wake(x, now)
	}
	e.division.divide(r, now, false)
	for _, x := range r.execs {
		r.enforce(x, e.division.capacity.all())
	}
	r.out.mustSave = true
	return e.finish(now)
}

// Configure divides cores as cfg's Supervisor says from the next tick on; where the Plan says how
// to divide, that wins. The rest of cfg counts for nothing. An error says what is wrong with it,
// and nothing has changed then.
func (e *Engine) Configure(now units.Instant, cfg Config) ([]Action, error) {
	r := &e.roster
	r.out.begin()
	next := r.cfg
	next.Supervisor = cfg.Supervisor
	if err := next.Validate(); err != nil {
		return nil, err
	}
	r.cfg = next.joined()
	e.follow(r.plan.Division)
	return e.finish(now), nil
}

// follow divides cores as the Plan says, or as configured where it says nothing. A division that cannot be followed is
// told, and the one in force stays.
func (e *Engine) follow(d *api.Division) {
	cfg := e.roster.cfg.Supervisor
	if d != nil {
		cfg.Strategy, cfg.Gamma, cfg.Eq21 = d.Strategy, d.Gamma, cmp.Or(d.Eq21, cfg.Eq21)
	}
	if cfg == e.division.cfg {
		return
	}
	sup, err := supervisor.New(cfg)
	if err != nil {
		e.roster.out.event(Event{Kind: EventDivisionRefused, Detail: err.Error()})
		return
	}
	e.division.sup, e.division.cfg = sup, cfg
	e.reporter.status.Division = divisionOf(cfg)
	e.roster.out.changed = true
	e.roster.out.event(Event{Kind: EventDivision, Detail: fmt.Sprintf("%s, gamma %v", cfg.Strategy, cfg.Gamma)})
}

// divisionOf is cfg as others are told of it.
func divisionOf(cfg supervisor.Config) api.Division {
	return api.Division{Strategy: cfg.Strategy, Gamma: cfg.Gamma, Eq21: cfg.Eq21}
}

// accept says why a Plan is none for this node, or which applications have left it for their faults.
func (e *Engine) accept(p *api.Plan) ([]api.PartFault, error) {
	faults, err := p.Sift()
	if err == nil && p.Node != e.roster.cfg.Node {
		err = fmt.Errorf("it is for node %q, this is %q", api.Clip(p.Node, api.MostToken), e.roster.cfg.Node)
	}
	return faults, err
}

// leaveOut tells, once for as long as it lasts, which applications p does not have for the faults of their parts.
// Unless they are over they go on as the Plan in force has them, if it has them.
func (e *Engine) leaveOut(now units.Instant, p *api.Plan, faults []api.PartFault) {
	r, before := &e.roster, e.faulty
	e.faulty = nil
	for _, f := range faults {
		r.out.counters.Refused++
		if !before[f.App] && !e.faulty[f.App] {
			r.out.event(Event{Kind: EventPartRefused, Key: Key{App: f.App}, Epoch: p.Epoch, Detail: f.Fault})
		}
		if e.faulty == nil {
			e.faulty = map[api.AppID]bool{}
		}
		e.faulty[f.App] = true
	}
	var stay []api.PlanApp
	for _, a := range r.apps {
		if id := a.plan.ID; e.faulty[id] && !p.Names(id) {
			stay = append(stay, a.stays(now))
		}
	}
	addApps(p, stay)
}

// stalePlan says why a Plan of the planner that the node follows is not newer than
// the one in force, "" if it is. The planner's newer term counts from now on.
func (e *Engine) stalePlan(p *api.Plan) string {
	switch {
	case p.Term < e.roster.plan.Term && p.Planner == e.roster.plan.Planner:
		return fmt.Sprintf("it is of term %d, the planner's is %d", p.Term, e.roster.plan.Term)
	case p.Epoch > e.roster.plan.Epoch:
		return ""
	case p.Term > e.roster.plan.Term && e.roster.plan.Epoch > 0:
		e.roster.plan.Term, e.roster.out.dirty = p.Term, true
	}
	return fmt.Sprintf("epoch %d is in force", e.roster.plan.Epoch)
}

// refuse says, once for as long as it lasts, that a Plan cannot be followed.
func (e *Engine) refuse(p *api.Plan, err error) {
	e.roster.out.counters.Refused++
	if why := err.Error(); why != e.refused {
		e.refused = why
		e.roster.out.event(Event{Kind: EventPlanRefused, Epoch: p.Epoch, Detail: why})
	}
}

// refuseForeign says, once for as long as it lasts, that another planner's Plan came while
// executors run: obeying it would stop them.
func (e *Engine) refuseForeign(p *api.Plan) {
	e.roster.out.counters.Refused++
	if e.stranger == p.Planner {
		return
	}
	e.stranger = p.Planner
	e.roster.out.event(Event{Kind: EventPlanForeign, Epoch: p.Epoch,
		Detail: fmt.Sprintf("it is of planner %s, this node follows %s for as long as an executor runs", p.Planner,
			e.roster.plan.Planner)})
}
