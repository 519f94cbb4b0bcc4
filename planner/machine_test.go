package planner_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
	"pgregory.net/rapid"
)

// modelApp is what the test itself knows of an application.
type modelApp struct {
	id     api.AppID
	r      api.RegisterRequest
	sent   []api.Event
	stages map[int][]api.Binding // Ready and not done.
	next   int
	ended  bool
}

// machine plays drivers, nodes and users at random against an engine.
type machine struct {
	*world
	apps        []*modelApp
	nodes       []string
	all         map[api.AppID]bool
	submissions int
	viewer      viewer
}

func (m *machine) pick(t *rapid.T) *modelApp {
	var open []*modelApp
	for _, a := range m.apps {
		if !a.ended {
			open = append(open, a)
		}
	}
	if len(open) == 0 {
		t.Skip("no application runs")
	}
	return rapid.SampledFrom(open).Draw(t, "application")
}

// drive sends events as a's driver; a driver that is not known ends.
func (m *machine) drive(a *modelApp, events ...api.Event) {
	reply := m.send(a.id, a.r.Submission, events...)
	if reply.Error != nil {
		if reply.Error.Kind != api.KindNotFound {
			m.Fatalf("events: %v", reply.Error)
		}
		a.ended = true
		return
	}
	a.sent = append(a.sent, events...)
	for _, ev := range events {
		switch ev.Type {
		case api.EventStageReady:
			a.stages[ev.Stage.Stage] = ev.Stage.Bindings
		case api.EventStageBound:
			a.stages[ev.Bound.Stage] = ev.Bound.Bindings
		case api.EventStageDone:
			delete(a.stages, ev.Done.Stage)
		case api.EventEnd:
			a.ended = true
		}
	}
}

// clock is now on a's deadline clock.
func (m *machine) clock(a *modelApp) units.Seconds {
	return m.app(a.id).Duration
}

func (m *machine) Register(t *rapid.T) {
	name := rapid.SampledFrom([]string{"chain", "diamond", "new"}).Draw(t, "name")
	r := registration(name, rapid.SampledFrom([]units.Seconds{0, 10, 60, 100, 1000}).Draw(t, "deadline"))
	m.submissions++
	r.Submission = fmt.Sprint("submission ", m.submissions)
	r.Launch.Heap = units.Bytes(rapid.SampledFrom([]int{1, 1, 4, 8, 10}).Draw(t, "heap")) * units.GiB
	if rapid.IntRange(0, 3).Draw(t, "attached") == 0 {
		r.Launch.Cores, r.Launch.Attach = rapid.IntRange(0, 2).Draw(t, "cores"), &api.Attach{Manager: api.ManagerYARN, App: "application_1", Least: rapid.IntRange(0, 2).Draw(t, "least executors"), Most: rapid.SampledFrom([]int{0, 2, 5}).Draw(t, "most executors")}
	}
	r.Class = rapid.SampledFrom(append(api.Classes(), "")).Draw(t, "class")
	r.NoWait = rapid.IntRange(0, 3).Draw(t, "no wait") == 0
	r.RequireFeasible = rapid.Bool().Draw(t, "require feasible")
	if least, most := rapid.IntRange(0, 3).Draw(t, "least"), rapid.IntRange(0, 3).Draw(t, "most"); least+most > 3 {
		r.Nodes = &api.NodeRange{Least: least, Most: most}
	}
	reply := m.register(r)
	if reply.Error != nil {
		if k := reply.Error.Kind; k != api.KindTransient && (k != api.KindInfeasible || !r.RequireFeasible && m.cfg.Queue.Late != assign.Refuse) && (k != api.KindConflict || !r.NoWait) && k != api.KindInvalid {
			t.Fatalf("register: %v", reply.Error)
		}
		return
	}
	a := &modelApp{id: reply.AppID, r: r, stages: map[int][]api.Binding{}, next: 1}
	m.apps = append(m.apps, a)
	m.all[reply.AppID] = true
	if rapid.Bool().Draw(t, "all come up") {
		for _, x := range reply.Directive.Executors {
			m.drive(a, up(x.ID))
		}
	}
}

func (m *machine) RegisterAgain(t *rapid.T) {
	a := m.pick(t)
	reply := m.register(a.r)
	if reply.Error != nil || reply.AppID != a.id {
		if s := m.app(a.id).State; s == api.AppRunning || s == api.AppQueued {
			t.Fatalf("registered again: %+v", reply)
		}
		a.ended = true
		if reply.Error == nil {
			m.apps = append(m.apps, &modelApp{id: reply.AppID, r: a.r, stages: map[int][]api.Binding{}, next: 1})
			m.all[reply.AppID] = true
		}
	}
}

