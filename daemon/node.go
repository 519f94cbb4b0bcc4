package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/run"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/executor/docker"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/replay"
	"github.com/sparkpacer/pacer/units"
)

// Node runs a node controller until ctx ends, which is no error: its executors
// run on, without quotas.
func Node(ctx context.Context, cfg NodeConfig) error {
	LimitMemory()
	n, err := NewNode(cfg)
	if err != nil {
		return err
	}
	return n.Run(ctx)
}

// NodeDaemon is a node controller with its runtime, cgroups, store, connection
// and HTTP address.
type NodeDaemon struct {
	cfg    NodeConfig
	ending node.Ending
	deps   Deps
	log    *slog.Logger
	undo   cleanup

	layout    executor.Layout
	groups    *cgroup.Hierarchy
	strain    strain
	guards    guards // None when they are turned off.
	executors *executors
	// driverLine makes command lines of drivers, nil on a node that starts none.
	driverLine driverLine
	attach     *attachment // Nil on a node that starts executors.
	disk       *disk
	rates      *rates
	docker     *docker.Engine // nil without containers.
	archives   *archives
	loop       *node.Loop
	store      *nodeStore
	metrics    *metrics.Node
	history    *replay.Recorder // nil without a history.
	enrolment  *enrolment
	conn       *bus.Conn
	site       *site

	up    chan struct{} // Of one: the connection is there.
	ready sync.Once
}

// NewNode returns a node controller that has taken over the executors that run
// and controls them once Run is called. A caller that does not call Run calls Close.
func NewNode(cfg NodeConfig) (*NodeDaemon, error) { return newNode(cfg, node.Leave) }

func newNode(cfg NodeConfig, ending node.Ending) (*NodeDaemon, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	n := &NodeDaemon{cfg: cfg, ending: ending, log: logger(cfg.Logger, "node", "node", cfg.Name),
		up: make(chan struct{}, 1)}
	if cfg.Deps != nil {
		n.deps = *cfg.Deps
	}
	if n.deps.Clock == nil {
		n.deps.Clock = monotonic
	}
	if n.deps.Boot == nil {
		n.deps.Boot = bootID
	}
	if n.deps.Dial == nil {
		n.deps.Dial = bus.Dial
	}
	if err := n.build(); err != nil {
		return nil, errors.Join(err, n.undo.close())
	}
	return n, nil
}

func (n *NodeDaemon) build() error {
	state, err := openState(n.cfg.State, "node", n.deps.Sync, n.log)
	if err != nil {
		return err
	}
	n.undo.add(state.close)
	registry := prometheus.NewRegistry()
	if n.metrics, err = metrics.NewNode(registry); err != nil {
		return err
	}
	if err := errors.Join(metrics.Build(registry, n.cfg.Release),
		metrics.Certificate(registry, n.cfg.TLS.Until)); err != nil {
		return err
	}
	if err := n.buildExecutors(); err != nil {
		return err
	}
	engine, err := n.engine(state.db)
	if err != nil {
		return err
	}
	if err := n.buildLoop(engine, state.db); err != nil {
		return err
	}
	if err := n.connect(); err != nil {
		return err
	}
	scrapes, err := ownToken(n.cfg.State, newProofs(n.conn.Control))
	if err != nil {
		return err
	}
	if n.site, err = newSite(siteConfig{Address: n.cfg.HTTP, Scrapes: scrapes, TLS: n.cfg.TLS, Log: n.log,
		Checks: map[string]func() error{metrics.HealthPath: n.alive}}, registry); err != nil {
		return err
	}
	n.undo.add(n.site.close)
	return nil
}

