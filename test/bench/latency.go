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
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
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
	// http is the address of metrics of a node that has a process of its own, state its directory.
	http, state string
	// owner runs the daemons.
	owner daemon.Owner
}

// owner is who runs the benchmarks, with credentials in dir.
func owner(dir string) daemon.Owner {
	return daemon.Owner{Name: "bench", UID: os.Geteuid(), GID: os.Getegid(), Dir: dir}
}

// startPlanner brings a planner up and connects to it as peers say; it ends with the test.
func startPlanner(t testing.TB, maxPool int, as peers) (r *rig, address string) {
	t.Helper()
	r = &rig{t: t, as: as, http: realenv.FreePort(t), began: time.Now(), owner: owner(t.TempDir())}
	p := daemon.DefaultPlannerConfig()
	p.Listen, p.HTTP, p.State, p.Engine.MaxPool = realenv.FreePort(t), "", t.TempDir(), maxPool
	p.Owners, p.TLS = []daemon.Owner{r.owner}, as.server
	p.Engine.Branches = "together" // Stages side by side are what is measured.
	serve(t, "planner", &p.Ready, func(ctx context.Context) error { return daemon.Planner(ctx, p) })
	own, err := bus.LoadCredential(bus.CredentialPath(r.owner.Dir, p.Listen), api.PrincipalUser)
	if err != nil {
		t.Fatal(err)
	}
	r.conn = as.dial(t, p.Listen, own)
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

// startRig brings the daemons up, with a node of that name; they end with the test.
func startRig(t testing.TB, name string, cores units.Cores, as peers) *rig {
	t.Helper()
	r, planner := startPlanner(t, daemon.DefaultPlannerConfig().Engine.MaxPool, as)
	n := fakeNode(name, planner, r.http, t.TempDir(), cores)
	n.TLS = as.client
	r.node, n.Owners = n.Name, []daemon.Owner{r.owner}
	runtime := n.Deps.Runtime
	n.Deps.Runtime = func(layout executor.Layout, groups *cgroup.Hierarchy) (executor.Runtime, error) {
		fake, err := runtime(layout, groups)
		fake.(*executor.Fake).OnStart = func(_ executor.Spec, h executor.Handle) { r.page(layout, h) }
		return fake, err
	}
	serve(t, "node", &n.Ready, func(ctx context.Context) error { return daemon.Node(ctx, n) })
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

// serve runs a daemon until the test ends and returns when it is ready, of which it has the
// daemon tell.
func serve(t testing.TB, what string, tell *func(string), run func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	*tell = func(line string) { ready <- line }
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", what, err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatalf("%s ended before it was ready: %v", what, err)
	case <-time.After(20 * time.Second):
		t.Fatalf("%s is not ready after 20 s", what)
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
	_, err := r.conn.Control(ctx, api.VerbProfilePut, api.ControlRequest{V: api.Version, Profile: p.Name, Body: &p})
	if err != nil {
		r.t.Fatal(err)
	}
	secret := bus.NewCredential("")
	reply, err := r.conn.Register(ctx, api.RegisterRequest{V: api.Version, Submission: "bench", Name: p.Name,
		Key: secret.Key(), Deadline: deadline,
		Launch: api.Launch{DriverURL: "spark://CoarseGrainedScheduler@127.0.0.1:1",
			Heap: units.GiB, SparkVersion: "4.3.0"}})
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
	_, err := r.driver.SendEvents(ctx, api.Events{V: api.Version, AppID: r.app, Submission: "bench", Events: events})
	if err != nil {
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
	realenv.Await(r.t, "group "+name, func() bool {
		names, err := groups.Names()
		if err != nil {
			r.t.Fatal(err)
		}
		return slices.Contains(names, name)
	})
	g, err := groups.Group(name)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = g.Close() }) // The node controller removes it.
	return g
}

// awaitQuota polls until an executor has a quota, or has none, and returns when
// that was.
func (r *rig) awaitQuota(g *cgroup.Group, limited bool) time.Time {
	r.t.Helper()
	var now time.Time
	var quota units.Cores
	if !realenv.Poll(100*time.Microsecond, 10*time.Second, func() (done bool) {
		var err error
		if quota, err = g.Quota(); err != nil {
			r.t.Fatal(err)
		}
		now = time.Now()
		return limited != quota.IsUnlimited()
	}) {
		r.t.Fatalf("the quota is still %v", float64(quota))
	}
	return now
}

// chain is a profile of n stages, one after the other.
func chain(n int) api.Profile {
	p := api.Profile{Schema: api.ProfileSchema, Name: "bench-chain", Runs: 1, Cores: 2, Duration: units.Seconds(n) * 4,
		Head: 1}
	for i := range n {
		s := api.ProfileStage{ID: i, Job: i, Name: "bench", Signature: fmt.Sprintf("s%d", i), Parents: []int{}, Tasks: 20,
			Duration: 4,
			Records:  1000, CoreSeconds: 6, NominalRate: 1000.0 / 6}
		p.Stages = append(p.Stages, s)
	}
	return p
}

func ready(i int, executor api.ExecutorID) api.Event {
	return api.Event{Type: api.EventStageReady, Stage: &api.StageReady{StageKey: api.StageKey{Stage: i}, Job: i,
		Name:      "bench",
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
	p := startRig(t, fmt.Sprintf("bench-%d", os.Getpid()), 2, peers{}).begin(stages)
	var ms []float64
	for i := range stages {
		ms = append(ms, p.stage(i))
	}
	p.end()
	add("plan.latency_ms.p50", benchline.Median(ms), "ms")
	add("plan.latency_ms.p99", benchline.Quantile(ms, 0.99), "ms")
}