func (m *machine) bindings(t *rapid.T, a *modelApp) []api.Binding {
	var b []api.Binding
	for _, x := range m.directives[a.id].Executors {
		if n := rapid.IntRange(0, 3).Draw(t, "tasks"); n > 0 || rapid.Bool().Draw(t, "bound") {
			b = append(b, api.Binding{Executor: x.ID, Weight: float64(n), Tasks: n})
		}
	}
	return b
}

// StagesReady is a driver whose stages have become ready: one that is queued waits before its
// first.
func (m *machine) StagesReady(t *rapid.T) {
	a := m.pick(t)
	if m.directives[a.id].Queued != nil {
		t.Skip("it is queued")
	}
	signatures := []string{"read", "map", "sum", "left", "right", "join", "other"}
	var events []api.Event
	for range rapid.IntRange(1, 2).Draw(t, "stages") {
		ev := ready(m.clock(a), a.next, rapid.SampledFrom(signatures).Draw(t, "signature"), rapid.Int64Range(-1, 5000).Draw(t, "records"))
		ev.Stage.Tasks, ev.Stage.Bindings = 8, m.bindings(t, a)
		events = append(events, ev)
		a.next++
	}
	m.drive(a, events...)
}

func (m *machine) stage(t *rapid.T, a *modelApp) int {
	if len(a.stages) == 0 {
		t.Skip("no stage runs")
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(a.stages))).Draw(t, "stage")
}

func (m *machine) StageBound(t *rapid.T) {
	a := m.pick(t)
	s := m.stage(t, a)
	m.drive(a, api.Event{Type: api.EventStageBound, At: m.clock(a), Bound: &api.StageBound{StageKey: api.StageKey{Stage: s}, Bindings: m.bindings(t, a)}})
}

func (m *machine) StageDone(t *rapid.T) {
	a := m.pick(t)
	ev := done(m.clock(a), m.stage(t, a), 1)
	ev.Done.Failed = rapid.Bool().Draw(t, "failed")
	m.drive(a, ev)
}

func (m *machine) Executor(t *rapid.T) {
	a := m.pick(t)
	if len(m.directives[a.id].Executors) == 0 {
		t.Skip("no executor")
	}
	x := rapid.SampledFrom(m.directives[a.id].Executors).Draw(t, "executor")
	kind := rapid.SampledFrom([]api.EventType{api.EventExecutorUp, api.EventExecutorUp, api.EventExecutorGone}).Draw(t, "type")
	m.drive(a, api.Event{Type: kind, At: m.clock(a), Executor: &api.ExecutorEvent{ID: x.ID}})
}

// Attached is a driver of which the cluster manager starts an executor, on a host where a node attaches or not.
func (m *machine) Attached(t *rapid.T) {
	a := m.pick(t)
	if a.r.Launch.Attach == nil {
		t.Skip("nodes start its executors")
	}
	id := api.ExecutorID(fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "executor")))
	host := rapid.SampledFrom([]string{"host-d", "HOST-D", "host-e", ""}).Draw(t, "host")
	m.drive(a, api.Event{Type: api.EventExecutorUp, At: m.clock(a), Executor: &api.ExecutorEvent{ID: id, Host: host, Machine: bootOf(host), Cores: rapid.IntRange(0, 4).Draw(t, "cores")}})
}

// Moves has the node that attaches be on one machine or on another one, or say that it is where an executor tells nothing of.
func (m *machine) Moves(t *rapid.T) {
	m.boots["d"] = rapid.SampledFrom([]string{"boot-d", "boot-e", "boot-f"}).Draw(t, "machine")
	s := m.status("d")
	m.step(planner.Status{Status: &s})
}

func (m *machine) UnpacedOrEnd(t *rapid.T) {
	a := m.pick(t)
	kind := rapid.SampledFrom([]api.EventType{api.EventUnpaced, api.EventEnd}).Draw(t, "type")
	m.drive(a, api.Event{Type: kind, At: m.clock(a), Failed: rapid.Bool().Draw(t, "failed")})
}

