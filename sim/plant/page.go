package plant

import (
	"time"

	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// part is what a process did for one stage.
type part struct {
	run  *stageRun
	page meter.Stage
}

func (t *tasks) part(r *stageRun) *part {
	for i := len(t.parts) - 1; i >= 0; i-- {
		if t.parts[i].run == r {
			return t.parts[i]
		}
	}
	s := &part{run: r, page: meter.Stage{Key: r.key}}
	t.parts = append(t.parts, s)
	if len(t.parts) > maxParts {
		t.parts = t.parts[1:]
	}
	return s
}

// maxParts is how many stages a progress page holds.
const maxParts = 8

// publish writes the progress page.
func (p *Process) publish(now units.Instant) {
	if p.Machine.Frozen {
		return
	}
	g := &p.tasks.page
	g.At, g.Generation = p.Machine.Clock(now), g.Generation+1
	g.Memory = p.Pools().page()
	g.Stages, g.Tasks = g.Stages[:0], g.Tasks[:0]
	for i := len(p.tasks.parts) - 1; i >= 0; i-- {
		p.tasks.parts[i].page.Running, p.tasks.parts[i].page.RunningCPU, p.tasks.parts[i].page.RunningRecords = 0, 0, 0
	}
	for _, t := range p.tasks.computing {
		cpu, read := units.Work(p.pace.threadCPU-t.cpu0), t.read(p.pace.service)
		p.show(t, cpu, read)
	}
	for _, t := range p.tasks.waiting {
		p.show(t, 0, 0)
	}
	for i := len(p.tasks.parts) - 1; i >= 0; i-- {
		s := p.tasks.parts[i].page
		if p.tasks.parts[i].run == p.tasks.heaviestOf {
			s.Heaviest = p.tasks.heaviest
		}
		g.Stages = append(g.Stages, s)
	}
}

func (p *Process) show(t *task, cpu units.Work, read float64) {
	s := &t.part.page
	s.Running++
	s.RunningCPU += cpu
	s.RunningRecords += read
	p.tasks.page.Tasks = append(p.tasks.page.Tasks, meter.Task{Stage: t.run.key, Partition: t.index, Weight: t.weight,
		CPU: cpu, Records: read})
}

// Page writes its progress page and returns it; it is written again by the next call.
func (p *Process) Page() *meter.Page {
	now := p.Machine.Plant.clock.Now()
	p.advance(now)
	p.publish(now)
	return &p.tasks.page
}

// Sample fills what a node controller sees of it in a tick: its group and its page.
func (p *Process) Sample(s *node.ExecutorSample) {
	now := p.Machine.Plant.clock.Now()
	p.advance(now)
	if !p.Exited && p.Registered && !p.busy() {
		p.publish(now)
	}
	p.State(s)
	s.Measured, s.CPU, s.Throttled = true, units.Work(p.has.cpu), time.Duration(p.has.throttled*1e9)
	s.Quota, s.Writer = units.Cores(p.has.quota), ""
	s.Memory, s.Page = p.pools.sample(), p.tasks.page
}

// State fills what a node controller sees of it between ticks: how it ended.
func (p *Process) State(s *node.ExecutorSample) {
	s.Key, s.PID, s.Exited, s.Exit, s.ExitCode = p.Key, p.pid, p.Exited, p.exit, p.code
}
