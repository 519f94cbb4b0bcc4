package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// testing is what the world needs of *testing.T, *testing.B and *rapid.T.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// world drives an engine as a loop, a store, drivers and nodes would, and checks
// after each step what must always be true of its actions.
type world struct {
	tb
	e          *planner.Engine
	turn       planner.Turn
	cfg        planner.Config
	now        units.Instant
	disk       map[string][]byte
	plans      map[string]api.Plan
	directives map[api.AppID]api.Directive
	said       []said
	seq        map[string]uint64
	memory     map[string]units.Bytes // What a node says that it gives, 16 GiB where it is not there.
	dividing   api.Division           // How nodes say that they divide.
	hosts      map[string][]string    // Of the nodes that attach.
	boots      map[string]string      // The machines that they say they are, boot-NODE unless it is here.
	events     map[api.AppID]uint64
	published  int
	standby    *ledger.Ledger
	done       *uint64 // Of all actions, nil for no test that an oracle has.
}

const epoch = units.Instant(1_800_000_000_000_000_000)

func newWorld(t tb, nodes ...string) *world {
	t.Helper()
	return newWorldOf(t, planner.Default(), nodes...)
}

func newWorldOf(t tb, cfg planner.Config, nodes ...string) *world {
	t.Helper()
	e, err := planner.New(cfg, nil)
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	w := &world{tb: t, e: e, cfg: cfg, now: epoch, disk: map[string][]byte{}, plans: map[string]api.Plan{},
		directives: map[api.AppID]api.Directive{}, seq: map[string]uint64{}, memory: map[string]units.Bytes{}, hosts: map[string][]string{}, boots: map[string]string{}, events: map[api.AppID]uint64{}}
	w.done = summed(t)
	w.newStandby(nil)
	for _, n := range nodes {
		w.hello(n)
	}
	return w
}

// step returns the body of the reply, nil without one.
func (w *world) step(event planner.Event) any {
	w.Helper()
	var body any
	actions := w.e.Step(w.now, event)
	w.sum(acts(actions)...)
	if fault := w.e.Inconsistent(); fault != "" {
		w.Fatalf("after %#v: %s", event, fault)
	}
	w.follow(actions)
	for i, action := range actions {
		if _, ok := action.(planner.Save); ok && i != 0 {
			w.Fatalf("the Save is action %d, want the first", i)
		}
	}
	w.turn.Take(actions)
	w.hear()
	actions, err := w.turn.End(w.save)
	if err != nil {
		w.Fatalf("save: %v", err)
	}
	for _, action := range actions {
		switch a := action.(type) {
		case planner.PublishPlan:
			w.takePlan(a.Plan)
		case planner.PublishDirective:
			if old := w.directives[a.App]; a.Directive.Epoch <= old.Epoch {
				w.Fatalf("directive of %s: epoch %d after %d", a.App, a.Directive.Epoch, old.Epoch)
			}
			w.directives[a.App] = a.Directive
		case planner.Answer:
			if body != nil {
				w.Fatalf("two replies to one request")
			}
			body = a.Work(w.e.View().Snapshot(), nil)
			w.sum(body)
		case planner.Reply:
			if body != nil {
				w.Fatalf("two replies to one request")
			}
			body = a.Body
		}
	}
	return body
}

// said is a fact that a log does not leave out.
type said struct {
	fact ledger.Fact
	ledger.Line
}

func (s said) String() string { return s.Text }

// hear takes what the step has recorded: no refusal of a decision, and what is to be said is on
// one line.
func (w *world) hear() {
	w.Helper()
	for _, c := range w.e.Changes() {
		if refused, ok := c.Fact.(ledger.DecisionRefused); ok {
			w.Fatalf("a decision is refused: %v", refused.Err)
		}
		line := c.Line()
		if line.Name == "" || strings.Contains(line.Text, "\n") || len(line.Fields)%2 != 0 {
			w.Fatalf("a fact that does not say itself on one line: %#v", c.Fact)
		}
		if line.Text != "" {
			w.said = append(w.said, said{c.Fact, line})
		}
	}
}