// buildExecutors opens the cgroups and the runtime, and takes over what runs.
func (n *NodeDaemon) buildExecutors() error {
	n.layout.Root = n.cfg.Work
	n.layout.Root = cmp.Or(n.layout.Root, filepath.Join(n.cfg.State, "work"))
	if err := n.findDocker(); err != nil {
		return err
	}
	if err := n.openGroups(); err != nil {
		return err
	}
	n.strain = newStrain(n.groups, n.cfg.Attach, n.log)
	n.disk = &disk{layout: n.layout, log: n.log, kill: func(ctx context.Context, app api.AppID) error {
		if n.executors == nil {
			return nil // Their files are their manager's.
		}
		return n.executors.kill(ctx, app)
	}}
	n.disk.bound(n.cfg)
	n.rates = newRates(n.cfg.Rates, n.deps.HostUsed == nil, n.log)
	if n.cfg.Attach {
		return n.buildAttachment()
	}
	users, err := n.cfg.Users(n.layout)
	if err != nil {
		return err
	}
	if users.All != nil && users.All.IsRoot() {
		n.log.Warn(
			"executors run as root: leave executor-user out to keep applications apart from this machine and from each other")
	}
	runtime, err := n.runtime()
	if err != nil {
		return err
	}
	command, err := n.command()
	if err != nil {
		return err
	}
	n.executors = &executors{runtime: runtime, groups: n.groups, layout: n.layout, users: users, command: command,
		log: n.log, metrics: n.metrics, contained: n.docker != nil, held: map[node.Key]*held{}}
	return n.executors.recover()
}

// openGroups opens Pacer's own cgroups and has guards watch over their quotas.
func (n *NodeDaemon) openGroups() (err error) {
	if n.groups, err = cgroup.Open(n.cfg.CgroupRoot, n.cgroupParent()); err != nil {
		return err
	}
	if err := n.groups.Claim(); err != nil {
		return errors.Join(err, n.groups.Close()) // closeGroups would remove what is another's.
	}
	n.undo.add(n.closeGroups)
	if left, err := n.groups.RemoveAbandoned(); len(left) > 0 || err != nil {
		n.log.Info("groups of node controllers that died were removed", "cgroups", left, "error", err)
	}
	// A tree of ordinary files belongs to a test, whose clock may not move while a
	// goroutine waits for the kernel.
	if !n.groups.Kernel() {
		n.log.Debug("quotas are not watched: not the kernel's cgroups")
	} else if err := n.groups.WatchQuotas(); err != nil {
		n.log.Info("other writers of quotas are found by reading, without their names", "error", err)
	}
	if n.cfg.Guard > 0 && n.cfg.GuardBinary != "" {
		n.guards = newGuards(n.cfg, n.cgroupParent(), n.log)
		n.undo.add(n.guards.close)
	}
	return nil
}

// groupLeaves bounds how long the kernel may take to remove the empty parent group.
const groupLeaves = 5 * time.Second

// closeGroups removes the parent group when no executor is left in it, and leaves
// it to the next node controller otherwise.
func (n *NodeDaemon) closeGroups() error {
	names, err := n.groups.Names()
	if err != nil || len(names) > 0 {
		return errors.Join(err, n.groups.Close())
	}
	ctx, cancel := context.WithTimeout(context.Background(), groupLeaves)
	defer cancel()
	return n.groups.Remove(ctx)
}

// commandLine makes an executor's command line for its user.
type commandLine func(node.Key, api.Launch, executor.Paths, executor.Credential) (executor.CommandLine, error)

