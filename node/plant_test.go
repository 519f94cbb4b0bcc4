package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller/physics"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// plant is a small world of executors under quotas, in steps of 10 ms, with
// pages every 100 ms: enough to close the loop around an engine.
type plant struct {
	now    units.Instant
	cores  float64
	others float64
	host   float64
	execs  []*simExec
	writes int
	// refuse makes quota writes fail; deaf says that the bus is away.
	refuse, deaf bool
	status       api.NodeStatus
	saved        []byte
	failed       []Failure
	starts       []Key
	stops        []Key
	log          []string // Quotas in order of writing.
}

type simExec struct {
	key      Key
	slots    int
	overhead float64 // CPU of the group per CPU of its threads, less 1.
	python   bool    // Tasks work in Python workers: threads use a fiftieth, all is read at once.
	quota    units.Cores
	writer   string
	weight   Weight
	cpu      float64
	queue    []*simTask
	running  []*simTask
	stages   []*simStage
	page     meter.Page
	frozen   bool
	exited   bool
	// found is what a node that attaches sees of it; hidden says that it is sought.
	found  Found
	hidden bool
}

type simTask struct {
	stage                *simStage
	partition            int
	weight, cpu, records float64
	used                 float64
}

type simStage struct {
	key      api.StageKey
	finished int
	failed   int
	weight   float64
	records  float64
	cpu      float64
	end      units.Instant
}

const simStep = 10 * time.Millisecond

func (p *plant) exec(key Key) *simExec {
	for _, x := range p.execs {
		if x.key == key {
			return x
		}
	}
	return nil
}

func (p *plant) add(key Key, slots int) *simExec {
	x := &simExec{key: key, slots: slots, quota: units.Unlimited}
	p.execs = append(p.execs, x)
	return x
}

// submit queues n tasks of cpu thread seconds and weight 1 each.
func (x *simExec) submit(stage, n int, cpu float64) *simStage {
	s := &simStage{key: api.StageKey{Stage: stage}}
	x.stages = append([]*simStage{s}, x.stages...)
	for i := range n {
		x.queue = append(x.queue, &simTask{stage: s, partition: i, weight: 1, cpu: cpu, records: 1000})
	}
	return s
}

func (x *simExec) idle() bool { return len(x.queue)+len(x.running) == 0 }

// advance lets d pass.
func (p *plant) advance(d time.Duration) {
	for end := p.now.Add(d); p.now < end; {
		p.now = p.now.Add(simStep)
		p.step(simStep.Seconds())
		if p.now%units.Instant(100*time.Millisecond) == 0 {
			for _, x := range p.execs {
				if !x.frozen && !x.exited {
					x.publish(p.now)
				}
			}
		}
	}
}

func (p *plant) step(dt float64) {
	shares, weights := make([]float64, len(p.execs)), make([]float64, len(p.execs))
	for i, x := range p.execs {
		for len(x.running) < x.slots && len(x.queue) > 0 && !x.exited {
			x.running, x.queue = append(x.running, x.queue[0]), x.queue[1:]
		}
		shares[i], weights[i] = min(float64(x.quota), float64(len(x.running))*(1+x.overhead)), 1
		if most := x.found.Ceiling; most > 0 {
			shares[i] = min(shares[i], float64(most))
		}
		if x.weight != sharing.Unset {
			weights[i] = float64(x.weight)
		}
	}
	physics.Divide(shares, weights, p.cores-p.others, nil)
	p.host += p.others * dt
	for i, x := range p.execs {
		used := shares[i] * dt
		x.cpu += used
		p.host += used
		x.work(used/(1+x.overhead), p.now)
	}
}

// work gives the running tasks cpu thread seconds, shared equally.
func (x *simExec) work(cpu float64, now units.Instant) {
	each := cpu / float64(max(1, len(x.running)))
	x.running = slices.DeleteFunc(x.running, func(t *simTask) bool {
		t.used += each
		if t.used < t.cpu {
			return false
		}
		t.stage.finished++
		t.stage.weight += t.weight
		t.stage.records += t.records
		t.stage.cpu += t.used
		t.stage.end = now
		return true
	})
}

// lose makes the first running task fail and start anew.
func (x *simExec) lose() {
	t := x.running[0]
	t.used = 0
	t.stage.failed++
}

func (x *simExec) publish(now units.Instant) {
	x.page.At = now
	x.page.Generation++
	x.page.Stages, x.page.Tasks = x.page.Stages[:0], x.page.Tasks[:0]
	share := 1.0 // Of the threads.
	if x.python {
		share = 0.02
	}
	for _, s := range x.stages[:min(8, len(x.stages))] {
		ps := meter.Stage{Key: s.key, Finished: s.finished, Failed: s.failed, Weight: s.weight, Records: s.records, CPU: units.Work(share * s.cpu)}
		for _, t := range x.running {
			if t.stage == s {
				ps.Running++
				ps.RunningCPU += units.Work(share * t.used)
				ps.RunningRecords += t.read(x.python)
			}
		}
		x.page.Stages = append(x.page.Stages, ps)
	}
	for _, t := range x.running {
		x.page.Tasks = append(x.page.Tasks, meter.Task{Stage: t.stage.key, Partition: t.partition, Weight: t.weight, CPU: units.Work(share * t.used),
			Records: t.read(x.python)})
	}
}

func (t *simTask) read(python bool) float64 {
	if python {
		return t.records
	}
	return t.records * t.used / t.cpu
}

// sample is what a shell would see now.
func (p *plant) sample() *Sample {
	s := &Sample{HostUsed: units.Work(p.host + 1), Failures: p.failed, Deaf: p.deaf}
	p.failed = nil
	for _, x := range p.execs {
		if x.hidden {
			continue
		}
		s.Executors = append(s.Executors, ExecutorSample{Key: x.key, Exited: x.exited, Exit: "killed", PID: 1,
			Measured: true, CPU: units.Work(x.cpu), Quota: x.quota, Writer: x.writer, Found: x.found, Page: x.page})
	}
	return s
}

// do carries the actions out.
func (p *plant) do(t tb, actions []Action) {
	t.Helper()
	for _, a := range actions {
		x := p.exec(a.Key)
		switch a.Kind {
		case ActSetQuota:
			if p.refuse {
				p.failed = append(p.failed, Failure{a.Kind, a.Key, "read-only file system"})
				continue
			}
			x.quota = a.Cores
			p.writes++
			p.log = append(p.log, fmt.Sprintf("%s=%s", a.Key, a.Cores))
		case ActSetWeight:
			if x != nil {
				x.weight = a.Weight
			}
		case ActStart:
			p.starts = append(p.starts, a.Key)
			if a.Launch.Attach == nil {
				p.add(a.Key, max(1, a.Launch.Cores))
			} else if x == nil {
				p.add(a.Key, max(1, a.Launch.Cores)).hidden = true
			}
		case ActStop:
			p.stops = append(p.stops, a.Key)
			p.execs = slices.DeleteFunc(p.execs, func(x *simExec) bool { return x.key == a.Key })
		case ActSave:
			p.saved = mustJSON(t, a.State)
		case ActReport:
			p.status = *a.Status
			p.status.Stages = slices.Clone(a.Status.Stages)
			p.status.Executors = slices.Clone(a.Status.Executors)
		}
	}
}

// tick lets half a second pass and steps the engine.
func (p *plant) tick(t tb, e *Engine) []Action {
	t.Helper()
	p.advance(e.roster.cfg.Interval)
	actions := e.Step(p.now, p.sample())
	p.do(t, actions)
	return actions
}
