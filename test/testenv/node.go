package testenv

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/units"
)

// NodeSpec describes a node.
type NodeSpec struct {
	Name string
	// Cores is what the machine has.
	Cores units.Cores
	// Memory is for executors; 0 is 8 GiB.
	Memory units.Bytes
	// Offered is what it offers; 0 is all of Cores.
	Offered units.Cores
	// On is another node whose machine this one shares.
	On *Node
}

// Node is a node controller on a machine.
type Node struct {
	env     *Env
	spec    NodeSpec
	machine *machine
	parent  string // Its group.
	daemon  *running
	network network
	// Runtime is the fake runtime of the controller that runs.
	Runtime *executor.Fake
}

// StartNode starts a node controller and returns when the planner has accepted
// it.
func (e *Env) StartNode(s NodeSpec) *Node {
	e.T.Helper()
	if s.Memory == 0 {
		s.Memory = 8 * units.GiB
	}
	if s.Offered == 0 {
		s.Offered = s.Cores
	}
	n := &Node{env: e, spec: s, parent: "pacer/node-" + s.Name, network: network{reach: e.pipe}}
	if s.On != nil {
		n.machine = s.On.machine
	} else {
		n.machine = e.newMachine(s.Name, s.Cores)
	}
	e.world.Lock()
	e.nodes[s.Name] = n
	if s.On == nil {
		e.machines = append(e.machines, n.machine)
	}
	e.world.Unlock()
	n.Start()
	return n
}

// outer lends the tree a directory that lives as long as the test.
type outer struct {
	*testing.T
	dir string
}

// TempDir implements testing.TB.
func (o outer) TempDir() string {
	dir, err := os.MkdirTemp(o.dir, "cgroup")
	if err != nil {
		o.Fatal(err)
	}
	return dir
}

// Start starts the node's controller again after Stop.
func (n *Node) Start() {
	e := n.env
	e.T.Helper()
	ready := make(chan string, 1)
	cfg := n.config()
	cfg.Ready = func(line string) { ready <- line }
	d, err := daemon.NewNode(cfg)
	if err != nil {
		e.T.Fatal(err)
	}
	await := ready
	if e.planner == nil {
		await = nil // It is ready when a planner comes.
	}
	n.daemon = e.launch("node "+n.spec.Name, d.Run, await)
}

func (n *Node) config() daemon.NodeConfig {
	e := n.env
	cfg := daemon.DefaultNodeConfig()
	cfg.Name, cfg.HTTP, cfg.State, cfg.Logger = n.spec.Name, "", filepath.Join(e.dir, "node-"+n.spec.Name), e.Log
	cfg.TotalCores, cfg.OfferedCores, cfg.Reserve, cfg.Memory = n.spec.Cores, n.spec.Offered, 0, n.spec.Memory
	cfg.CgroupRoot, cfg.Owners = n.machine.tree.Root, e.owners()
	if user, err := executor.LookupUser("0"); err == nil && os.Geteuid() == 0 {
		cfg.ExecutorUser = user.Name
	}
	cfg.Deps = &daemon.Deps{
		Runtime: n.runtime, Clock: e.Clock, Dial: n.dial, Sync: store.SyncNever,
		Boot:     func() (string, error) { return "fake", nil },
		HostUsed: func() (units.Work, error) { return units.Work(float64(n.machine.used.Load()) / 1e9), nil },
		Command: func(_ node.Key, launch api.Launch, paths executor.Paths) (executor.CommandLine, error) {
			return executor.CommandLine{Args: []string{executor.FakeRuns, launch.DriverURL, paths.Page},
				Env: []string{launch.Env[secretVariable]}}, nil
		},
	}
	if e.Node != nil {
		e.Node(&cfg)
	}
	return cfg
}

// runtime is the fake one of the machine; what runs on it runs on.
func (n *Node) runtime(layout executor.Layout, groups *cgroup.Hierarchy) (executor.Runtime, error) {
	n.env.world.Lock()
	defer n.env.world.Unlock()
	if n.Runtime == nil {
		n.Runtime = executor.NewFake(layout, groups)
	} else {
		n.Runtime = n.Runtime.Restart(groups)
	}
	n.Runtime.OnStart = n.started
	return n.Runtime, nil
}

func (n *Node) started(s executor.Spec, h executor.Handle) {
	e := n.env
	e.mu.Lock()
	d := e.mu.byURL[s.Args[1]]
	e.mu.Unlock()
	if d != nil && s.Env[0] != d.secret {
		e.T.Errorf("executor %s of %s is started without its secret", s.ID, s.App)
	}
	if d == nil {
		n.Runtime.Exit(h, 1) // As a JVM that cannot reach its driver.
		return
	}
	e.move(func() { n.machine.start(n, d, h, s.Args[2], int(math.Ceil(float64(n.spec.Offered)))) })
}

// Stop stops the node's controller; its executors run on.
func (n *Node) Stop() {
	n.env.T.Helper()
	if n.daemon != nil {
		n.env.end("node "+n.spec.Name, n.daemon)
		n.daemon = nil
	}
}

