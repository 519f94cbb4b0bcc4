package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/units"
)

// A planner at scale.
const (
	scaleNodes   = 10_000
	scaleApps    = 1_000
	scaleSpread  = 40
	scaleStages  = 30
	stageSeconds = 20
	scaleSeconds = 20 // Of the planner's time: one stage of each application.
	nodeTicks    = 2  // Of a node's controllers in a second, which its status tells.
)

// cluster is 10,000 nodes and the drivers of 1,000 paced applications that keep a
// planner's engine at work: each node tells its status every second, with the
// ticks of its executors; each stage takes 20 s. The engine's actions are carried
// out as planner.Loop does, into a store like the daemon's and to the encoder of
// the bus, but there is no network.
type cluster struct {
	t      testing.TB
	of     clusterSize
	engine *planner.Engine
	turn   planner.Turn
	kept   *report.Kept // Who answers has it; nil predicts each time.
	db     store.Store
	now    units.Instant
	began  units.Instant
	nodes  []*scaleNode
	byName map[string]*scaleNode
	apps   []*scaleApp
	byID   map[api.AppID]*scaleApp

	// What was measured, in milliseconds; cpus is the CPU time of events that stayed
	// on one thread, in which other programs of the machine have no part. The cluster is
	// not locked to a thread, for the daemon's loop is not: what is locked cannot go
	// on elsewhere when the runtime takes its processor for the collector.
	events, cpus, engines, stores, encodes, ticks, statuses []float64
}

// clusterSize is of how many nodes and applications a cluster is, and on how many nodes each of these is.
type clusterSize struct{ nodes, apps, spread int }

type scaleNode struct {
	name  string
	seq   uint64
	epoch uint64
	plan  []api.PlanApp
}

type scaleApp struct {
	id         api.AppID
	submission string
	seq        uint64
	stage      int
	ready      units.Instant
	bindings   []api.Binding
}

func newCluster(t testing.TB, size clusterSize) *cluster {
	t.Helper()
	cfg := planner.Default()
	cfg.MaxNodes = size.spread
	engine, err := planner.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, of: size, engine: engine, now: 1_800_000_000_000_000_000, byName: map[string]*scaleNode{},
		byID: map[api.AppID]*scaleApp{}}
	c.began = c.now
	c.open()
	return c
}

