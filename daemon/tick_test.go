package daemon

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// crowd is a node with executors on a fake tree, their pages written.
type crowd struct {
	executors *executors
	pages     *pages
	keys      []node.Key
	writers   []*progress.Writer
}

// newCrowd has n executors of one application on a fake tree that the kernel watches, if it
// can.
func newCrowd(tb testing.TB, n int) *crowd {
	tb.Helper()
	return newCrowdOn(tb, fakeGroups(tb, true), n, 1)
}

func fakeGroups(tb testing.TB, watched bool) *cgroup.Hierarchy {
	tb.Helper()
	groups, err := cgroup.Open(cgrouptest.New(tb, cgrouptest.V1Separate).Root, "pacer/node-n1")
	if err != nil {
		tb.Fatal(err)
	}
	if watched {
		_ = groups.WatchQuotas() // Else the quotas are read more often.
	}
	return groups
}

// newCrowdOn has n executors of so many applications, in turn.
func newCrowdOn(tb testing.TB, groups *cgroup.Hierarchy, n, apps int) *crowd {
	tb.Helper()
	counts, err := metrics.NewNode(prometheus.NewRegistry())
	if err != nil {
		tb.Fatal(err)
	}
	user, err := executor.CurrentUser()
	if err != nil {
		tb.Fatal(err)
	}
	log, layout := slog.New(slog.DiscardHandler), executor.Layout{Root: tb.TempDir()}
	c := &crowd{
		executors: &executors{runtime: executor.NewFake(layout, groups), groups: groups, layout: layout, users: &executor.Users{All: &user}, log: log, metrics: counts,
			held: map[node.Key]*held{}, command: func(node.Key, api.Launch, executor.Paths, executor.Credential) (executor.CommandLine, error) {
				return executor.CommandLine{Args: []string{executor.FakeRuns}}, nil
			}},
		pages: &pages{layout: layout, log: log, open: map[node.Key]*openPage{}},
	}
	for i := range n {
		key := node.Key{App: api.AppID(fmt.Sprintf("app-%d", i%apps+1)), ID: api.ExecutorID(strconv.Itoa(i/apps + 1))}
		if err := c.executors.Start(tb.Context(), key, api.Launch{}, false); err != nil {
			tb.Fatal(err)
		}
		paths, err := layout.Paths(key.App, key.ID)
		if err != nil {
			tb.Fatal(err)
		}
		w, err := progress.NewWriter(paths.Page, i)
		if err != nil {
			tb.Fatal(err)
		}
		c.keys, c.writers = append(c.keys, key), append(c.writers, w)
	}
	c.publish(0)
	tb.Cleanup(func() {
		_ = c.pages.close()
		for _, w := range c.writers {
			_ = w.Close()
		}
		_ = groups.Close()
	})
	return c
}

// publish writes all pages as of now: half of the tasks done, two running.
func (c *crowd) publish(now units.Instant) {
	one := api.StageKey{Stage: 1}
	for _, w := range c.writers {
		w.Publish(&meter.Page{At: now,
			Stages: []meter.Stage{{Key: one, Finished: 50, Weight: 50, Records: 5000, CPU: 25, Running: 2}},
			Tasks:  []meter.Task{{Stage: one, Partition: 51, Weight: 1, CPU: 0.1}, {Stage: one, Partition: 52, Weight: 1, CPU: 0.2}}})
	}
}

// sample reads everything that a tick reads.
func (c *crowd) sample(tb testing.TB, processes []node.Process, into *node.Sample) []node.Process {
	processes = c.executors.List(processes[:0])
	for len(into.Executors) < len(processes) {
		into.Executors = append(into.Executors, node.ExecutorSample{})
	}
	into.Executors = into.Executors[:len(processes)]
	for i, p := range processes {
		s := &into.Executors[i]
		s.Key, s.PID, s.Exited = p.Key, p.PID, p.Exited
		var u node.Usage
		if err := c.executors.Read(p.Key, &u); err != nil {
			tb.Fatal(err)
		}
		s.Measured, s.CPU, s.Throttled, s.Quota, s.Writer = true, u.CPU, u.Throttled, u.Quota, u.Writer
		if err := c.pages.Read(p.Key, &s.Page); err != nil {
			tb.Fatal(err)
		}
	}
	return processes
}