// follow has a standby record what the engine has recorded: the same has to come of it.
// What a reply has told is recorded after the step and stands in the changes of the next.
func (w *world) follow(actions []planner.Action) {
	w.Helper()
	l := w.standby
	if l == nil {
		return // A benchmark measures the engine alone.
	}
	for _, c := range w.e.Changes() {
		l.Begin(c.At)
		if err := l.Record(c.Fact); err != nil {
			w.Fatalf("standby: %v", err)
		}
	}
	l.Begin(w.now)
	effects := l.Close()
	if fault := l.Audit(); fault != "" {
		w.Fatalf("standby: %s", fault)
	}
	var pairs []api.Pair
	var plans []api.Plan
	var directives []ledger.Directed
	for _, action := range actions {
		switch a := action.(type) {
		case planner.Save:
			pairs = a.Changes
		case planner.PublishPlan:
			plans = append(plans, a.Plan)
		case planner.PublishDirective:
			directives = append(directives, ledger.Directed{App: a.App, Directive: a.Directive})
		}
	}
	if d := cmp.Diff(pairs, effects.Pairs); d != "" {
		w.Fatalf("the standby saves something else (-engine +standby):\n%s", d)
	}
	if d := cmp.Diff(plans, append(effects.Again, effects.Plans...)); d != "" {
		w.Fatalf("the standby has other plans (-engine +standby):\n%s", d)
	}
	if d := cmp.Diff(directives, effects.Directives); d != "" {
		w.Fatalf("the standby has other directives (-engine +standby):\n%s", d)
	}
}

// newStandby returns a ledger like that of an engine that starts on pairs.
func (w *world) newStandby(pairs []api.Pair) {
	l, err := ledger.New(planner.LedgerConfig(w.cfg), pairs)
	if err != nil {
		w.Fatalf("standby: %v", err)
	}
	w.standby = l
}

func (w *world) save(changes []api.Pair) error {
	for _, c := range changes {
		if c.Key == "" || strings.ContainsAny(c.Key, "\n\t\x00") {
			w.Fatalf("key %q", c.Key)
		}
		if c.Value == nil {
			delete(w.disk, c.Key)
		} else {
			w.disk[c.Key] = c.Value
		}
	}
	return nil
}

func (w *world) takePlan(p api.Plan) {
	w.Helper()
	if old := w.plans[p.Node]; p.Epoch < old.Epoch {
		w.Fatalf("plan of %s: epoch %d after %d", p.Node, p.Epoch, old.Epoch)
	}
	w.published++
	w.plans[p.Node] = p
}

// records is what a restarted planner finds.
func (w *world) records() []api.Pair {
	var records []api.Pair
	aside := 0
	for key, value := range w.disk {
		if strings.HasPrefix(key, "aside/") {
			aside++
		}
		for _, prefix := range planner.Prefixes() {
			if strings.HasPrefix(key, prefix) {
				records = append(records, api.Pair{Key: key, Value: value})
			}
		}
	}
	if len(records)+aside != len(w.disk) {
		w.Fatalf("%d of %d keys are under a prefix", len(records), len(w.disk))
	}
	return records
}

// restart is kill -9 and a new engine.
func (w *world) restart() {
	w.Helper()
	e, err := planner.New(w.cfg, w.records())
	if err != nil {
		w.Fatalf("restart: %v", err)
	}
	w.e = e
	w.newStandby(w.records())
}

// cut is kill -9 between save and publish: what the event has changed is on the disk, and nobody
// has heard of it.
func (w *world) cut(event planner.Event) {
	w.Helper()
	actions := w.e.Step(w.now, event)
	w.sum(acts(actions)...)
	w.turn.Take(actions)
	w.hear()
	if _, err := w.turn.End(w.save); err != nil {
		w.Fatalf("save: %v", err)
	}
	w.turn = planner.Turn{}
	w.restart()
}

