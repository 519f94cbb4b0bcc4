package testenv

import (
	"fmt"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// StartWork is what an executor's start takes until it registers.
const StartWork units.Work = 1

// machine is one of the plant's behind the files that a node controller reads and writes.
// All is guarded by the world's lock but used.
type machine struct {
	plant.Machine
	t         *testing.T
	tree      *cgrouptest.Tree
	executors []*process
	// used is the CPU time used so far, in ns.
	used atomic.Int64
}

// process is an executor on a machine.
type process struct {
	jvm     *plant.Process
	machine *machine
	node    *Node
	handle  executor.Handle
	page    *progress.Writer
	shares  float64 // cpu.shares as last read.
}

// newMachine returns a machine of so many cores, whose pages are written when it publishes.
func (e *Env) newMachine(name string, cores units.Cores) *machine {
	return &machine{Machine: plant.Machine{Plant: e.plant, Name: name, Cores: float64(cores), Speed: 1, ReadAt: des.Never},
		t: e.T, tree: cgrouptest.New(outer{e.T, e.dir}, cgrouptest.V1Separate)}
}

// start puts an executor on the machine.
func (m *machine) start(n *Node, d *Driver, h executor.Handle, pagePath string, slots int) {
	w, err := progress.NewWriter(pagePath, h.PID)
	if err != nil {
		m.t.Error(err)
		return
	}
	p := n.env.plant.Launch(&m.Machine, d.spark, node.Key{App: h.App, ID: h.ID}, &api.Launch{Cores: slots})
	m.executors = append(m.executors, &process{jvm: p, machine: m, node: n, handle: h, page: w})
}

// step has the machine go by its groups' files; with publish pages and usage files follow.
func (m *machine) step(publish bool) {
	m.bury()
	for _, p := range m.executors {
		p.obey()
		if publish {
			p.publish()
		}
	}
	m.used.Store(int64(m.Used() * 1e9))
}

// bury takes executors away that were stopped or have crashed.
func (m *machine) bury() {
	alive := m.executors[:0]
	for _, p := range m.executors {
		if s, err := p.node.Runtime.Inspect(p.handle); err == nil && s.State == api.ExecutorExited {
			_ = p.page.Close()
			p.jvm.Kill(s.Exit, s.ExitCode)
			m.Remove(p.jvm)
			continue
		}
		alive = append(alive, p)
	}
	m.executors = alive
}

// exited ends what runs as an executor that the plant has ended.
func (e *Env) exited(x *plant.Process) {
	var s node.ExecutorSample
	x.State(&s)
	for _, m := range e.machines {
		for _, p := range m.executors {
			if p.jvm == x {
				p.node.Runtime.Exit(p.handle, s.ExitCode)
			}
		}
	}
}

// obey takes quota and weight from the group's files, as the kernel would.
func (p *process) obey() {
	if quota := p.readQuota(); quota != p.jvm.Quota() {
		p.jvm.SetQuota(quota)
	}
	const defaultShares = 1024
	if shares, ok := p.readNumber("cpu.shares"); ok && shares > 0 && shares != p.shares {
		p.shares = shares
		p.jvm.SetWeight(shares / defaultShares)
	}
}

// readQuota is the quota that the group's file says; +Inf for none.
func (p *process) readQuota() float64 {
	us, ok := p.readNumber("cpu.cfs_quota_us")
	if !ok || us < 0 {
		return math.Inf(1)
	}
	return us / float64(cgroup.Period.Microseconds())
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

func (p *process) group() string {
	return path.Join(p.node.parent, cgroup.GroupName(p.handle.App, p.handle.ID))
}

// publish writes the page and the group's usage, in place.
func (p *process) publish() {
	var s node.ExecutorSample
	p.jvm.Sample(&s)
	p.write("cpuacct.usage", fmt.Sprintf("%019d\n", int64(float64(s.CPU)*1e9)))
	p.write("cpu.stat", fmt.Sprintf("nr_periods 0\nnr_throttled 0\nthrottled_time %019d\n", s.Throttled.Nanoseconds()))
	if p.jvm.Registered {
		p.page.Publish(p.jvm.Page())
	}
}

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

func (m *machine) close() {
	for _, p := range m.executors {
		_ = p.page.Close()
	}
}
