package node

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/units"
)

// StateVersion is the layout of State that this build writes and reads.
const StateVersion = 1

// State is all that an engine has to remember beyond its own life; it survives
// a round trip through JSON. Quotas are not in it, but for those
// of others that are yielded to: what is in force is read back.
type State struct {
	Version int `json:"version"`
	// Boot is Config.Boot: the Instants below count from that boot.
	Boot string   `json:"boot"`
	Plan api.Plan `json:"plan"`
	// Deadlines are the applications' anchored deadlines, as in Plan.Apps.
	Deadlines []units.Instant `json:"deadlines"`
	Executors []ExecutorState `json:"executors"`
	Stages    []StageState    `json:"stages"`
	Controls  []ControlState  `json:"controls"`
}

// Clone returns a copy that the engine's next call does not change.
func (s *State) Clone() *State {
	c := *s // The Plan is never changed.
	c.Deadlines, c.Executors = slices.Clone(s.Deadlines), slices.Clone(s.Executors)
	c.Stages, c.Controls = slices.Clone(s.Stages), slices.Clone(s.Controls)
	return &c
}

// ExecutorState is an executor that was started: it is never started again.
type ExecutorState struct {
	Key   Key               `json:"key"`
	State api.ExecutorState `json:"state"`
	Exit  string            `json:"exit,omitempty"`
	Code  int               `json:"code,omitempty"`
	// CPU is its group's at the last tick, Measured says that it was read.
	CPU      units.Work `json:"cpu"`
	Measured bool       `json:"measured"`
	// Yields is nil unless somebody else's quota is yielded to.
	Yields *YieldState `json:"yields,omitempty"`
}

// StageState is what was recorded of a stage attempt on an executor.
type StageState struct {
	Executor     Key            `json:"executor"`
	Stage        api.StageKey   `json:"stage"`
	CPU          units.Work     `json:"cpu"`
	PageCPU      units.Work     `json:"page_cpu"`
	Finished     int            `json:"finished"`
	Failed       int            `json:"failed"`
	Weight       float64        `json:"weight"`
	Active       units.Instant  `json:"active"`
	Changed      units.Instant  `json:"changed"`
	Progress     units.Fraction `json:"progress"`
	QuotaChanges int            `json:"quota_changes"`
}

// ControlState is a target in force: its anchor and its controller.
type ControlState struct {
	Executor Key             `json:"executor"`
	Target   api.StageTarget `json:"target"`
	Start    units.Instant   `json:"start"`
	Deadline units.Instant   `json:"deadline"`
	From     float64         `json:"from"`
	// Held is until when the target's Hold counts.
	Held units.Instant `json:"held,omitempty"`
	// Done and Failed are what its progress had come to.
	Done   float64 `json:"done"`
	Failed int     `json:"failed"`
	// At is the page timestamp of the last step, Grant the last grant.
	At    units.Instant `json:"at"`
	Grant units.Cores   `json:"grant"`
	// Began says that Controller counts.
	Began      bool             `json:"began"`
	Controller controller.State `json:"controller"`
}

// save appends a Save of all there is to remember.
func (e *Engine) save(now units.Instant) {
	s := &e.state
	s.Version, s.Boot, s.Plan = StateVersion, e.cfg.Boot, e.plan
	s.Deadlines, s.Executors, s.Stages, s.Controls = s.Deadlines[:0], s.Executors[:0], s.Stages[:0], s.Controls[:0]
	for _, a := range e.apps {
		s.Deadlines = append(s.Deadlines, a.deadline)
	}
	for _, x := range e.execs {
		if !x.started {
			continue
		}
		s.Executors = append(s.Executors, ExecutorState{x.key, x.state, x.exit, x.code, x.cpu, x.cpuKnown, x.saveYield()})
		for _, r := range x.records {
			s.Stages = append(s.Stages, StageState{x.key, r.key, r.cpu, r.pageCPU, r.finished, r.failed, r.weight,
				r.active, r.changed, r.progress, r.quotaChanges})
		}
		for _, c := range x.controls {
			s.Controls = append(s.Controls, ControlState{})
			c.save(&s.Controls[len(s.Controls)-1])
		}
	}
	e.lastSave, e.saved, e.dirty, e.mustSave = now, true, false, false
	e.actions = append(e.actions, Action{Kind: ActSave, State: s})
}