func (m *machine) Status(t *rapid.T) {
	s := m.status(rapid.SampledFrom(m.nodes).Draw(t, "node"))
	s.Leaving = rapid.IntRange(0, 20).Draw(t, "leaving") == 0
	for _, a := range m.plans[s.Node].Apps {
		for _, x := range a.Executors {
			st := api.ExecutorStatus{App: a.ID, ID: x, State: api.ExecutorRunning, CPU: units.Work(rapid.Float64Range(0, 100).Draw(t, "cpu"))}
			if s.Attach {
				st.Unpaced = rapid.SampledFrom([]string{"", "", "gVisor"}).Draw(t, "unpaced")
				st.Ceiling = units.Cores(rapid.IntRange(0, 2).Draw(t, "ceiling"))
			}
			if rapid.IntRange(0, 9).Draw(t, "exits") == 0 {
				st.State = api.ExecutorExited
			}
			s.Executors = append(s.Executors, st)
		}
		for _, target := range a.Stages {
			s.Stages = append(s.Stages, api.StageStatus{App: a.ID, StageKey: target.StageKey, Executor: target.Executor,
				Progress: units.Fraction(rapid.Float64Range(0, 1).Draw(t, "progress"))})
		}
	}
	m.step(planner.Status{Status: &s})
}

func (m *machine) Drain(t *rapid.T) {
	verb := rapid.SampledFrom([]api.Verb{api.VerbDrain, api.VerbUndrain, api.VerbEmpty}).Draw(t, "verb")
	m.control(verb, api.ControlRequest{Node: rapid.SampledFrom(m.nodes).Draw(t, "node")})
}

func (m *machine) Time(t *rapid.T) {
	m.pass(time.Duration(rapid.SampledFrom([]int{1, 300, 2000, 12000, 70000}).Draw(t, "ms")) * time.Millisecond)
	lost := m.lost()
	for n, p := range m.plans {
		reserved := units.Cores(0)
		for _, a := range p.Apps {
			if a.Reserved {
				reserved += a.Least
			}
			if a.Reserved && (a.Least <= 0 || a.Band != api.BandPromised || len(a.Stages) > 0) {
				t.Fatalf("%s has a reservation: %+v", a.ID, a)
			}
		}
		if reserved > 4+1e-6 && !lost[n] {
			t.Fatalf("%v cores of %s are reserved", reserved, n)
		}
	}
}

func (m *machine) UserChanges(t *rapid.T) {
	a := m.pick(t)
	if rapid.IntRange(0, 3).Draw(t, "release") == 0 {
		m.control(api.VerbRelease, api.ControlRequest{App: a.id})
		return
	}
	m.control(api.VerbDeadline, api.ControlRequest{App: a.id, Deadline: units.Seconds(rapid.IntRange(0, 2000).Draw(t, "deadline"))})
}

// Configure has the operator change what may change while the planner runs, and more.
func (m *machine) Configure(t *rapid.T) {
	next := m.cfg
	next.Alpha = rapid.SampledFrom([]float64{0.8, 0.97, 1}).Draw(t, "alpha")
	next.MaxPool = rapid.IntRange(1, 4).Draw(t, "max pool")
	next.Placement = rapid.SampledFrom(placement.Orders()).Draw(t, "placement")
	next.Queue.Rule = rapid.SampledFrom(assign.Rules()).Draw(t, "rule")
	next.Queue.Admission = rapid.SampledFrom(assign.Admissions()).Draw(t, "admission")
	next.Queue.Late = rapid.SampledFrom(assign.Lates()).Draw(t, "late")
	next.PaceInfeasible = rapid.Bool().Draw(t, "pace infeasible")
	next.DriverLost = time.Duration(rapid.SampledFrom([]int{1, 10, 60}).Draw(t, "driver lost")) * time.Second
	reply := m.step(planner.Configure{To: 1, Config: next}).(api.ControlReply)
	if valid := next.Validate() == nil; valid != (reply.Error == nil) {
		t.Fatalf("%v: %v", next.Validate(), reply.Error)
	}
	if reply.Error == nil {
		m.cfg = next
	}
}

// Kill has a user end an application; one that is queued is over at once.
func (m *machine) Kill(t *rapid.T) {
	a := m.pick(t)
	before := m.app(a.id).State
	reply := m.control(api.VerbKill, api.ControlRequest{App: a.id, User: "somebody"})
	living := before == api.AppRunning || before == api.AppQueued
	if (reply.Error == nil) != living {
		t.Fatalf("killed while %s: %v", before, reply.Error)
	}
	if now := m.app(a.id).State; before == api.AppQueued && now != api.AppFailed || before == api.AppRunning && now != api.AppRunning {
		t.Fatalf("killed while %s, and is %s", before, now)
	}
	a.ended = a.ended || before == api.AppQueued
}