// Kill ends the node's controller as SIGKILL does: the planner hears nothing, no
// quota is lifted, and what was not stored is lost.
func (n *Node) Kill() {
	e := n.env
	e.T.Helper()
	n.network.cut(true)
	db := filepath.Join(e.dir, "node-"+n.spec.Name, "node.db")
	saved, err := os.ReadFile(db)
	if err != nil {
		e.T.Fatal(err)
	}
	quotas := map[string][]byte{}
	for _, group := range n.Groups() {
		path := n.machine.tree.Path(n.parent+"/"+group, "cpu.cfs_quota_us")
		if quotas[path], err = os.ReadFile(path); err != nil {
			e.T.Fatal(err)
		}
	}
	n.Stop()
	for path, quota := range quotas {
		if err := os.WriteFile(path, quota, 0o644); err != nil {
			e.T.Fatal(err)
		}
	}
	if err := os.WriteFile(db, saved, 0o600); err != nil {
		e.T.Fatal(err)
	}
	n.network.cut(false)
}

func (n *Node) dial(o bus.Options) (*bus.Conn, error) {
	o.Dialer = n.network.dial
	return bus.Dial(o)
}

// network can be cut.
type network struct {
	reach func() (net.Conn, error)
	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

func (w *network) dial() (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return nil, fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	}
	conn, err := w.reach()
	if err == nil {
		w.conns = append(w.conns, conn)
	}
	return conn, err
}

// cut closes all connections and lets no new ones through, or does again.
func (w *network) cut(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

// Cut takes the node's connection to the planner away or gives it back.
func (n *Node) Cut(down bool) { n.network.cut(down) }

// Quota is what is in force for an executor, as its cgroup says.
func (n *Node) Quota(app api.AppID, id api.ExecutorID) units.Cores {
	n.env.world.Lock()
	defer n.env.world.Unlock()
	p := process{machine: n.machine, node: n, handle: executor.Handle{App: app, ID: id}}
	return units.Cores(p.readQuota())
}

// Written is what was ever written into the files that limit an executor, by
// name; files that were only opened are left out.
func (n *Node) Written(app api.AppID, id api.ExecutorID) map[string]string {
	written := map[string]string{}
	for _, file := range []string{"cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.shares"} {
		if text := n.machine.tree.Read(n.env.T, n.parent+"/"+cgroup.GroupName(app, id), file); text != "" {
			written[file] = text
		}
	}
	return written
}

// Executors lists the executors that run, as "app/id".
func (n *Node) Executors() []string {
	var out []string
	n.env.move(func() {
		n.machine.bury()
		for _, p := range n.machine.executors {
			if p.node == n {
				out = append(out, p.jvm.Key.String())
			}
		}
	})
	return out
}

// Groups lists the executors' groups that exist.
func (n *Node) Groups() []string {
	entries, err := os.ReadDir(n.machine.tree.Path(n.parent, ""))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, strings.TrimSuffix(e.Name(), "/"))
		}
	}
	return out
}

// Crash ends an executor by itself.
func (n *Node) Crash(app api.AppID, id api.ExecutorID) {
	n.env.world.Lock()
	defer n.env.world.Unlock()
	for _, p := range n.machine.executors {
		if p.node == n && p.handle.App == app && p.handle.ID == id {
			n.Runtime.Exit(p.handle, 1)
			return
		}
	}
	n.env.T.Errorf("executor %s of %s does not run on %s", id, app, n.spec.Name)
}

// Lose ends the node as a power cut does: its controller and its executors are
// gone without a word.
func (n *Node) Lose() {
	n.network.cut(true)
	n.Stop()
	n.env.world.Lock()
	defer n.env.world.Unlock()
	for _, p := range n.machine.executors {
		if p.node == n {
			n.Runtime.Exit(p.handle, 137)
		}
	}
	for _, g := range n.Groups() {
		_ = os.RemoveAll(n.machine.tree.Path(n.parent+"/"+g, ""))
	}
}

// Slow lets the machine give executors only a part of what their quotas allow,
// which nothing that a node controller reads tells.
func (n *Node) Slow(part float64) {
	n.env.move(func() { n.machine.Steal(n.machine.Cores * (1 - part)) })
}

// Twin runs another controller of the same name on a machine of its own and
// returns how it ended.
func (n *Node) Twin() error {
	e := n.env
	e.T.Helper()
	twin := &Node{env: e, spec: n.spec, parent: n.parent, network: network{reach: e.pipe},
		machine: e.newMachine(n.spec.Name, n.spec.Cores)}
	cfg := twin.config()
	cfg.State += "-twin"
	d, err := daemon.NewNode(cfg)
	if err != nil {
		e.T.Fatal(err)
	}
	return d.Run(context.Background())
}

// Disturb has other programs of the machine want that many cores.
func (n *Node) Disturb(cores units.Cores) {
	n.env.move(func() { n.machine.Disturb(float64(cores)) })
}
