package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/cgroup"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/executor"
	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/internal/realenv"
	"github.com/sparkpacer/pacer/meter"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/progress"
	"github.com/sparkpacer/pacer/units"
)

// stages of the application whose plans are timed.
const stages = 200

// rig is a planner and a node controller in this process, on loopback TCP, with
// real cgroups and executors without processes, and a driver that speaks the
// protocol.
type rig struct {
	t testing.TB
	// conn is the owner's connection, driver the application's, as says how they are made.
	conn, driver *bus.Conn
	as           peers
	// node is the node's name.
	node  string
	app   api.AppID
	seq   uint64
	began time.Time
	// http is the node's address of metrics.
	http string
	// owner runs the daemons, own is its credential.
	owner daemon.Owner
	own   bus.Credential
}

// owner is who runs the benchmarks, with credentials in dir.
func owner(dir string) daemon.Owner {
	return daemon.Owner{Name: "bench", UID: os.Geteuid(), GID: os.Getegid(), Dir: dir}
}

// startPlanner brings a planner up and connects to it; it ends with the test.
func startPlanner(t testing.TB, maxPool int) (r *rig, address string) {
	t.Helper()
	return startPlannerAs(t, maxPool, peers{})
}

// startPlannerAs is startPlanner with connections as they say.
func startPlannerAs(t testing.TB, maxPool int, as peers) (r *rig, address string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r = &rig{t: t, as: as, http: realenv.FreePort(t), began: time.Now(), owner: owner(t.TempDir())}
	p := daemon.DefaultPlannerConfig()
	p.Listen, p.HTTP, p.State, p.Engine.MaxPool = realenv.FreePort(t), "", t.TempDir(), maxPool
	p.Owners, p.TLS = []daemon.Owner{r.owner}, as.server
	p.Engine.Branches = "together" // Stages side by side are what is measured.
	ready, ended := make(chan string, 1), make(chan error, 1)
	p.Ready = func(line string) { ready <- line }
	go func() { ended <- daemon.Planner(ctx, p) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("planner: %v", err)
		}
	})
	await(t, ready, ended)
	own, err := bus.LoadCredential(bus.CredentialPath(r.owner.Dir, p.Listen), api.PrincipalUser)
	if err != nil {
		t.Fatal(err)
	}
	r.conn, r.own = as.dial(t, p.Listen, own), own
	return r, p.Listen
}

// peers says how everybody connects to a planner: without TLS, as on loopback, or with it.
type peers struct {
	server, client bus.TLS
}

// dial connects; the connection ends with the test.
func (as peers) dial(t testing.TB, address string, own bus.Credential) *bus.Conn {
	t.Helper()
	conn, err := bus.Dial(bus.Options{Address: address, Credential: own, Name: "bench", TLS: as.client})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// startRig brings the daemons up; they end with the test.
func startRig(t testing.TB, cores units.Cores) *rig {
	t.Helper()
	return startRigAs(t, fmt.Sprintf("bench-%d", os.Getpid()), cores, peers{})
}

// startRigAs is startRig with a node of that name, and connections as they say.
func startRigAs(t testing.TB, name string, cores units.Cores, as peers) *rig {
	t.Helper()
	r, planner := startPlannerAs(t, daemon.DefaultPlannerConfig().Engine.MaxPool, as)
	n := fakeNode(name, planner, r.http, t.TempDir(), cores)
	n.TLS = as.client
	r.node, n.Owners = n.Name, []daemon.Owner{r.owner}
	runtime := n.Deps.Runtime
	n.Deps.Runtime = func(layout executor.Layout, groups *cgroup.Hierarchy) (executor.Runtime, error) {
		fake, err := runtime(layout, groups)
		fake.(*executor.Fake).OnStart = func(_ executor.Spec, h executor.Handle) { r.page(layout, h) }
		return fake, err
	}
	ready, ended := make(chan string, 1), make(chan error, 1)
	n.Ready = func(line string) { ready <- line }
	ctx, stop := context.WithCancel(context.Background())
	go func() { ended <- daemon.Node(ctx, n) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("node: %v", err)
		}
	})
	await(t, ready, ended)
	return r
}