// Memory has a node give another amount of it.
func (m *machine) Memory(t *rapid.T) {
	n := rapid.SampledFrom(m.nodes).Draw(t, "node")
	m.memory[n] = units.Bytes(rapid.SampledFrom([]int{2, 8, 16, 16, 32}).Draw(t, "memory")) * units.GiB
	s := m.status(n)
	m.step(planner.Status{Status: &s})
}

func (m *machine) epochs() (map[string]uint64, map[api.AppID]uint64) {
	plans, directives := map[string]uint64{}, map[api.AppID]uint64{}
	for n, p := range m.plans {
		plans[n] = p.Epoch
	}
	for id, d := range m.directives {
		directives[id] = d.Epoch
	}
	return plans, directives
}

// Replay sends everything that a driver has said again. It is the driver's sign
// of life, so what waits for one may happen: two replays of one moment change
// nothing from the first to the second.
func (m *machine) Replay(t *rapid.T) {
	a := m.pick(t)
	if m.resend(a.id, a.r.Submission, a.sent...).Error != nil {
		a.ended = true
		return
	}
	plans, directives := m.epochs()
	m.resend(a.id, a.r.Submission, a.sent...)
	if p, d := m.epochs(); !maps.Equal(plans, p) || !maps.Equal(directives, d) {
		t.Fatalf("a replay changed %v %v to %v %v", plans, directives, p, d)
	}
}

// Hello is a node that reconnects: its Plan must be what it was sent last.
func (m *machine) Hello(t *rapid.T) {
	n := rapid.SampledFrom(m.nodes).Draw(t, "node")
	before := m.plans[n]
	reply := m.hello(n)
	if reply.Error != nil {
		t.Fatalf("hello: %v", reply.Error)
	}
	if before.Epoch == reply.Plan.Epoch && !cmp.Equal(before.Apps, reply.Plan.Apps, cmpopts.EquateEmpty(), ignoreTime) {
		t.Fatalf("one epoch, two plans: %s", cmp.Diff(before.Apps, reply.Plan.Apps))
	}
}

// ignoreTime leaves out what counts down, and whether it is said how executors are started:
// that is said until the node has heard it.
var ignoreTime = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Remaining" }, cmp.Ignore()),
	cmp.Comparer(func(a, b *api.Launch) bool { return a == nil || b == nil || cmp.Equal(*a, *b) }),
}

// lost says which nodes are lost, of all: what has changed of their Plans nobody tells them until they are back.
func (m *machine) lost() map[string]bool {
	lost := map[string]bool{}
	for _, n := range m.control(api.VerbNodes, api.ControlRequest{}).Nodes {
		lost[n.Node] = n.State == "lost"
	}
	return lost
}

// Restart is kill -9: the new engine says what the old one said, but to nodes that are lost.
func (m *machine) Restart(t *rapid.T) {
	for _, n := range m.control(api.VerbNodes, api.ControlRequest{}).Nodes {
		if m.hosts[n.Node] != nil {
			m.hello(n.Node) // Its word, and no restart, has executors be held that run free while it is away.
		}
	}
	old := m.e
	lost := m.lost()
	plans, directives := m.epochs()
	before := m.plans
	m.restart()
	for _, n := range slices.Sorted(maps.Keys(lost)) {
		m.hello(n)
	}
	p, d := m.epochs()
	maps.DeleteFunc(plans, func(n string, _ uint64) bool { return lost[n] })
	maps.DeleteFunc(p, func(n string, _ uint64) bool { return lost[n] })
	if !maps.Equal(plans, p) || !maps.Equal(directives, d) {
		t.Fatalf("a restart changed %v %v to %v %v", plans, directives, p, d)
	}
	for n, p := range m.plans {
		if !lost[n] && !cmp.Equal(before[n].Apps, p.Apps, cmpopts.EquateEmpty(), ignoreTime) {
			t.Fatalf("plan of %s: %s", n, cmp.Diff(before[n].Apps, p.Apps))
		}
	}
	now := m.control(api.VerbApps, api.ControlRequest{}).Apps
	m.e, old = old, m.e
	was := m.control(api.VerbApps, api.ControlRequest{}).Apps
	m.e = old
	// What nodes measure is saved from time to time only, and lost nodes are back: both are in the headline, and in the risk.
	if diff := cmp.Diff(was, now, cmpopts.IgnoreFields(api.AppSummary{}, "Predicted", "Headline", "Risk", "CoreSeconds", "MeanCores", "QuotaChanges")); diff != "" {
		t.Fatalf("applications: %s", diff)
	}
}

