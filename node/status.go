package node

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// reporter fills the statuses. Its status is used again from report to report.
type reporter struct {
	status api.NodeStatus
	// last is when the latest report was, ever that there was one.
	last units.Instant
	ever bool
}

func newReporter(cfg *Config) reporter {
	return reporter{status: api.NodeStatus{V: api.Version, Node: cfg.Node, Incarnation: cfg.Incarnation,
		Release: cfg.Release, Host: cfg.Host, Attach: cfg.attaches(), Hosts: cfg.Hosts,
		Machine: cfg.machine(),
		Offered: cfg.Offered, Total: cfg.Total, Memory: cfg.Memory,
		Division: divisionOf(cfg.Supervisor)}}
}

// due reports whether r has to be told of at now.
func (p *reporter) due(r *roster, now units.Instant) bool {
	return r.out.changed || !p.ever || now.Sub(p.last) >= r.cfg.StatusEvery
}

// report appends the status and begins a new one.
func (p *reporter) report(r *roster, others units.Cores, now units.Instant, leaving bool) {
	p.fill(r, others, now, leaving)
	p.last, p.ever, r.out.changed = now, true, false
	for i, x := range r.execs {
		if told := &p.status.Executors[i]; told.Memory != (api.ExecutorMemory{}) {
			x.memory.told, x.memory.toldAt, x.memory.final = told.Memory.Moves, now, told.State == api.ExecutorExited
		}
		for _, rec := range x.records {
			rec.n = 0
		}
	}
	p.status.Fit()
	r.out.act(Action{Kind: ActReport, Status: &p.status})
}

// fill says in the status what may have changed; who the node is newReporter has said.
func (p *reporter) fill(r *roster, others units.Cores, now units.Instant, leaving bool) {
	executors, stages := p.status.Executors[:0], p.status.Stages[:0]
	for _, x := range r.execs {
		executors = append(executors, api.ExecutorStatus{})
		x.describe(&executors[len(executors)-1], now, r.cfg.Stale)
		for _, rec := range x.records {
			if rec.changed > 0 && now.Sub(rec.changed) <= r.cfg.Linger || rec.running > 0 || x.target(rec.key) != nil {
				stages = append(stages, api.StageStatus{})
				rec.describe(&stages[len(stages)-1], x.key, now)
			}
		}
	}
	s := &p.status
	s.Seq++
	s.Planner = r.plan.Planner
	s.Epoch, s.Others, s.Executors, s.Stages, s.Leaving = r.plan.Epoch, others, executors, stages, leaving
	s.Orphans = r.orphans.tell(r.apps, s.Orphans[:0])
	s.Losses, s.Shortages = append(s.Losses[:0], r.losses.list...), s.Shortages[:0]
	for i := range r.losses.short {
		s.Shortages = append(s.Shortages, r.losses.short[i].Shortage)
	}
}