// save fills s.
func (c *control) save(s *ControlState) {
	*s = ControlState{Executor: c.x.key, Target: c.target, Start: c.start, Deadline: c.deadline, From: c.from, Held: c.held,
		Done: c.meter.done, Failed: c.meter.failed, At: c.at, Grant: c.grant, Began: c.law != nil}
	if c.law != nil {
		s.Controller = c.law.State()
	}
}

// restore makes e what the engine that saved s was. After a boot nothing runs
// any more and no Instant counts: what is left is the Plan and who had been
// started.
func (e *Engine) restore(s *State) error {
	if s.Version != StateVersion {
		return fmt.Errorf("node state has layout %d, this build reads %d", s.Version, StateVersion)
	}
	for _, old := range s.Executors {
		x := e.ensure(old.Key)
		x.started, x.asked = true, true
		x.state, x.exit, x.code = old.State, old.Exit, old.Code
		if old.State != api.ExecutorExited {
			x.state = api.ExecutorStarting // Until its page is seen.
		}
		if s.Boot == e.cfg.Boot {
			x.cpu, x.cpuKnown = old.CPU, old.Measured
			if old.Yields != nil && e.cfg.Conflict == Yield {
				x.restoreYield(old.Yields)
			}
		}
	}
	if s.Boot == e.cfg.Boot {
		e.restoreStages(s)
	}
	e.take(0, 0, s.Plan)
	if s.Boot == e.cfg.Boot {
		for i, a := range e.apps {
			if i < len(s.Deadlines) {
				a.deadline = s.Deadlines[i]
			}
		}
		e.restoreHolds(s)
	}
	e.keepEvents = true
	return nil
}

// restoreHolds has holds end when they would have.
func (e *Engine) restoreHolds(s *State) {
	for i := range s.Controls {
		old := &s.Controls[i]
		if x := e.index[old.Executor]; x != nil {
			if c := x.target(old.Target.StageKey); c != nil {
				c.held = old.Held
			}
		}
	}
}

// restoreStages puts the records and the controls where take finds them.
func (e *Engine) restoreStages(s *State) {
	for _, old := range s.Stages {
		if x := e.index[old.Executor]; x != nil {
			r := x.record(old.Stage)
			r.known = true
			r.cpu, r.pageCPU, r.finished, r.failed, r.weight = old.CPU, old.PageCPU, old.Finished, old.Failed, old.Weight
			r.active, r.changed, r.progress, r.quotaChanges = old.Active, old.Changed, old.Progress, old.QuotaChanges
		}
	}
	before := &app{plan: &api.PlanApp{}}
	for i := range s.Controls {
		if c := e.restoreControl(&s.Controls[i]); c != nil {
			before.controls = append(before.controls, c)
		}
	}
	e.apps = []*app{before}
}

// restoreControl returns the control that s was, nil if its executor is not
// known. A controller state that cannot be used is given up: the law starts anew
// from the quota in force.
func (e *Engine) restoreControl(s *ControlState) *control {
	x := e.index[s.Executor]
	if x == nil || checkTarget(&s.Target) != nil {
		return nil
	}
	c := &control{app: s.Executor.App, x: x, target: s.Target, start: s.Start, deadline: s.Deadline, from: s.From,
		record: x.record(s.Target.StageKey), at: s.At, grant: s.Grant, resync: s.Began,
		meter: meter{done: s.Done, failed: s.Failed, mode: e.cfg.Progress, read: e.cfg.Reading, cost: e.cfg.TaskCost}}
	if !s.Began {
		return c
	}
	law, err := controller.Restore(e.cfg.Controller, s.Controller)
	if err != nil {
		e.controlError(c, err)
		return c
	}
	c.law, c.out, c.told = law, s.Controller.Output, s.Controller.Granted
	c.request = c.out.Request
	c.everActive = true
	return c
}