func TestWhatATickReads(t *testing.T) {
	c := newCrowd(t, 3)
	if err := c.executors.SetQuota(c.keys[1], 0.5); err != nil {
		t.Fatal(err)
	}
	c.publish(7)
	var s node.Sample
	c.sample(t, nil, &s)
	seen := map[node.Key]bool{}
	for _, x := range s.Executors {
		seen[x.Key] = true
		if want := (x.Key == c.keys[1]); x.Quota.IsUnlimited() == want || (want && x.Quota != 0.5) {
			t.Errorf("%s: quota %v", x.Key, x.Quota)
		}
		if x.Page.At != 7 || len(x.Page.Stages) != 1 || x.Page.Stages[0].CPU != 25 || x.Page.Stages[0].Weight != 50 || len(x.Page.Tasks) != 2 ||
			x.Page.Tasks[1].CPU != 0.2 || x.Page.Tasks[1].Stage.Stage != 1 {
			t.Errorf("%s: page %+v", x.Key, x.Page)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d executors, want 3", len(seen))
	}
}

func TestAStoppedExecutorIsGoneFromEverywhere(t *testing.T) {
	c := newCrowd(t, 2)
	if err := c.executors.Stop(t.Context(), c.keys[0]); err != nil {
		t.Fatal(err)
	}
	if err := c.executors.Stop(t.Context(), c.keys[0]); err != nil {
		t.Errorf("stopping it again: %v", err)
	}
	if got := c.executors.List(nil); len(got) != 1 || got[0].Key != c.keys[1] {
		t.Errorf("list %+v", got)
	}
	var u node.Usage
	if err := c.executors.Read(c.keys[0], &u); err == nil {
		t.Error("its group can still be read")
	}
	if names, err := c.executors.groups.Names(); err != nil || len(names) != 1 {
		t.Errorf("groups %v, %v", names, err)
	}
}

func TestATickAllocatesNothingPerExecutor(t *testing.T) {
	c := newCrowd(t, 32)
	var s node.Sample
	processes := c.sample(t, nil, &s)
	c.sample(t, processes, &s)
	if n := testing.AllocsPerRun(20, func() { processes = c.sample(t, processes, &s) }); n > 4 {
		t.Errorf("%v allocations for 32 executors", n)
	}
}

// BenchmarkTick256 is a whole tick with reads and writes, engine included: 256 executors of
// 64 applications on a fake tree. Every fourth application has no targets.
func BenchmarkTick256(b *testing.B) {
	const n, apps = 256, 64
	c := newCrowdOn(b, fakeGroups(b, true), n, apps)
	cfg := node.Default()
	cfg.Node, cfg.Incarnation, cfg.Total, cfg.Offered = "n1", "i", n, n
	e, err := node.New(cfg, nil)
	if err != nil {
		b.Fatal(err)
	}
	now := units.Instant(time.Hour)
	plan := api.Plan{V: api.Version, Epoch: 1, Node: "n1"}
	for i := range apps {
		app := api.PlanApp{ID: c.keys[i].App, Launch: &api.Launch{}, HasDeadline: true, Remaining: units.Seconds(1e6 + i), Least: 1}
		if i%4 == 3 {
			app = api.PlanApp{ID: app.ID, Launch: app.Launch, Band: api.BandShared}
		}
		plan.Apps = append(plan.Apps, app)
	}
	for i, key := range c.keys {
		app := &plan.Apps[i%apps]
		app.Executors = append(app.Executors, key.ID)
		if app.Band == api.BandShared {
			continue
		}
		app.Stages = append(app.Stages, api.StageTarget{StageKey: api.StageKey{Stage: 1}, Executor: key.ID, Rev: uint64(i + 1),
			Remaining: 1000, Weight: 100, Tasks: 100, Work: 50, InitCores: 0.5})
	}
	slices.SortFunc(plan.Apps, func(x, y api.PlanApp) int { return cmp.Compare(x.ID, y.ID) })
	var s node.Sample
	processes := c.sample(b, nil, &s)
	act := func(actions []node.Action) {
		for i := range actions {
			var err error
			switch a := &actions[i]; a.Kind {
			case node.ActSetQuota:
				err = c.executors.SetQuota(a.Key, a.Cores)
			case node.ActSetWeight:
				err = c.executors.SetWeight(a.Key, a.Weight)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	act(e.Step(now, &s))
	act(e.Apply(now, plan))
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		now = now.Add(cfg.Interval)
		c.publish(now)
		b.StartTimer()
		processes = c.sample(b, processes, &s)
		act(e.Step(now, &s))
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "us/tick")
}

// With many executors two goroutines read, from both ends: each tick shows what
// the groups say at its time, whoever read it, also while executors are stopped.
func TestATickOfManyReadsEachOnceUpToDate(t *testing.T) {
	tree := cgrouptest.New(t, cgrouptest.V1Separate)
	groups, err := cgroup.Open(tree.Root, "pacer/node-n1")
	if err != nil {
		t.Fatal(err)
	}
	c := newCrowdOn(t, groups, 3*prefetchFrom/2, 1)
	var s node.Sample
	var processes []node.Process
	for tick := range 20 {
		if tick%5 == 4 {
			if err := c.executors.Stop(t.Context(), c.keys[tick]); err != nil {
				t.Fatal(err)
			}
		}
		c.executors.List(nil) // A wake between two ticks.
		for _, h := range c.executors.order {
			tree.Use(t, "pacer/node-n1/"+h.group.Name(), units.Work(1+tick), 0)
		}
		processes = c.sample(t, processes, &s)
		for _, x := range s.Executors {
			if want := units.Work(1 + tick); x.CPU != want {
				t.Fatalf("tick %d: %s has used %v, want %v", tick, x.Key, x.CPU, want)
			}
		}
	}
}