func (n *NodeDaemon) command() (commandLine, error) {
	if make := n.deps.Command; make != nil {
		return func(key node.Key, launch api.Launch, paths executor.Paths, _ executor.Credential) (executor.CommandLine,
			error) {
			return make(key, launch, paths)
		}, nil
	}
	jar := n.cfg.Jar
	if jar == "" {
		var err error
		if jar, err = n.cfg.InstallJar(filepath.Join(n.cfg.State, "jar")); err != nil {
			return nil, fmt.Errorf("install the jar: %w", err)
		}
	}
	sparks, javas, err := n.cfg.allowedHomes()
	if err != nil {
		return nil, err
	}
	settings := executor.NodeSettings{SparkHome: n.cfg.SparkHome, JavaHome: n.cfg.JavaHome, Sparks: sparks, Javas: javas,
		Jar: jar, Host: n.cfg.host(),
		Slots: int(math.Ceil(float64(n.cfg.offered()))), Archives: n.cfg.ArchiveDir()}
	if settings.Archives != "" {
		n.archives = newArchives(settings, n.log, func() bool { return n.executors.idle() },
			func(ctx context.Context, a executor.Archive) error {
				return executor.TrainingRun{Archive: a, Node: settings, Keep: archivesKept,
					Runtime: n.executors.runtime, Groups: n.groups, Layout: n.layout, Users: n.executors.users}.Make(ctx)
			})
	}
	n.driverLine = n.lineOf(settings)
	return func(key node.Key, launch api.Launch, paths executor.Paths, user executor.Credential) (executor.CommandLine,
		error) {
		settings, err := n.inImage(settings, launch, user)
		if err != nil {
			return executor.CommandLine{}, err
		}
		if settings.Image == "" {
			n.archives.seen(launch, user)
		}
		return executor.Command(key.App, key.ID, launch, paths, settings)
	}, nil
}

// stateKey is where the node's State is stored.
const stateKey = "node/state"

// engine returns an engine that goes on from what db holds. State that cannot be
// used costs control, not work: the executors are taken over all the same.
func (n *NodeDaemon) engine(db store.Store) (*node.Engine, error) {
	cfg := n.cfg.engine()
	cfg.Incarnation = rand.Text()
	if n.deps.HostUsed == nil {
		cfg.Machine = allCores()
	}
	var err error
	if cfg.Boot, err = n.deps.Boot(); err != nil {
		return nil, fmt.Errorf("boot id: %w", err)
	}
	if n.cfg.Attach {
		cfg.Hosts = []string{n.cfg.host()}
	}
	if err := n.openHistory(); err != nil {
		return nil, err
	}
	pairs, err := db.Load(stateKey)
	if err != nil {
		return nil, err
	}
	if len(pairs) > 0 {
		var e *node.Engine
		var saved node.State
		if err = json.Unmarshal(pairs[0].Value, &saved); err == nil {
			e, err = node.New(cfg, &saved)
		}
		if err == nil {
			n.began(cfg, pairs[0].Value)
			return e, nil
		}
		n.log.Warn("the saved state cannot be used: starting without it", "error", err)
	}
	n.began(cfg, nil)
	return node.New(cfg, nil)
}

// openHistory begins to record, where that is wanted.
func (n *NodeDaemon) openHistory() error {
	if n.cfg.History == "" {
		return nil
	}
	r, err := replay.Open(replay.Options{
		Path: n.cfg.History, Node: n.cfg.Name, Release: n.cfg.Release, Start: time.Now(), Clock: n.deps.Clock,
		Fault: func(err error) { n.log.Warn("recording has ended, control goes on", "error", err) },
	})
	if err != nil {
		return err
	}
	n.history = r
	n.undo.add(r.Close)
	return nil
}

// began has the history begin with a new engine.
func (n *NodeDaemon) began(cfg node.Config, saved []byte) {
	if n.history != nil {
		n.history.Begin(cfg, saved)
	}
}