// fakeNode is a node controller with real cgroups and executors without
// processes.
func fakeNode(name, planner, http, state string, cores units.Cores) daemon.NodeConfig {
	n := daemon.DefaultNodeConfig()
	n.Name, n.Planner, n.HTTP, n.State, n.Jar = name, planner, http, state, "/dev/null"
	n.TotalCores, n.OfferedCores, n.Memory = cores, cores, 1024*units.GiB
	n.ExecutorUser = cmp.Or(n.ExecutorUser, "root") // There are no processes.
	n.Deps = &daemon.Deps{
		Runtime: func(layout executor.Layout, groups *cgroup.Hierarchy) (executor.Runtime, error) {
			return executor.NewFake(layout, groups), nil
		},
		Command: func(node.Key, api.Launch, executor.Paths) (executor.CommandLine, error) {
			return executor.CommandLine{Args: []string{executor.FakeRuns}}, nil
		},
	}
	return n
}

func await(t testing.TB, ready <-chan string, ended <-chan error) {
	t.Helper()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("a daemon ended before it was ready: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("a daemon is not ready after 20 s")
	}
}

// page shows an idle JVM on an executor's page until the test ends: without one
// an executor is left at all cores.
func (r *rig) page(layout executor.Layout, h executor.Handle) {
	paths, err := layout.Paths(h.App, h.ID)
	if err != nil {
		r.t.Error(err)
		return
	}
	w, err := progress.NewWriter(paths.Page, h.PID)
	if err != nil {
		r.t.Error(err)
		return
	}
	showing(r.t, func() { w.Publish(&meter.Page{At: monotonic()}) }, w)
}

// showing calls show at once and then every 100 ms, as an executor's JVM writes
// its page, until the test ends; it closes the pages then.
func showing(t testing.TB, show func(), pages ...*progress.Writer) {
	show()
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				show()
			}
		}
	}()
	t.Cleanup(func() {
		close(over)
		<-ended
		for _, w := range pages {
			_ = w.Close()
		}
	})
}

// monotonic is the clock of the progress pages.
func monotonic() units.Instant {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // It cannot fail.
	return units.Instant(now.Nano())
}

