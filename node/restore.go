package node

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/node/meter"
)

// save fills s with all there is to remember.
func (r *roster) save(s *State) {
	s.Version, s.Boot, s.Plan, s.Orphans = StateVersion, r.cfg.Boot, r.plan, r.orphans
	s.Plan.Apps = r.kept()
	s.Deadlines, s.Needs = s.Deadlines[:0], s.Needs[:0]
	s.Executors, s.Stages, s.Controls = s.Executors[:0], s.Stages[:0], s.Controls[:0]
	for _, a := range r.apps {
		s.Deadlines, s.Needs = append(s.Deadlines, a.deadline), append(s.Needs, a.need)
	}
	for _, x := range r.execs {
		if !x.life.started {
			continue
		}
		s.Executors = append(s.Executors, ExecutorState{x.key, x.life.state, x.life.exit, x.life.code, x.seen.cpu,
			x.seen.cpuKnown, x.memory.state(), x.owner.state(x.quota)})
		for _, rec := range x.records {
			s.Stages = append(s.Stages, StageState{x.key, rec.key, rec.cpu, rec.pageCPU, rec.finished, rec.failed, rec.weight,
				rec.active, rec.changed, rec.progress, rec.quotaChanges})
		}
		for _, c := range x.controls {
			s.Controls = append(s.Controls, ControlState{})
			c.save(&s.Controls[len(s.Controls)-1])
		}
	}
}

// save fills s.
func (c *control) save(s *ControlState) {
	*s = ControlState{Executor: c.x.key, Target: c.target, Start: c.start, Deadline: c.deadline, From: c.from,
		Held:  c.held,
		Meter: c.meter.State(), Width: c.width, At: c.at, Grant: c.grant, Began: c.law != nil}
	if c.law != nil {
		s.Controller = c.law.State()
	}
}

// restore makes r what that of the engine was which saved s. After a boot nothing runs
// any more and no Instant counts: what is left is the Plan and who had been
// started.
func (r *roster) restore(s *State) error {
	if s.Version != StateVersion {
		return fmt.Errorf("node state has layout %d, this build reads %d", s.Version, StateVersion)
	}
	if unsaid := r.keepLaunches(&s.Plan); len(unsaid) > 0 {
		return fmt.Errorf("node state: application %s: %s", unsaid[0].App, unsaid[0].Fault)
	}
	for _, old := range s.Executors {
		x := r.ensure(old.Key)
		// An executor of another manager is sought anew: it may never have been found.
		attached := r.cfg.attaches() && old.State != api.ExecutorExited
		// A component that was not seen to run is started: if it runs it is seen before, and what an interrupted start
		// leaves is swept.
		unseen := attached || old.Key.ID.Component() && old.State == api.ExecutorStarting
		x.life.started, x.life.asked = !unseen, !unseen
		x.life.state, x.life.exit, x.life.code = old.State, old.Exit, old.Code
		if old.State != api.ExecutorExited {
			x.life.state = api.ExecutorStarting // Until its page is seen.
		}
		if s.Boot == r.cfg.Boot {
			x.seen.cpu, x.seen.cpuKnown = old.CPU, old.Measured
			x.memory.restore(old.Memory)
			if old.Yields != nil && r.cfg.Conflict == Yield {
				x.owner, x.quota = old.Yields.restore()
			}
		}
	}
	if s.Boot == r.cfg.Boot {
		r.restoreStages(s)
	}
	if s.Boot == r.cfg.Boot {
		r.orphans = s.Orphans
	}
	r.takePlan(0, 0, s.Plan)
	if s.Boot == r.cfg.Boot {
		for i, a := range r.apps {
			if i < len(s.Deadlines) {
				a.deadline = s.Deadlines[i]
			}
			if i < len(s.Needs) {
				a.need = s.Needs[i]
			}
		}
		r.restoreHolds(s)
	}
	r.out.kept = true
	return nil
}

// restoreHolds has holds end when they would have.
func (r *roster) restoreHolds(s *State) {
	for i := range s.Controls {
		old := &s.Controls[i]
		if x := r.index[old.Executor]; x != nil {
			if c := x.target(old.Target.StageKey); c != nil {
				c.held = old.Held
			}
		}
	}
}

// restoreStages puts the records and the controls where take finds them.
func (r *roster) restoreStages(s *State) {
	for _, old := range s.Stages {
		if x := r.index[old.Executor]; x != nil {
			rec := x.record(old.Stage)
			rec.known = true
			rec.cpu, rec.pageCPU, rec.finished, rec.failed, rec.weight = old.CPU, old.PageCPU, old.Finished, old.Failed,
				old.Weight
			rec.active, rec.changed, rec.progress, rec.quotaChanges = old.Active, old.Changed, old.Progress, old.QuotaChanges
		}
	}
	before := &app{}
	for i := range s.Controls {
		if c := r.restoreControl(&s.Controls[i]); c != nil {
			before.controls = append(before.controls, c)
		}
	}
	r.apps = []*app{before}
}

// restoreControl returns the control that s was, nil if its executor is not
// known. A controller state that cannot be used is given up: the law starts anew
// from the quota in force.
func (r *roster) restoreControl(s *ControlState) *control {
	x := r.index[s.Executor]
	if x == nil || checkTarget(&s.Target) != nil {
		return nil
	}
	c := &control{x: x, target: s.Target, start: s.Start, deadline: s.Deadline, from: s.From,
		record: x.record(s.Target.StageKey), at: s.At, grant: s.Grant, resync: s.Began,
		meter: meter.New(r.cfg.Meter, s.Meter), width: s.Width}
	if !s.Began {
		return c
	}
	law, err := controller.Restore(r.cfg.Controller, s.Controller)
	if err != nil {
		r.controlError(c, err)
		return c
	}
	c.law, c.out, c.told = law, s.Controller.Output, s.Controller.Granted
	c.request = c.out.Request
	c.everActive = true
	return c
}