func (w *world) status(node string) api.NodeStatus {
	w.seq[node]++
	memory, said := w.memory[node]
	if !said {
		memory = 16 * units.GiB
	}
	s := api.NodeStatus{V: api.Version, Node: node, Incarnation: node + "-1", Seq: w.seq[node], Epoch: w.plans[node].Epoch, Host: "127.0.0.1",
		Offered: 4, Total: 4, Memory: memory, Division: w.dividing, Attach: w.hosts[node] != nil, Hosts: w.hosts[node]}
	if s.Attach {
		if s.Machine = "boot-" + node; w.boots[node] != "" {
			s.Machine = w.boots[node]
		}
	}
	return s
}

func (w *world) hello(node string) api.HelloReply {
	w.Helper()
	return w.helloAs(w.status(node))
}

func (w *world) helloAs(s api.NodeStatus) api.HelloReply {
	w.Helper()
	r := w.step(planner.Hello{To: 1, Status: s}).(api.HelloReply)
	if r.Error == nil {
		w.plans[s.Node] = r.Plan
	}
	return r
}

func registration(name string, deadline units.Seconds) api.RegisterRequest {
	return api.RegisterRequest{V: api.Version, Submission: "submission of " + name, Name: name, Deadline: deadline,
		Launch: api.Launch{DriverURL: "spark://driver@127.0.0.1:1", SparkVersion: "4.2.0", Heap: units.GiB}}
}

func (w *world) register(r api.RegisterRequest) api.RegisterReply {
	w.Helper()
	reply := w.step(planner.Register{To: 1, Request: r}).(api.RegisterReply)
	if reply.Error == nil {
		w.directives[reply.AppID] = reply.Directive
	}
	return reply
}

// mustRegister registers and brings the executors up.
func (w *world) mustRegister(r api.RegisterRequest) api.RegisterReply {
	w.Helper()
	reply := w.register(r)
	if reply.Error != nil {
		w.Fatalf("register %s: %v", r.Name, reply.Error)
	}
	var up []api.Event
	for _, x := range reply.Directive.Executors {
		up = append(up, api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: x.ID}})
	}
	w.tell(reply.AppID, r.Submission, up...)
	return reply
}

// send numbers events and sends them.
func (w *world) send(id api.AppID, submission string, events ...api.Event) api.EventsReply {
	w.Helper()
	for i := range events {
		w.events[id]++
		events[i].Seq = w.events[id]
	}
	return w.resend(id, submission, events...)
}

func (w *world) resend(id api.AppID, submission string, events ...api.Event) api.EventsReply {
	w.Helper()
	r := w.step(planner.DriverEvents{To: 1, Batch: api.Events{V: api.Version, AppID: id, Submission: submission, Events: events}}).(api.EventsReply)
	if r.Error == nil && r.Directive.Epoch >= w.directives[id].Epoch {
		w.directives[id] = r.Directive
	}
	return r
}

// tell sends events that must be taken. A driver that ends exits at once, with its
// last word.
func (w *world) tell(id api.AppID, submission string, events ...api.Event) api.EventsReply {
	w.Helper()
	r := w.stopped(id, submission, events...)
	if n := len(events); n > 0 && events[n-1].Type == api.EventEnd {
		last := events[n-1]
		w.stopped(id, submission, api.Event{Type: api.EventExit, At: last.At, Clean: !last.Failed, Failed: last.Failed, Reason: last.Reason})
	}
	return r
}

// stopped is tell without the last word.
func (w *world) stopped(id api.AppID, submission string, events ...api.Event) api.EventsReply {
	w.Helper()
	r := w.send(id, submission, events...)
	if r.Error != nil {
		w.Fatalf("events: %v", r.Error)
	}
	if r.AckedSeq != w.events[id] {
		w.Fatalf("acknowledged %d, want %d", r.AckedSeq, w.events[id])
	}
	return r
}

func (w *world) control(verb api.Verb, r api.ControlRequest) api.ControlReply {
	w.Helper()
	r.V = api.Version
	return w.step(planner.Control{To: 1, Verb: verb, Request: r}).(api.ControlReply)
}