// Cut kills the planner between save and publish. What nobody has heard of comes true once: nodes
// greet the next one, drivers register and send again.
func (m *machine) Cut(t *rapid.T) {
	var again func()
	switch rapid.SampledFrom([]string{"register", "events", "control", "status", "tick"}).Draw(t, "what") {
	case "register":
		r := registration(rapid.SampledFrom([]string{"chain", "diamond", "new"}).Draw(t, "name"), rapid.SampledFrom([]units.Seconds{0, 60, 1000}).Draw(t, "deadline"))
		m.submissions++
		r.Submission = fmt.Sprint("submission ", m.submissions)
		r.Launch.Heap = units.Bytes(rapid.SampledFrom([]int{1, 4, 8}).Draw(t, "heap")) * units.GiB
		m.cut(planner.Register{To: 1, Request: r})
		again = func() {
			if reply := m.register(r); reply.Error == nil {
				m.apps = append(m.apps, &modelApp{id: reply.AppID, r: r, stages: map[int][]api.Binding{}, next: 1})
				m.all[reply.AppID] = true
			}
		}
	case "events":
		a := m.pick(t)
		if m.directives[a.id].Queued != nil {
			t.Skip("it is queued")
		}
		ev := ready(m.clock(a), a.next, rapid.SampledFrom([]string{"read", "map", "other"}).Draw(t, "signature"), 1000)
		ev.Stage.Tasks, ev.Stage.Bindings, ev.Seq = 8, m.bindings(t, a), m.events[a.id]+1
		a.next++
		m.cut(planner.DriverEvents{To: 1, Batch: api.Events{V: api.Version, AppID: a.id, Submission: a.r.Submission, Events: []api.Event{ev}}})
		again = func() { m.drive(a, ev) }
	case "control":
		a, verb := m.pick(t), rapid.SampledFrom([]api.Verb{api.VerbKill, api.VerbRelease, api.VerbDrain}).Draw(t, "verb")
		m.cut(planner.Control{To: 1, Verb: verb, Request: api.ControlRequest{V: api.Version, App: a.id, Node: m.nodes[0], User: "somebody"}})
	case "status":
		s := m.status(rapid.SampledFrom(m.nodes).Draw(t, "node"))
		s.Leaving = rapid.Bool().Draw(t, "leaving")
		m.cut(planner.Status{Status: &s})
	case "tick":
		m.now = m.now.Add(planner.TickInterval)
		m.cut(planner.Tick{})
	}
	for _, n := range m.nodes {
		if reply := m.hello(n); reply.Error != nil {
			t.Fatalf("hello: %v", reply.Error)
		}
	}
	for _, a := range m.apps {
		if a.ended {
			continue
		}
		if reply := m.register(a.r); reply.Error != nil || reply.AppID != a.id {
			if s := m.app(a.id).State; s == api.AppRunning || s == api.AppQueued {
				t.Fatalf("registered again: %+v", reply)
			}
			a.ended = true
			if reply.Error == nil {
				m.apps = append(m.apps, &modelApp{id: reply.AppID, r: a.r, stages: map[int][]api.Binding{}, next: 1})
				m.all[reply.AppID] = true
			}
		}
	}
	if again != nil {
		again()
	}
	running := map[string]api.AppID{}
	for _, s := range m.control(api.VerbApps, api.ControlRequest{}).Apps {
		if s.State != api.AppRunning && s.State != api.AppQueued {
			continue
		}
		if other, twice := running[s.Submission]; twice {
			t.Fatalf("%s and %s are of one submission", other, s.ID)
		}
		if running[s.Submission] = s.ID; !m.all[s.ID] {
			t.Fatalf("no driver knows %s", s.ID)
		}
	}
}

