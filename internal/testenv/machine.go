package testenv

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cgroup"
	"github.com/sparkpacer/pacer/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/executor"
	"github.com/sparkpacer/pacer/meter"
	"github.com/sparkpacer/pacer/physics"
	"github.com/sparkpacer/pacer/progress"
	"github.com/sparkpacer/pacer/units"
)

// StartWork is what an executor's start takes until it registers.
const StartWork units.Work = 1

// Machine is what executors run on. All is guarded by the world's lock but used.
type Machine struct {
	t         *testing.T
	cores     float64
	clock     func() units.Instant
	tree      *cgrouptest.Tree
	executors []*process
	// others is what anything but executors wants, in cores.
	others float64
	// speed is the part of its cores that executors really get; 0 is all.
	speed float64
	// used is the CPU time used so far, in ns.
	used atomic.Int64
}

// process is an executor on a machine.
type process struct {
	machine *Machine
	node    *Node
	driver  *Driver
	handle  executor.Handle
	page    *progress.Writer
	// starting is what is left of its start.
	starting units.Work
	running  []*task
	stages   []*stageOn
	slots    int
	used     units.Work
	held     time.Duration
	quota    float64
	// share is what it gets in the step that is being made.
	share float64
}

// stageOn is what an executor did for a stage.
type stageOn struct {
	run  *stageRun
	page meter.Stage
}

// task is a task on an executor.
type task struct {
	on          *stageOn
	partition   int
	work, total units.Work
	records     float64
	start       units.Instant
}

// start puts an executor on the machine.
func (m *Machine) start(n *Node, d *Driver, h executor.Handle, pagePath string, slots int) {
	w, err := progress.NewWriter(pagePath, h.PID)
	if err != nil {
		m.t.Error(err)
		return
	}
	m.executors = append(m.executors, &process{machine: m, node: n, driver: d, handle: h, page: w, starting: StartWork, slots: slots})
}

// step moves the machine by dt; with publish its pages and usage files follow.
func (m *Machine) step(dt time.Duration, publish bool) {
	m.bury()
	m.divide()
	now := m.clock()
	for _, p := range m.executors {
		p.work(now, dt)
		m.used.Add(int64(p.share * float64(dt)))
		if publish {
			p.publish(now)
		}
	}
	m.used.Add(int64(min(m.others, m.cores) * float64(dt)))
}

// bury takes executors away that were stopped or have crashed.
func (m *Machine) bury() {
	alive := m.executors[:0]
	for _, p := range m.executors {
		if s, err := p.node.Runtime.Inspect(p.handle); err == nil && s.State == api.ExecutorExited {
			p.end()
			continue
		}
		alive = append(alive, p)
	}
	m.executors = alive
}

func (p *process) end() {
	_ = p.page.Close()
	if p.driver != nil {
		p.driver.lost(p)
	}
}

// divide gives the cores to the processes, by their weights and up to what each may use.
func (m *Machine) divide() {
	left := m.cores - min(m.others, m.cores)
	if m.speed > 0 {
		left *= m.speed
	}
	shares, weights := make([]float64, 0, len(m.executors)), make([]float64, 0, len(m.executors))
	for _, p := range m.executors {
		if p.quota = m.cores; p.wants() > 0 {
			if quota, ok := p.readQuota(); ok {
				p.quota = quota
			}
		}
		shares, weights = append(shares, min(p.wants(), p.quota)), append(weights, p.weight())
	}
	physics.Divide(shares, weights, left, nil)
	for i, p := range m.executors {
		p.share = shares[i]
	}
}

func (p *process) wants() float64 {
	if p.starting > 0 {
		return 2
	}
	return float64(len(p.running))
}

// readQuota reads the quota as the kernel would: from the group's file. It is
// false without one.
func (p *process) readQuota() (float64, bool) {
	us, ok := p.readNumber("cpu.cfs_quota_us")
	return us / float64(cgroup.Period.Microseconds()), ok && us >= 0
}

// readNumber reads a file of the group; false where it is not there, or not yet.
func (p *process) readNumber(file string) (float64, bool) {
	data, err := os.ReadFile(p.machine.tree.Path(p.group(), file))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(string(data)), 64)
	return n, err == nil
}

// defaultShares are cpu.shares of a new group.
const defaultShares = 1024

// weight reads the group's weight as the kernel would, as a multiple of the default.
func (p *process) weight() float64 {
	shares, ok := p.readNumber("cpu.shares")
	if !ok || shares <= 0 {
		return 1
	}
	return shares / defaultShares
}

func (p *process) group() string {
	return path.Join(p.node.parent, cgroup.GroupName(p.handle.App, p.handle.ID))
}

// work spends the process's share of a step.
func (p *process) work(now units.Instant, dt time.Duration) {
	p.used += units.Work(p.share * dt.Seconds())
	if p.share < p.wants() && p.quota < p.wants() {
		p.held += dt
	}
	if p.starting > 0 {
		if p.starting -= units.Work(p.share * dt.Seconds()); p.starting <= 0 && p.driver != nil {
			p.driver.up(p)
		}
		return
	}
	if len(p.running) > 0 {
		each := units.Work(p.share / float64(len(p.running)) * dt.Seconds())
		still := p.running[:0]
		for _, t := range p.running {
			if t.work -= each; t.work > 1e-9 {
				still = append(still, t)
			} else {
				p.finish(t)
			}
		}
		p.running = still
	}
	if p.driver != nil {
		p.driver.offer(p, now)
	}
}

// launch starts a task in a free slot.
func (p *process) launch(t *task, r *stageRun, now units.Instant) {
	t.on, t.start = p.stageOn(r), now
	p.running = append(p.running, t)
}

func (p *process) finish(t *task) {
	s := &t.on.page
	s.Finished++
	s.Weight++
	s.Records += t.records
	s.CPU += t.total
	t.on.run.finished(p)
}

// publish writes the page and the group's usage, in place.
func (p *process) publish(now units.Instant) {
	p.write("cpuacct.usage", fmt.Sprintf("%019d\n", int64(float64(p.used)*1e9)))
	p.write("cpu.stat", fmt.Sprintf("nr_periods 0\nnr_throttled 0\nthrottled_time %019d\n", p.held.Nanoseconds()))
	if p.starting > 0 {
		return
	}
	page := meter.Page{At: now}
	for i := len(p.stages) - 1; i >= 0; i-- {
		s := p.stages[i]
		stage := s.page
		for _, t := range p.running {
			if t.on == s {
				stage.Running++
				stage.RunningRecords += t.read()
				stage.RunningCPU += t.total - t.work
			}
		}
		page.Stages = append(page.Stages, stage)
	}
	for _, t := range p.running {
		page.Tasks = append(page.Tasks, meter.Task{Stage: t.on.page.Key, Partition: t.partition, Weight: 1, CPU: t.total - t.work, Records: t.read()})
	}
	p.page.Publish(&page)
}

// read is how many records a task has read: in proportion to its work.
func (t *task) read() float64 { return t.records * float64((t.total-t.work)/t.total) }

func (p *process) write(file, content string) {
	f, err := os.OpenFile(p.machine.tree.Path(p.group(), file), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return // The group was removed since the step began.
	}
	_, err = f.WriteString(content)
	if err2 := f.Close(); err != nil || err2 != nil {
		p.machine.t.Error(err, err2)
	}
}

func (m *Machine) close() {
	for _, p := range m.executors {
		_ = p.page.Close()
	}
}