func (w *world) app(id api.AppID) api.AppDetail {
	w.Helper()
	r := w.control(api.VerbApp, api.ControlRequest{App: id})
	if r.Error != nil {
		w.Fatalf("app %s: %v", id, r.Error)
	}
	return *r.App
}

func (w *world) put(p api.Profile) {
	w.Helper()
	if r := w.control(api.VerbProfilePut, api.ControlRequest{Body: &p}); r.Error != nil {
		w.Fatalf("put profile: %v", r.Error)
	}
}

// pass lets time pass in ticks, with drivers and nodes that keep silent.
func (w *world) pass(d time.Duration) {
	w.Helper()
	for end := w.now.Add(d); w.now < end; {
		w.now = w.now.Add(min(planner.TickInterval, end.Sub(w.now)))
		w.step(planner.Tick{})
	}
}

// live lets time pass while the given drivers and all nodes keep in touch.
func (w *world) live(d time.Duration, apps ...api.AppID) {
	w.Helper()
	for end := w.now.Add(d); w.now < end; {
		w.pass(min(time.Second, end.Sub(w.now)))
		for _, id := range apps {
			w.resend(id, w.app(id).Submission)
		}
		for _, n := range w.control(api.VerbNodes, api.ControlRequest{}).Nodes {
			w.step(planner.Status{Status: new(w.status(n.Node))})
		}
	}
}

// to moves the clock to s of the deadline clock that started at the epoch.
func (w *world) to(s units.Seconds) { w.now = epoch.Add(s.Duration()) }

func (w *world) heard(name string) (found []said) {
	for _, o := range w.said {
		if o.Name == name {
			found = append(found, o)
		}
	}
	return found
}

// target finds a stage's target on an executor in all plans.
func (w *world) target(id api.AppID, stage int, executor api.ExecutorID) *api.StageTarget {
	for _, p := range w.plans {
		for _, a := range p.Apps {
			for i, t := range a.Stages {
				if a.ID == id && t.Stage == stage && t.Executor == executor {
					return &a.Stages[i]
				}
			}
		}
	}
	return nil
}

// targets are all targets of an application, as "stage.attempt@executor".
func (w *world) targets(id api.AppID) map[string]api.StageTarget {
	return w.targetsBut(id, nil)
}

// targetsBut are the targets of an application in the Plans of all nodes but those.
func (w *world) targetsBut(id api.AppID, but map[string]bool) map[string]api.StageTarget {
	found := map[string]api.StageTarget{}
	for n, p := range w.plans {
		for _, a := range p.Apps {
			if but[n] {
				continue
			}
			if a.ID == id {
				for _, t := range a.Stages {
					found[fmt.Sprintf("%d.%d@%s", t.Stage, t.Attempt, t.Executor)] = t
				}
			}
		}
	}
	return found
}

func ready(at units.Seconds, stage int, signature string, records int64, executors ...api.ExecutorID) api.Event {
	s := &api.StageReady{StageKey: api.StageKey{Stage: stage}, Name: signature, Signature: signature, Tasks: 4 * len(executors), Records: records}
	for _, id := range executors {
		s.Bindings = append(s.Bindings, api.Binding{Executor: id, Weight: 4, Tasks: 4})
	}
	return api.Event{Type: api.EventStageReady, At: at, Stage: s}
}

func done(at units.Seconds, stage int, first units.Seconds) api.Event {
	return api.Event{Type: api.EventStageDone, At: at, Done: &api.StageDone{StageKey: api.StageKey{Stage: stage}, Tasks: 8,
		RecordsRead: 1000, TaskCPU: 10, FirstLaunch: first, LastFinish: at, LongestTask: 1}}
}

func end(at units.Seconds) api.Event { return api.Event{Type: api.EventEnd, At: at} }

// chain and diamond are profiles of three stages, one after the other or two side by side.
var chain, diamond = ledgertest.Chain, ledgertest.Diamond

func near(got, want, within float64) bool { return got >= want-within && got <= want+within }

var _ tb = (*testing.T)(nil)