func (n *NodeDaemon) buildLoop(engine *node.Engine, db store.Store) error {
	clock, host := n.deps.Clock, n.deps.HostUsed
	if host == nil {
		h, err := cgroup.OpenHost("")
		if err != nil {
			return err
		}
		n.undo.add(h.Close)
		host = h.Work
	}
	n.store = &nodeStore{db: db}
	watch := &tickWatch{clock: clock, host: host, metrics: n.metrics}
	watch.last = func() units.Instant { return n.loop.LastTick() }
	ports := node.Ports{
		Runtime: watch, Status: n, Store: n.store, Host: watch.hostUsed, Deaf: func() bool {
			return !n.conn.Connected()
		}, Clock: clock, Events: observeNode(n.log, n.metrics),
	}
	if n.attach != nil {
		watch.Runtime, ports.Quotas, ports.Pages = n.attach, n.attach, pagesOf{n.attach}
	} else {
		read := &pages{layout: n.layout, log: n.log, clock: clock, open: map[node.Key]*openPage{},
			group: n.executors.group, memories: map[node.Key]*memoryOf{}, contained: n.docker != nil}
		n.undo.add(read.close)
		watch.Runtime, ports.Quotas, ports.Pages, ports.Memory = n.executors, n.executors, read, read
		if n.driverLine != nil {
			ports.Components = n.newDrivers()
		}
	}
	if n.history != nil {
		ports.Calls = n.history.Record
	}
	if n.ending == node.Keep && (len(n.guards) == 0 || n.cfg.Attach) {
		n.ending = node.Leave // Quotas of other managers are put back.
	}
	n.loop = node.NewLoop(engine, ports, n.ending)
	return nil
}

// connect dials the planner, whether it is there yet or not.
func (n *NodeDaemon) connect() error {
	n.enrolment = newEnrolment(n.cfg, n.deps.Dial, n.deps.Known, n.log)
	if err := n.enrolment.open(); err != nil {
		return err
	}
	told := faults(n.log)
	conn, err := n.deps.Dial(bus.Options{
		Address: n.cfg.Planner, TLS: n.cfg.TLS, Plaintext: n.cfg.Plaintext, Name: "node " + n.cfg.Name, Wait: true,
		Credential: bus.Credential{Login: n.enrolment.login(), Path: n.enrolment.path()}, Secret: n.enrolment.secret,
		OnUp: n.connected,
		OnDown: func(err error) {
			if err != nil {
				n.log.Warn("connection to the planner lost: control goes on with the last plan", "error", err)
			}
		},
		OnFault: func(err error) {
			if n.enrolment.refused(err) {
				told(err)
			}
		},
	})
	if err != nil {
		return err
	}
	n.conn = conn
	n.undo.add(func() error { conn.Close(); return nil })
	if !conn.Connected() {
		n.log.Info("waiting for a planner", "address", n.cfg.Planner)
	}
	return errors.Join(conn.SubscribePlan(n.cfg.Name, n.loop.Offer),
		conn.ServeLogs(n.cfg.Name, func(r api.LogRequest) (api.LogReply, error) { return n.layout.ReadLog(r), nil }))
}

func (n *NodeDaemon) connected() {
	select {
	case n.up <- struct{}{}:
	default:
	}
}

// PublishStatus implements node.Publisher. Without a connection a status is
// dropped: the hello after the reconnect brings the newest.
func (n *NodeDaemon) PublishStatus(s *api.NodeStatus) error {
	status := *s
	n.strain.tell(&status)
	n.metrics.Observe(&status, n.deps.Clock())
	if !n.conn.Connected() {
		return nil
	}
	status.Faults, status.Rates = n.disk.faults(), n.rates.tell(n.deps.Clock())
	return n.conn.PublishStatus(status)
}

// alive is the node's health: the loop has ticked lately and its state is stored.
func (n *NodeDaemon) alive() error {
	if err := n.store.fault.Load(); err != nil {
		return fmt.Errorf("node: its state cannot be stored, control goes on: %w", *err)
	}
	limit := max(5*time.Second, 10*n.cfg.Engine.Interval)
	if idle := n.deps.Clock().Sub(n.loop.LastTick()); idle > limit {
		return fmt.Errorf("node: the control loop has not ticked for %v", idle.Round(time.Millisecond))
	}
	return nil
}

