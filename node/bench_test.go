package node

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/node/meter"

	"github.com/sparkpacer/pacer/units"
)

// crowd is 256 executors of 64 applications, each at work on a stage with 4
// running tasks, under contention.
type crowd struct {
	e      *Engine
	now    units.Instant
	sample Sample
}

func newCrowd(tb testing.TB) *crowd {
	cfg := testConfig(64)
	cfg.Controller.Law = controller.Default().Law
	e, err := New(cfg, nil)
	if err != nil {
		tb.Fatal(err)
	}
	c := &crowd{e: e, now: units.Instant(time.Second)}
	c.sample.HostUsed = 1
	e.Step(c.now, &c.sample)
	p := api.Plan{V: api.Version, Epoch: 1, Node: "n1"}
	for a := range 64 {
		app := planApp(api.AppID("app-20261121043012-"+strconv.Itoa(1000+a)), 8, nil)
		for x := range 4 {
			id := api.ExecutorID(strconv.Itoa(x + 1))
			app.Executors = append(app.Executors, id)
			app.Stages = append(app.Stages, target(x, id, 4000, 8000, 24*time.Hour, units.Cores(0.1+0.01*float64(a))))
			c.sample.Executors = append(c.sample.Executors, ExecutorSample{Key: Key{app.ID, id}, Measured: true, Quota: units.Unlimited})
		}
		p.Apps = append(p.Apps, app)
	}
	for i := range c.sample.Executors {
		page := &c.sample.Executors[i].Page
		key := api.StageKey{Stage: i % 4}
		page.Stages = []meter.Stage{{Key: key, Running: 4}, {Key: api.StageKey{Stage: 90}, Finished: 100, Weight: 100, CPU: 50}}
		for t := range 4 {
			page.Tasks = append(page.Tasks, meter.Task{Stage: key, Partition: t, Weight: 1})
		}
	}
	e.Apply(c.now, p)
	return c
}

// pass lets half a second of work appear in the sample.
func (c *crowd) pass() {
	c.now = c.now.Add(500 * time.Millisecond)
	c.sample.HostUsed += 32
	for i := range c.sample.Executors {
		s := &c.sample.Executors[i]
		s.CPU += 0.125
		s.Page.At, s.Page.Generation = c.now, s.Page.Generation+1
		st := &s.Page.Stages[0]
		st.RunningCPU += 0.12
		for t := range s.Page.Tasks {
			s.Page.Tasks[t].CPU += 0.03
		}
		if st.RunningCPU > 8 {
			st.CPU, st.RunningCPU = st.CPU+st.RunningCPU, 0
			st.Finished, st.Weight = st.Finished+4, st.Weight+4
			for t := range s.Page.Tasks {
				s.Page.Tasks[t].CPU = 0
			}
		}
	}
}

// apply makes the quotas in force what the engine asked for.
func (c *crowd) apply(actions []Action) {
	for _, a := range actions {
		if a.Kind == ActSetQuota {
			for i := range c.sample.Executors {
				if c.sample.Executors[i].Key == a.Key {
					c.sample.Executors[i].Quota = a.Cores
				}
			}
		}
	}
}

func (c *crowd) step() []Action {
	c.pass()
	actions := c.e.Step(c.now, &c.sample)
	c.apply(actions)
	return actions
}

// BenchmarkStep256 is the engine's part of a tick: at most 100 us and nothing
// allocated per executor.
func BenchmarkStep256(b *testing.B) {
	c := newCrowd(b)
	for range 40 {
		c.step()
	}
	b.ReportAllocs()
	b.ResetTimer()
	// Step alone is timed by hand: StopTimer stops the world each time, which
	// leaves the caches cold for what it is meant to time.
	var spent time.Duration
	for b.Loop() {
		c.pass()
		begin := time.Now()
		actions := c.e.Step(c.now, &c.sample)
		spent += time.Since(begin)
		c.apply(actions)
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "ns/op")
}

func TestStepAllocatesNothingPerExecutor(t *testing.T) {
	c := newCrowd(t)
	active := 0
	for range 40 {
		c.step()
	}
	for _, a := range c.e.roster.apps {
		for _, control := range a.controls {
			if control.active {
				active++
			}
		}
	}
	if active != 256 {
		t.Fatalf("%d of 256 stages are controlled", active)
	}
	// A save every 5 s and a status every second are among them.
	if n := testing.AllocsPerRun(40, func() { c.step() }); n > 4 {
		t.Errorf("%v allocations in a step with 256 executors", n)
	}
}

// crowdPorts are ports that answer from a crowd's sample.
type crowdPorts struct {
	c    *crowd
	at   map[Key]int
	sent int
}

func (p *crowdPorts) Start(context.Context, Key, api.Launch, bool) error { return nil }
func (p *crowdPorts) Stop(context.Context, Key) error                    { return nil }
func (p *crowdPorts) List(into []Process) []Process {
	for i := range p.c.sample.Executors {
		into = append(into, Process{Key: p.c.sample.Executors[i].Key, PID: 1})
	}
	return into
}

func (p *crowdPorts) SetQuota(key Key, cores units.Cores) error {
	p.c.sample.Executors[p.at[key]].Quota = cores
	return nil
}
func (p *crowdPorts) SetWeight(Key, Weight) error { return nil }
func (p *crowdPorts) Read(key Key, into *Usage) error {
	s := &p.c.sample.Executors[p.at[key]]
	*into = Usage{CPU: s.CPU, Quota: s.Quota}
	return nil
}
func (p *crowdPorts) PublishStatus(*api.NodeStatus) error { p.sent++; return nil }
func (p *crowdPorts) SaveState(*State) error              { return nil }

type crowdPages struct{ *crowdPorts }

func (p crowdPages) Forget(Key) {}
func (p crowdPages) Read(key Key, into *meter.Page) error {
	from := &p.c.sample.Executors[p.at[key]].Page
	stages, tasks := append(into.Stages[:0], from.Stages...), append(into.Tasks[:0], from.Tasks...)
	*into = meter.Page{At: from.At, Generation: from.Generation, Stages: stages, Tasks: tasks}
	return nil
}

// BenchmarkTick256 is a whole tick of the loop on ports that cost nothing.
func BenchmarkTick256(b *testing.B) {
	c := newCrowd(b)
	p := &crowdPorts{c: c, at: make(map[Key]int)}
	for i := range c.sample.Executors {
		p.at[c.sample.Executors[i].Key] = i
	}
	l := NewLoop(c.e, Ports{Runtime: p, Quotas: p, Pages: crowdPages{p}, Status: p, Store: p,
		Host: func() (units.Work, error) { return c.sample.HostUsed, nil }, Clock: func() units.Instant { return c.now }}, Leave)
	ctx := context.Background()
	for range 40 {
		c.pass()
		l.tick(ctx)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		b.StopTimer()
		c.pass()
		b.StartTimer()
		l.tick(ctx)
	}
	l.saves.Wait()
	l.reports.Wait()
	if p.sent == 0 {
		b.Fatal("nothing was reported")
	}
}