// register introduces an application whose profile was put before.
func (r *rig) register(p api.Profile, deadline units.Seconds) api.RegisterReply {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := r.conn.Control(ctx, api.VerbProfilePut, api.ControlRequest{V: api.Version, Profile: p.Name, Body: &p}); err != nil {
		r.t.Fatal(err)
	}
	secret := bus.NewCredential("")
	reply, err := r.conn.Register(ctx, api.RegisterRequest{V: api.Version, Submission: "bench", Name: p.Name, SparkVersion: "4.3.0",
		Key: secret.Hash(), Deadline: deadline, Launch: api.Launch{DriverURL: "spark://CoarseGrainedScheduler@127.0.0.1:1", Heap: units.GiB, SparkVersion: "4.3.0"}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.app, secret.Login = reply.AppID, string(reply.AppID)
	r.driver = r.as.dial(r.t, r.conn.Address(), secret)
	return reply
}

// send delivers events, numbered, and returns once they are acknowledged.
func (r *rig) send(events ...api.Event) {
	r.t.Helper()
	for i := range events {
		r.seq++
		events[i].Seq, events[i].At = r.seq, units.FromDuration(time.Since(r.began))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := r.driver.SendEvents(ctx, api.Events{V: api.Version, AppID: r.app, Submission: "bench", Events: events}); err != nil {
		r.t.Fatal(err)
	}
}

// below is the node's groups.
func (r *rig) below() *cgroup.Hierarchy {
	r.t.Helper()
	groups, err := cgroup.Open("", "pacer/node-"+r.node)
	if err != nil {
		r.t.Fatal(err)
	}
	return groups
}

// groupOf is the group of an executor of the application, once the node controller has
// made it.
func (r *rig) groupOf(groups *cgroup.Hierarchy, id api.ExecutorID) *cgroup.Group {
	r.t.Helper()
	name := cgroup.GroupName(r.app, id)
	for limit := time.After(20 * time.Second); ; {
		names, err := groups.Names()
		if err != nil {
			r.t.Fatal(err)
		}
		if slices.Contains(names, name) {
			break
		}
		select {
		case <-limit:
			r.t.Fatalf("group %s did not appear", name)
		case <-time.After(10 * time.Millisecond):
		}
	}
	g, err := groups.Group(name)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = g.Close() }) // The node controller removes it.
	return g
}

// awaitFile polls until path exists.
func awaitFile(t testing.TB, path string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s did not appear", path)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// awaitQuota polls until an executor has a quota, or has none, and returns when
// that was.
func (r *rig) awaitQuota(g *cgroup.Group, limited bool) time.Time {
	r.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	poll := time.NewTicker(100 * time.Microsecond)
	defer poll.Stop()
	for {
		quota, err := g.Quota()
		if err != nil {
			r.t.Fatal(err)
		}
		now := time.Now()
		if limited != quota.IsUnlimited() {
			return now
		}
		if now.After(deadline) {
			r.t.Fatalf("the quota is still %v", float64(quota))
		}
		<-poll.C
	}
}

// chain is a profile of n stages, one after the other.
func chain(n int) api.Profile {
	p := api.Profile{Schema: api.ProfileSchema, Name: "bench-chain", Runs: 1, Cores: 2, Duration: units.Seconds(n) * 4, Head: 1}
	for i := range n {
		s := api.ProfileStage{ID: i, Job: i, Name: "bench", Signature: fmt.Sprintf("s%d", i), Parents: []int{}, Tasks: 20, Duration: 4,
			Records: 1000, CoreSeconds: 6, NominalRate: 1000.0 / 6}
		p.Stages = append(p.Stages, s)
	}
	return p
}

func ready(i int, executor api.ExecutorID) api.Event {
	return api.Event{Type: api.EventStageReady, Stage: &api.StageReady{StageKey: api.StageKey{Stage: i}, Job: i, Name: "bench",
		Signature: fmt.Sprintf("s%d", i), Parents: []int{}, Tasks: 20, Records: 1000, Bytes: api.Unknown,
		Bindings: []api.Binding{{Executor: executor, Weight: 20, Tasks: 20}}}}
}

// pacing is the application whose stages are timed, on a rig.
type pacing struct {
	*rig
	executor api.ExecutorID
	quota    *cgroup.Group
}

// begin has an application of so many stages come, with one executor.
func (r *rig) begin(stages int) pacing {
	r.t.Helper()
	reply := r.register(chain(stages), units.Seconds(stages)*8)
	p := pacing{rig: r, executor: reply.Directive.Executors[0].ID}
	p.quota = r.groupOf(r.below(), p.executor)
	r.send(api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: p.executor}})
	return p
}

// stage runs one and returns the milliseconds from the driver's "stage ready" to the
// quota of that stage in force in its cgroup's file.
func (p pacing) stage(i int) float64 {
	p.t.Helper()
	begin := time.Now()
	p.send(ready(i, p.executor))
	took := p.awaitQuota(p.quota, true).Sub(begin)
	p.send(api.Event{Type: api.EventStageDone, Done: &api.StageDone{StageKey: api.StageKey{Stage: i}, Tasks: 20}})
	p.awaitQuota(p.quota, false)
	return float64(took.Microseconds()) / 1000
}

// end ends it.
func (p pacing) end() {
	p.t.Helper()
	p.send(api.Event{Type: api.EventEnd})
	p.send(api.Event{Type: api.EventExit, Clean: true})
}

// planLatency times 200 stages from "stage ready" to the quota in force.
func planLatency(t testing.TB, add adder) {
	p := startRig(t, 2).begin(stages)
	var ms []float64
	for i := range stages {
		ms = append(ms, p.stage(i))
	}
	p.end()
	add("plan.latency_ms.p50", benchline.Median(ms), "ms")
	add("plan.latency_ms.p99", benchline.Quantile(ms, 0.99), "ms")
}