// open opens a store as the planner's daemon does: each change is on the disk when
// Apply returns.
func (c *cluster) open() {
	c.t.Helper()
	db, err := store.Open(filepath.Join(c.t.TempDir(), "planner.db"), store.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	c.db = db
	c.t.Cleanup(func() { _ = db.Close() })
}

// step runs the engine for one event and carries out what it wants; it returns the
// reply, how many Plans came of it, and how long that took.
func (c *cluster) step(event planner.Event) (reply any, plans int, took time.Duration) {
	c.t.Helper()
	thread, cpu := unix.Gettid(), threadTime(c.t)
	start := time.Now()
	c.turn.Take(c.engine.Step(c.now, event))
	stepped := time.Now()
	saved := stepped
	actions, err := c.turn.End(func(changes []api.Pair) error {
		err := c.db.Apply(changes)
		saved = time.Now()
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, action := range actions {
		switch a := action.(type) {
		case planner.PublishPlan:
			plans++
			c.encode(a.Plan)
		case planner.PublishDirective:
			c.encode(a.Directive)
		case planner.Answer:
			reply = a.Work(c.engine.View(), c.kept)
		case planner.Reply:
			reply = a.Body
		}
	}
	took = time.Since(start)
	if plans == c.of.spread {
		if used := threadTime(c.t) - cpu; unix.Gettid() == thread {
			c.cpus = append(c.cpus, ms(used))
		}
		c.engines = append(c.engines, ms(stepped.Sub(start)))
		c.stores = append(c.stores, ms(saved.Sub(stepped)))
		c.encodes = append(c.encodes, ms(took-saved.Sub(start)))
	}
	for _, action := range actions {
		if p, ok := action.(planner.PublishPlan); ok {
			c.byName[p.Plan.Node].take(p.Plan)
		}
	}
	return reply, plans, took
}

func (c *cluster) encode(body any) {
	if _, err := json.Marshal(body); err != nil {
		c.t.Fatal(err)
	}
}

// threadTime is the CPU time of the thread that this runs on.
func threadTime(t testing.TB) time.Duration {
	t.Helper()
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		t.Fatal(err)
	}
	return time.Duration(at.Nano())
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func (n *scaleNode) take(p api.Plan) {
	n.epoch = p.Epoch
	n.plan = n.plan[:0]
	for _, a := range p.Apps {
		// What a node's status says later; the rest of the Plan is not this process's.
		n.plan = append(n.plan, api.PlanApp{ID: a.ID, Executors: a.Executors, Stages: a.Stages})
	}
}

// join has all nodes join and all applications come, within one stage's time.
func (c *cluster) join() {
	c.t.Helper()
	for i := range c.of.nodes {
		n := &scaleNode{name: fmt.Sprintf("n%05d", i)}
		c.nodes, c.byName[n.name] = append(c.nodes, n), n
		c.step(planner.Hello{To: 1, Status: c.status(n)})
	}
	p := scaleProfile(c.of.spread)
	c.step(planner.Control{To: 1, Verb: api.VerbProfilePut, Request: api.ControlRequest{V: api.Version, Body: &p}})
	for i := range c.of.apps {
		c.register(i)
		if (i+1)%(c.of.apps/stageSeconds) == 0 {
			c.second()
		}
	}
	c.events, c.cpus, c.engines, c.stores, c.encodes, c.ticks, c.statuses = nil, nil, nil, nil, nil, nil, nil
}

// scaleProfile is a chain of stages that take 10 s on so many nodes of 16 cores.
func scaleProfile(spread int) api.Profile {
	p := api.Profile{Schema: api.ProfileSchema, Name: "scale", Runs: 1, Cores: 16 * units.Cores(spread), Head: 2, Tail: 1,
		Duration: 10*scaleStages + 3}
	for k := range scaleStages {
		s := api.ProfileStage{ID: k, Job: k, Name: fmt.Sprintf("stage %d of a job", k),
			Signature: fmt.Sprintf("signature %d", k), Parents: []int{},
			Tasks: 4 * spread, Duration: 10, Records: 25_000 * int64(spread), CoreSeconds: 40 * units.Work(spread),
			NominalRate: 625, LongestTask: 12}
		if k > 0 {
			s.Parents = []int{k - 1}
		}
		p.Stages = append(p.Stages, s)
	}
	return p
}

// register has an application come, which begins its first stage.
func (c *cluster) register(i int) {
	c.t.Helper()
	a := &scaleApp{submission: fmt.Sprintf("submission-%04d", i), stage: -1}
	c.submit(a)
	c.apps = append(c.apps, a)
	c.boundary(a)
}

// submit has a's driver register and its executors come up, and returns how long the
// registration took.
func (c *cluster) submit(a *scaleApp) (took time.Duration) {
	c.t.Helper()
	reply, _, took := c.step(planner.Register{To: 1, Request: api.RegisterRequest{V: api.Version, Submission: a.submission,
		Name:     "scale",
		Deadline: stageSeconds * (scaleStages + 5), User: "spark", Launch: api.Launch{
			DriverURL: "spark://CoarseGrainedScheduler@10.0.0.1:40123", SparkHome: "/opt/spark",
			JavaHome: "/usr/lib/jvm/java-17", SparkVersion: "4.3.0",
			Heap: 4 * units.GiB, JavaOptions: []string{"-Dspark.driver.port=40123", "-XX:+UseG1GC"},
			ClassPath: []string{"/opt/pacer/pacer-spark.jar"},
			Env:       map[string]string{"SPARK_EXECUTOR_DIRS": "/tmp/spark"}}}})
	r, ok := reply.(api.RegisterReply)
	if !ok || r.Error != nil {
		c.t.Fatalf("register: %+v", reply)
	}
	a.id = r.AppID
	c.byID[a.id] = a
	var up []api.Event
	for _, x := range r.Directive.Executors {
		up = append(up, api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: x.ID}})
		a.bindings = append(a.bindings, api.Binding{Executor: x.ID, Weight: 4, Tasks: 4})
	}
	if len(up) != c.of.spread {
		c.t.Fatalf("%d executors, want %d", len(up), c.of.spread)
	}
	c.tell(a, up...)
	return took
}

// tell sends a driver's events and returns how many Plans came of them, after how
// long.
func (c *cluster) tell(a *scaleApp, events ...api.Event) (int, time.Duration) {
	c.t.Helper()
	for i := range events {
		a.seq++
		events[i].Seq = a.seq
	}
	reply, plans, took := c.step(planner.DriverEvents{To: 1,
		Batch: api.Events{V: api.Version, AppID: a.id, Submission: a.submission, Events: events}})
	if r, ok := reply.(api.EventsReply); !ok || r.Error != nil {
		c.t.Fatalf("events: %+v", reply)
	}
	return plans, took
}

// at is now on a's deadline clock, to what the figures need.
func (c *cluster) at() units.Seconds { return units.FromDuration(c.now.Sub(c.began)) }

// boundary ends a's stage and begins the next one: two stage events.
func (c *cluster) boundary(a *scaleApp) {
	c.t.Helper()
	if a.stage >= 0 {
		c.measured(c.tell(a, api.Event{Type: api.EventStageDone, At: c.at(),
			Done: &api.StageDone{StageKey: api.StageKey{Stage: a.stage}, Tasks: 4 * c.of.spread,
				RecordsRead: 25_000 * int64(c.of.spread), RecordsWritten: 25_000 * int64(c.of.spread),
				TaskCPU: 40 * units.Seconds(c.of.spread), LastFinish: c.at(), LongestTask: 12}}))
	}
	a.stage++
	a.ready = c.now
	c.measured(c.tell(a, api.Event{Type: api.EventStageReady, At: c.at(),
		Stage: &api.StageReady{StageKey: api.StageKey{Stage: a.stage},
			Name: fmt.Sprintf("stage %d of a job", a.stage), Signature: fmt.Sprintf("signature %d", a.stage),
			Tasks:   4 * c.of.spread,
			Records: 25_000 * int64(c.of.spread), Bindings: a.bindings}}))
}

func (c *cluster) measured(plans int, took time.Duration) {
	if plans != c.of.spread {
		c.t.Fatalf("a stage event makes %d plans, want %d", plans, c.of.spread)
	}
	c.events = append(c.events, ms(took))
}

// second is one second of the planner's: four ticks, between them a quarter each of
// the nodes' statuses and of the stage events that are due.
func (c *cluster) second() {
	c.t.Helper()
	for quarter := range 4 {
		for i, n := range c.nodes {
			if i%4 != quarter {
				continue
			}
			_, _, took := c.step(planner.Status{Status: new(c.status(n))})
			c.statuses = append(c.statuses, ms(took))
		}
		for i, a := range c.apps {
			if i%4 != quarter {
				continue
			}
			if c.now.Sub(a.ready) >= stageSeconds*time.Second {
				c.boundary(a)
			} else {
				c.tell(a) // A heartbeat.
			}
		}
		c.now = c.now.Add(planner.TickInterval)
		_, _, took := c.step(planner.Tick{})
		c.ticks = append(c.ticks, ms(took))
	}
}

// status is what a node would say. Names are copies, as they are when a message has
// been decoded.
func (c *cluster) status(n *scaleNode) api.NodeStatus {
	n.seq++
	s := api.NodeStatus{V: api.Version, Node: n.name, Incarnation: n.name + "-1", Seq: n.seq, Epoch: n.epoch,
		Host: "10.0.0.2", Release: "0.1.0",
		Offered: 16, Total: 16, Memory: 64 * units.GiB}
	for _, p := range n.plan {
		running := units.FromDuration(c.now.Sub(c.byID[p.ID].ready))
		for _, id := range p.Executors {
			s.Executors = append(s.Executors, api.ExecutorStatus{App: api.AppID(strings.Clone(string(p.ID))), ID: clone(id),
				State: api.ExecutorRunning,
				PID:   4711, CPU: 4 * units.Work(c.at()), Quota: 4})
		}
		for _, t := range p.Stages {
			st := api.StageStatus{App: p.ID, StageKey: t.StageKey, Executor: clone(t.Executor), CPU: 2 * units.Work(running),
				Progress: units.Fraction(running / stageSeconds).Clamp(), QuotaChanges: int(running)}
			for k := range nodeTicks {
				st.Samples = append(st.Samples, api.StageSample{Age: units.Seconds(nodeTicks-k) / nodeTicks, SetPoint: st.Progress,
					Progress: st.Progress,
					Request:  2, Grant: 2, Used: 2, Running: 4})
			}
			s.Stages = append(s.Stages, st)
		}
	}
	return s
}

func clone(id api.ExecutorID) api.ExecutorID { return api.ExecutorID(strings.Clone(string(id))) }

// figures are what the cluster has measured.
func (c *cluster) figures() []figure {
	c.t.Helper()
	out := []figure{
		{"plan.scale_ms.p50", benchline.Median(c.events), "ms"},
		{"plan.scale_ms.p99", benchline.Quantile(c.events, 0.99), "ms"},
		{"plan.scale_engine_ms.p99", benchline.Quantile(c.engines, 0.99), "ms"},
		{"plan.scale_store_ms.p99", benchline.Quantile(c.stores, 0.99), "ms"},
		{"plan.scale_encode_ms.p99", benchline.Quantile(c.encodes, 0.99), "ms"},
		{"plan.scale_tick_ms.p99", benchline.Quantile(c.ticks, 0.99), "ms"},
		{"plan.scale_status_us", benchline.Median(c.statuses).Times(1000), "us"},
		{"plan.scale_rss_mib", benchline.One(residentMiB(c.t, os.Getpid())), "MiB"},
	}
	if len(c.cpus) > 0 {
		out = append(out, figure{"plan.scale_own_ms.p50", benchline.Median(c.cpus), "ms"},
			figure{"plan.scale_own_ms.p99", benchline.Quantile(c.cpus, 0.99), "ms"})
	}
	return out
}