// Run controls until ctx ends or a part fails, then stops everything and returns
// why. It may be called once.
func (n *NodeDaemon) Run(ctx context.Context) error {
	var g run.Group
	untilDone(ctx, &g)
	inOrder(&g, func(ctx context.Context) error { return n.enrolment.run(ctx, n.conn.Connected) })
	inOrder(&g, n.greet)
	// The loop's last status goes out over a connection that is still there.
	inOrder(&g, n.control)
	for _, guard := range n.guards {
		inOrder(&g, guard.keep)
	}
	inOrder(&g, n.disk.run)
	if n.attach != nil {
		inOrder(&g, func(ctx context.Context) error { return n.attach.seek(ctx, n.loop.Wake) })
	}
	if n.archives != nil {
		inOrder(&g, n.archives.run)
	}
	if n.site != nil {
		g.Add(n.site.run, n.site.stop)
	}
	return errors.Join(g.Run(), n.undo.close())
}

// control runs the loop, which lifts all quotas at its end, or leaves them to the guards.
func (n *NodeDaemon) control(ctx context.Context) error {
	err := n.loop.Run(ctx)
	if n.attach != nil {
		err = errors.Join(err, n.attach.letGo())
	}
	if err == nil && n.ending != node.Keep {
		n.guards.quotasLifted()
	}
	return err
}

// Reload has a node controller that runs go by cfg, which differs from what it began with in live
// keys only. It returns when that holds, or with what is wrong with it: then nothing has changed.
func (n *NodeDaemon) Reload(ctx context.Context, cfg NodeConfig) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if err := n.loop.Configure(ctx, cfg.engine()); err != nil {
		return err
	}
	n.disk.bound(cfg)
	n.rates.reset(cfg.Rates)
	return nil
}

// Close releases what NewNode took, for a node controller that is not run.
func (n *NodeDaemon) Close() error { return n.undo.close() }

// greet says hello after each connection and hands the answer's Plan to the loop.
func (n *NodeDaemon) greet(ctx context.Context) error {
	accepted, said := false, ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-n.up:
		}
		for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
			err := n.hello(ctx)
			if err == nil {
				accepted, said = true, ""
				break
			}
			switch text := err.Error(); {
			case ctx.Err() != nil: // The end, no fault.
			case !accepted && hopeless(err):
				return fmt.Errorf("the planner at %s refused this node: %w", n.cfg.Planner, err)
			case text != said:
				said = text
				n.log.Warn("hello to the planner failed, trying again", "error", err)
			}
			if !pause(ctx, wait) {
				return nil
			}
		}
	}
}

// hopeless says that trying again changes nothing. A status that a planner takes for invalid may be what one executor
// does.
func hopeless(err error) bool {
	switch api.KindOf(err) {
	case api.KindVersion, api.KindConflict:
		return true
	}
	return false
}

// pause waits; false when ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (n *NodeDaemon) hello(ctx context.Context) error {
	status, err := n.loop.Status(ctx)
	if err != nil {
		return err
	}
	n.strain.tell(&status)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	reply, err := n.conn.Hello(ctx, status)
	if err != nil {
		return err
	}
	n.loop.Offer(reply.Plan)
	n.log.Info("the planner has accepted this node", "planner", n.conn.Address(), "epoch", reply.Plan.Epoch, "http",
		n.site.url(), "state", n.cfg.State)
	n.ready.Do(func() {
		if n.cfg.Ready != nil {
			n.cfg.Ready(fmt.Sprintf("node %s ready: offers %v of %v cores and %v to %s%s", n.cfg.Name, n.cfg.offered(),
				n.cfg.TotalCores,
				n.cfg.Memory, n.conn.Address(), n.runsIn()))
		}
	})
	return nil
}

// nodeStore is a store as the node's loop asks for it.
type nodeStore struct {
	db store.Store
	// fault is why the newest state is not stored; nil while it is.
	fault atomic.Pointer[error]
}

func (s *nodeStore) SaveState(state *node.State) (err error) {
	defer func() {
		if err != nil {
			s.fault.Store(&err)
		} else {
			s.fault.Store(nil)
		}
	}()
	body, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("save the node's state: %w", err)
	}
	return s.db.Apply([]api.Pair{{Key: stateKey, Value: body}})
}
