package node

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Status returns what a NodeStatus would say now, as a copy that the caller may
// keep: for the hello to a planner. It takes nothing away from the next report.
func (e *Engine) Status(now units.Instant) api.NodeStatus {
	e.fillStatus(now, false)
	return e.status.Clone()
}

// report appends the status and begins a new one.
func (e *Engine) report(now units.Instant, leaving bool) {
	e.fillStatus(now, leaving)
	e.lastStatus, e.reported, e.changed = now, true, false
	for _, x := range e.execs {
		for _, r := range x.records {
			r.n = 0
		}
	}
	e.actions = append(e.actions, Action{Kind: ActReport, Status: &e.status})
}

// fillStatus says in e.status what may have changed; who the node is New has said.
func (e *Engine) fillStatus(now units.Instant, leaving bool) {
	executors, stages := e.status.Executors[:0], e.status.Stages[:0]
	for _, x := range e.execs {
		executors = append(executors, api.ExecutorStatus{})
		x.describe(&executors[len(executors)-1])
		for _, r := range x.records {
			if r.changed > 0 && now.Sub(r.changed) <= e.cfg.Linger || r.running > 0 || x.target(r.key) != nil {
				stages = append(stages, api.StageStatus{})
				r.describe(&stages[len(stages)-1], x.key, now)
			}
		}
	}
	s := &e.status
	s.Seq++
	s.Planner = e.plan.Planner
	s.Epoch, s.Others, s.Executors, s.Stages, s.Leaving = e.plan.Epoch, e.capacity.others, executors, stages, leaving
}

// describe fills s, which is zero.
func (x *executor) describe(s *api.ExecutorStatus) {
	s.App, s.ID, s.State, s.PID, s.CPU = x.key.App, x.key.ID, x.state, x.pid, x.cpu
	s.Quota, s.Throttled = api.Unknown, units.FromDuration(x.throttled)
	if x.state == api.ExecutorExited {
		s.Exit, s.ExitCode = x.exit, x.code
	} else if x.quotaKnown && !x.handsOff && !x.quota.IsUnlimited() {
		s.Quota = x.quota
	}
}

// describe fills s, which is zero, with the wire form of r.
func (r *record) describe(s *api.StageStatus, key Key, now units.Instant) {
	for i, at := range r.at[:r.n] {
		r.samples[i].Age = units.FromDuration(now.Sub(at))
	}
	s.App, s.StageKey, s.Executor = key.App, r.key, key.ID
	s.CPU, s.Progress, s.QuotaChanges, s.Samples = r.cpu, r.progress, r.quotaChanges, r.samples[:r.n:r.n]
	s.HeavyCPU, s.HeavyReading = r.heavyCPU, r.heavyReading
}