// check is what must hold after each step.
func (m *machine) check(t *rapid.T) {
	if id := m.e.Stale(); id != "" {
		t.Fatalf("what is before %s has changed, and the outlook of the step has it as it was", id)
	}
	listed := map[api.AppID]api.AppSummary{}
	for _, s := range m.control(api.VerbApps, api.ControlRequest{}).Apps {
		listed[s.ID] = s
	}
	for id := range m.all {
		if _, ok := listed[id]; !ok {
			t.Fatalf("application %s is lost", id)
		}
	}
	for _, s := range listed {
		if (s.State == api.AppQueued) != (s.Queue != nil) {
			t.Fatalf("%s is %s with the place %+v", s.ID, s.State, s.Queue)
		}
		if s.Queue != nil && (s.Queue.Place < 1 || s.Queue.Place > s.Queue.Of) {
			t.Fatalf("%s has the place %+v", s.ID, s.Queue)
		}
	}
	lost := m.lost()
	for _, a := range m.apps {
		s := listed[a.id]
		if most := m.cfg.MaxNodes; most > 0 && a.r.Launch.Attach == nil && len(m.places(a.id)) > most && len(m.heard("node draining"))+len(m.heard("node asleep")) == 0 {
			// A node that drained and is back keeps who had not left.
			t.Fatalf("%s is on %v, more than %d nodes", a.id, m.places(a.id), most)
		}
		if w, at := m.directives[a.id].Wanted, a.r.Launch.Attach; w > 0 && (at == nil || w < at.Least || at.Most > 0 && w > at.Most) {
			t.Fatalf("%s wants %d executors: %+v", a.id, w, at)
		}
		got := m.targetsBut(a.id, lost)
		want := map[string]bool{}
		// One whose targets are paused has them still: they leave no time, so that it has all cores.
		if s.State == api.AppRunning && (s.Pacing == "paced" || s.Pacing == "paused" || s.Pacing == "observed") {
			alive := map[api.ExecutorID]bool{}
			for _, x := range m.directives[a.id].Executors {
				alive[x.ID] = !lost[x.Node]
			}
			for _, x := range m.app(a.id).Executors {
				if a.r.Launch.Attach != nil && (x.Node == "" || x.Unpaced != "") {
					alive[x.ID] = false // It runs free.
				}
			}
			for stage, bindings := range a.stages {
				for _, b := range bindings {
					if b.Tasks > 0 && alive[b.Executor] {
						want[fmt.Sprintf("%d.0@%s", stage, b.Executor)] = true
					}
				}
			}
		}
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			t.Fatalf("%s (%s, %s) has targets %v, want %v", a.id, s.State, s.Pacing, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
		for key, target := range got {
			if target.InitCores < 0 || target.InitCores > 4 || target.Weight <= 0 || target.Rev == 0 {
				t.Fatalf("target %s: %+v", key, target)
			}
		}
		if s.State != api.AppRunning {
			for n, p := range m.plans {
				for _, pa := range p.Apps {
					if pa.ID == a.id && !lost[n] {
						t.Fatalf("%s is over and in the plan of %s", a.id, n)
					}
				}
			}
		}
	}
}

func TestAnythingMayHappen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := planner.Default()
		cfg.MaxNodes = rapid.IntRange(0, 2).Draw(t, "max nodes")
		cfg.Branches = rapid.SampledFrom(estimate.Branches()).Draw(t, "branches")
		cfg.Queue.Rule = rapid.SampledFrom(assign.Rules()).Draw(t, "rule")
		cfg.Queue.Admission = rapid.SampledFrom(assign.Admissions()).Draw(t, "admission")
		cfg.Queue.Late = rapid.SampledFrom(assign.Lates()).Draw(t, "late")
		cfg.Consolidate = rapid.SampledFrom(placement.Consolidates()).Draw(t, "consolidate")
		cfg.Queue.Order = rapid.SampledFrom(assign.Orders()).Draw(t, "order")
		w := newWorldOf(t, cfg, "a", "b", "c")
		w.hosts["d"] = []string{"host-d"}
		w.hello("d")
		w.put(chain("chain"))
		w.put(diamond("diamond"))
		m := &machine{world: w, nodes: []string{"a", "b", "c", "d"}, all: map[api.AppID]bool{}}
		t.Repeat(map[string]func(*rapid.T){
			"look":     func(*rapid.T) { m.look(&m.viewer) },
			"register": m.Register, "register again": m.RegisterAgain, "stages ready": m.StagesReady, "stage bound": m.StageBound,
			"stage done": m.StageDone, "executor": m.Executor, "attached": m.Attached, "moves": m.Moves, "unpaced or end": m.UnpacedOrEnd, "status": m.Status, "drain": m.Drain, "time": m.Time,
			"user": m.UserChanges, "kill": m.Kill, "memory": m.Memory, "configure": m.Configure, "replay": m.Replay, "hello": m.Hello, "restart": m.Restart, "cut": m.Cut, "": m.check,
		})
	})
}
