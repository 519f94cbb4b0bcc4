package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

func (w *world) state(node string) string {
	w.Helper()
	for _, n := range w.control(api.VerbNodes, api.ControlRequest{}).Nodes {
		if n.Node == node {
			return n.State
		}
	}
	return ""
}

// counted are the executors of an application that the planner counts on node, whatever its Plan says.
func (w *world) counted(node string, id api.AppID) []api.ExecutorID {
	var ids []api.ExecutorID
	if a := w.e.View().App(id); a != nil {
		for _, x := range a.Alive() {
			if x.Node == node {
				ids = append(ids, x.ID)
			}
		}
	}
	return ids
}

// planned are the executors that node's Plan names of an application, nil where it leaves it out.
func (w *world) planned(node string, id api.AppID) []api.ExecutorID {
	for _, a := range w.plans[node].Apps {
		if a.ID == id {
			return a.Executors
		}
	}
	return nil
}

func up(id api.ExecutorID) api.Event {
	return api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: id}}
}

func gone(at units.Seconds, id api.ExecutorID) api.Event {
	return api.Event{Type: api.EventExecutorGone, At: at, Executor: &api.ExecutorEvent{ID: id}}
}

func (w *world) drain(node string) api.ControlReply {
	w.Helper()
	r := w.control(api.VerbDrain, api.ControlRequest{Node: node})
	if r.Error != nil {
		w.Fatalf("drain: %v", r.Error)
	}
	return r
}

func TestADrainedNodeIsLeftAndGetsNothingNew(t *testing.T) {
	w := newWorld(t, "a", "b")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	if m := w.drain("b").Message; strings.Contains(m, "stay") {
		t.Errorf("message %q", m)
	}
	x := w.directives[id].Executors
	if len(x) != 2 || x[0].Leaving || !x[1].Leaving || x[1].Node != "b" {
		t.Fatalf("directive %+v, want executor 2 to leave", x)
	}
	if got := w.planned("b", id); len(got) != 1 {
		t.Errorf("plan of b %v: the executor has to end its tasks", got)
	}
	s := w.status("b")
	s.Executors = []api.ExecutorStatus{{App: id, ID: "2", State: api.ExecutorRunning}}
	w.step(planner.Status{Status: &s})
	if got := w.state("b"); got != "draining" {
		t.Errorf("b is %s", got)
	}
	other := w.mustRegister(registration("q", 0)).AppID
	if len(w.planned("b", other)) != 0 || len(w.planned("a", other)) != 1 {
		t.Errorf("a new application got %v on b", w.planned("b", other))
	}
	w.restart()
	w.hello("a")
	w.hello("b")
	w.tell(id, r.Submission, gone(5, "2"))
	if len(w.planned("b", id)) != 0 || len(w.planned("a", id)) != 1 || len(w.heard("executor replaced")) != 0 || len(w.heard("executor left")) != 1 {
		t.Errorf("on a %v, on b %v: one that was asked to leave is not replaced", w.planned("a", id), w.planned("b", id))
	}
	w.step(planner.Status{Status: new(w.status("b"))})
	if got := w.state("b"); got != "drained" {
		t.Errorf("b is %s", got)
	}
	if r := w.control(api.VerbUndrain, api.ControlRequest{Node: "b"}); r.Error != nil {
		t.Fatal(r.Error)
	}
	w.tell(id, r.Submission)
	if got := w.planned("b", id); !slices.Equal(got, []api.ExecutorID{"3"}) || w.state("b") != "ready" {
		t.Errorf("plan of b %v, %s: want a new executor", got, w.state("b"))
	}
}

func TestAnApplicationsLastExecutorsStayOnADrainingNode(t *testing.T) {
	w, id, sub := paced(t)
	if m := w.drain("a").Message; !strings.Contains(m, "1 of its applications") {
		t.Errorf("message %q", m)
	}
	w.live(time.Second, id)
	if w.directives[id].Executors[0].Leaving {
		t.Error("the last executor was asked to leave")
	}
	if r := w.register(registration("q", 0)); r.Error == nil || r.Error.Kind != api.KindTransient || !strings.Contains(r.Error.Message, "drained") {
		t.Errorf("with every node draining: %+v", r)
	}
	w.hello("b")
	w.tell(id, sub)
	if len(w.planned("b", id)) != 1 || w.directives[id].Executors[0].Leaving {
		t.Fatalf("on b %v, directive %+v", w.planned("b", id), w.directives[id])
	}
	w.tell(id, sub, up("2"))
	w.live(time.Second, id)
	if !w.directives[id].Executors[0].Leaving {
		t.Error("there is another one now: want the first to leave")
	}
	// It does not go by itself and nothing is bound to it any more.
	w.tell(id, sub, api.Event{Type: api.EventStageBound, At: 5, Bound: &api.StageBound{StageKey: api.StageKey{Stage: 1}, Bindings: []api.Binding{{Executor: "2", Weight: 4, Tasks: 4}}}})
	w.live(58*time.Second, id)
	if len(w.planned("a", id)) != 1 {
		t.Fatal("it was stopped too early")
	}
	w.live(5*time.Second, id)
	if len(w.planned("a", id)) != 0 {
		t.Error("it was not stopped")
	}
}

// An executor that was asked to leave ends its tasks, though no stage is bound to it any more:
// its node tells of them. It is stopped a minute after the last one.
func TestOneThatLeavesEndsItsTasks(t *testing.T) {
	w, id, sub := paced(t)
	w.hello("b")
	w.tell(id, sub)
	w.tell(id, sub, up("2"))
	w.drain("a")
	w.tell(id, sub, api.Event{Type: api.EventStageBound, At: 5, Bound: &api.StageBound{StageKey: api.StageKey{Stage: 1}, Bindings: []api.Binding{{Executor: "2", Weight: 4, Tasks: 4}}}})
	for range 180 {
		w.pass(time.Second)
		s := w.status("a")
		s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{Stage: 1}, Executor: "1"}}
		w.step(planner.Status{Status: &s})
		w.step(planner.Status{Status: new(w.status("b"))})
		w.resend(id, sub)
	}
	if len(w.planned("a", id)) != 1 {
		t.Fatal("it was stopped while it had tasks")
	}
	w.live(70*time.Second, id)
	if len(w.planned("a", id)) != 0 {
		t.Error("it was not stopped after its last task")
	}
}

// An executor that was asked to leave may have tasks while its node is away: it is stopped a
// minute after its node is back and tells of none. Its driver's silence does not fail what it
// may work for.
func TestOneThatLeavesIsWaitedForWhileItsNodeIsAway(t *testing.T) {
	w := newWorld(t, "a", "b")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	w.drain("a")
	others := func(d time.Duration) {
		for range d / time.Second {
			w.pass(time.Second)
			w.step(planner.Status{Status: new(w.status("b"))})
		}
	}
	others(2 * time.Minute)
	s := w.status("b")
	s.Executors = []api.ExecutorStatus{{App: id, ID: "2", State: api.ExecutorExited, Exit: "killed by signal 9", ExitCode: 137}}
	w.step(planner.Status{Status: &s})
	others(2 * time.Minute)
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"1"}) || len(w.heard("executor left")) != 0 || w.app(id).State != api.AppRunning {
		t.Fatalf("%s, on a, which is away, %v", w.app(id).State, got)
	}
	s = w.status("a")
	s.Executors = []api.ExecutorStatus{{App: id, ID: "1", State: api.ExecutorRunning}}
	w.helloAs(s)
	w.live(55*time.Second, id)
	if len(w.planned("a", id)) != 1 {
		t.Fatal("it was stopped too early")
	}
	w.live(10*time.Second, id)
	if len(w.planned("a", id)) != 0 {
		t.Error("it was not stopped, though its node is back and tells of no tasks")
	}
}

// A driver that is not heard may have seen what its node, which is lost, was last heard to start.
func TestOneThatALostNodeStartsIsNotStoppedByADrain(t *testing.T) {
	w := newWorld(t, "a", "b")
	r := registration("p", 0)
	id := w.register(r).AppID
	w.tell(id, r.Submission, up("1"))
	for range 10 {
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status("a"))})
	}
	w.drain("b")
	if w.state("b") != "lost" || !slices.Equal(w.planned("b", id), []api.ExecutorID{"2"}) {
		t.Fatalf("b is %s, and is to run %v", w.state("b"), w.planned("b", id))
	}
	w.tell(id, r.Submission)
	if got := w.counted("b", id); len(got) != 0 || len(w.heard("executor replaced")) != 0 {
		t.Errorf("its driver has not seen it, and on b counts %v", got)
	}
}

func TestARunningApplicationGrowsOntoANodeThatJoins(t *testing.T) {
	w, id, sub := paced(t)
	w.hello("b")
	if len(w.planned("b", id)) != 0 {
		t.Error("executors before the driver spoke")
	}
	w.tell(id, sub)
	if got := w.planned("b", id); len(got) != 1 || len(w.heard("application grown")) != 1 {
		t.Fatalf("plan of b %v", got)
	}
	w.tell(id, sub, up("2"), api.Event{Type: api.EventStageBound, At: 5, Bound: &api.StageBound{StageKey: api.StageKey{Stage: 1},
		Bindings: []api.Binding{{Executor: "1", Weight: 2, Tasks: 2}, {Executor: "2", Weight: 2, Tasks: 2}}}})
	if len(w.targets(id)) != 2 {
		t.Errorf("targets %v", w.targets(id))
	}
	w.tell(id, sub)
	if got := w.planned("b", id); len(got) != 1 {
		t.Errorf("it grew twice: %v", got)
	}
}

// An application that came when others had most of a node's memory gets the executors that fill the node
// with one stage when they have gone, and no more.
func TestAStageFillsANodeWhoseMemoryComesFree(t *testing.T) {
	w := newWorld(t, "a")
	other := registration("q", 0)
	other.Launch.Heap = 11 * units.GiB
	first := w.mustRegister(other).AppID
	r := registration("p", 0)
	r.Launch.Cores = 1
	reply := w.mustRegister(r)
	had := reply.Executors
	if had == 0 || had >= 4 || reply.Slots != had {
		t.Fatalf("%d executors beside the other, %d slots", had, reply.Slots)
	}
	w.tell(reply.AppID, r.Submission, up("1"))
	if got := w.planned("a", reply.AppID); len(got) != had {
		t.Fatalf("executors %v, and nothing is free", got)
	}
	w.tell(first, other.Submission, api.Event{Type: api.EventEnd, At: 6})
	s := w.status("a")
	s.Executors = []api.ExecutorStatus{exited(first, "1", "ended")}
	w.step(planner.Status{Status: &s})
	for range 2 {
		w.tell(reply.AppID, r.Submission)
		if got := w.planned("a", reply.AppID); len(got) != 4 {
			t.Fatalf("executors %v, want the four that fill the node", got)
		}
	}
}

func TestANodeWithoutRoomGetsNone(t *testing.T) {
	w, id, sub := paced(t)
	s := w.status("b")
	s.Memory = units.GiB
	w.helloAs(s)
	w.tell(id, sub)
	if got := w.planned("b", id); len(got) != 0 {
		t.Errorf("plan of b %v", got)
	}
}

// A node that is lost with its executors: those of them that the driver has seen
// are replaced on its word, those that had yet to start without.
func TestALostNodesExecutorsAreReplacedElsewhere(t *testing.T) {
	w := newWorld(t, "a", "b")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	w.tell(id, r.Submission, gone(1, "2"))
	if got := w.planned("b", id); !slices.Equal(got, []api.ExecutorID{"3"}) {
		t.Fatalf("plan of b %v: nobody knows yet that b is lost", got)
	}
	for range 11 {
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status("a"))})
		w.send(id, r.Submission)
	}
	if w.state("b") != "lost" || len(w.planned("a", id)) != 2 || len(w.counted("b", id)) != 0 {
		t.Errorf("b is %s, on a %v, on b %v", w.state("b"), w.planned("a", id), w.counted("b", id))
	}
	w.hello("b")
	w.tell(id, r.Submission)
	if len(w.planned("b", id)) != 1 {
		t.Errorf("b is back with %v", w.planned("b", id))
	}
}

func TestANodeOfAnotherProtocolVersionIsRefusedInOneLine(t *testing.T) {
	w := newWorld(t)
	s := w.status("a")
	s.V = 2
	r := w.helloAs(s)
	if r.Error == nil || r.Error.Kind != api.KindVersion || !strings.Contains(r.Error.Message, "version 2") || strings.Contains(r.Error.Message, "\n") {
		t.Errorf("hello: %+v", r.Error)
	}
	w.step(planner.Status{Status: &s})
	if len(w.control(api.VerbNodes, api.ControlRequest{}).Nodes) != 0 || len(w.heard("message refused")) != 1 {
		t.Error("a status of another version was taken")
	}
	for _, verb := range []api.Verb{api.VerbDrain, api.VerbUndrain} {
		if r := w.control(verb, api.ControlRequest{Node: "x"}); r.Error == nil || r.Error.Kind != api.KindNotFound {
			t.Errorf("%s: %+v", verb, r)
		}
	}
}

// A clock that jumps back counts as standing still, one that jumps ahead as a
// planner that was stopped: nobody is accused, nothing is lost.
func TestAJumpOfTheClockAccusesNobody(t *testing.T) {
	w, id, sub := paced(t)
	w.step(planner.Tick{})
	for _, jump := range []time.Duration{-time.Hour, 2 * time.Hour, -30 * time.Minute} {
		w.now = w.now.Add(jump)
		w.step(planner.Tick{})
		w.tell(id, sub)
		w.step(planner.Status{Status: new(w.status("a"))})
		if d := w.app(id); d.State != api.AppRunning || len(w.heard("node lost")) != 0 || len(w.planned("a", id)) != 1 {
			t.Fatalf("after %v: %s, lost %v, executors %v", jump, d.State, w.heard("node lost"), w.planned("a", id))
		}
	}
}

// One of two executors gets half of what it asks for: the planner asks the
// driver for new shares, once, and the driver's answer moves the targets.
func TestTheTailOfASlowExecutorIsHandedOver(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.put(chain("p"))
	r := registration("p", 100)
	id := w.mustRegister(r).AppID
	w.to(2)
	ev := ready(2, 1, "read", 3000, "1", "2")
	ev.Stage.Tasks = 40
	for i := range ev.Stage.Bindings {
		ev.Stage.Bindings[i] = api.Binding{Executor: ev.Stage.Bindings[i].Executor, Weight: 20, Tasks: 20}
	}
	w.tell(id, r.Submission, ev)
	report := func(node string, x api.ExecutorID, progress units.Fraction, cpu units.Work, request, used units.Cores) {
		s := w.status(node)
		s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{Stage: 1}, Executor: x, CPU: cpu, Progress: progress,
			Samples: []api.StageSample{{Request: request, Grant: request, Used: used, Running: 2}}}}
		w.step(planner.Status{Status: &s})
	}
	for k := range 12 {
		w.pass(time.Second)
		report("a", "1", units.Fraction(k+1)/40, units.Work(k+1)*1.0, 1, 1)
		report("b", "2", units.Fraction(k+1)/80, units.Work(k+1)*0.5, 2, 0.5)
		w.send(id, r.Submission)
	}
	shares := w.directives[id].Shares
	if len(shares) != 1 || len(shares[0].Shares) != 2 {
		t.Fatalf("shares %+v", shares)
	}
	one, two := shares[0].Shares[0].Weight, shares[0].Shares[1].Weight
	if one <= 21 || two >= 19 || !near(one+two, 40, 1e-6) {
		t.Errorf("shares %v and %v of 40", one, two)
	}
	if n := len(w.heard("tail handed over")); n == 0 || n > 2 {
		t.Errorf("handed over %d times", n)
	}
	before := *w.target(id, 1, "1")
	w.tell(id, r.Submission, api.Event{Type: api.EventStageBound, At: 14, Bound: &api.StageBound{StageKey: api.StageKey{Stage: 1},
		Bindings: []api.Binding{{Executor: "1", Weight: one, Tasks: 30}, {Executor: "2", Weight: two, Tasks: 10}}}})
	if after := w.target(id, 1, "1"); after.Weight != one || after.Rev <= before.Rev {
		t.Errorf("target %+v after %+v", after, before)
	}
	w.tell(id, r.Submission, done(20, 1, 2))
	w.control(api.VerbRelease, api.ControlRequest{App: id})
	if len(w.directives[id].Shares) != 0 {
		t.Error("the shares of an ended stage are still there")
	}
}

// An executor that starts leaves a draining node at once. Should its driver get it and lose it again
// in the meantime, it is gone, though its node's last word is that it starts.
func TestOneThatItsDriverLosesAfterItLeftIsGone(t *testing.T) {
	w := newWorld(t, "a", "b")
	r := registration("p", 0)
	r.Executors = 2
	id := w.register(r).AppID
	for _, x := range []struct {
		node string
		id   api.ExecutorID
	}{{"a", "1"}, {"b", "2"}} {
		s := w.status(x.node)
		s.Executors = []api.ExecutorStatus{{App: id, ID: x.id, State: api.ExecutorStarting, Quota: api.Unknown}}
		w.step(planner.Status{Status: &s})
	}
	w.tell(id, r.Submission, up("2"))
	w.drain("a")
	if got := w.planned("a", id); len(got) > 0 {
		t.Fatalf("the draining node is to run %v", got)
	}
	w.tell(id, r.Submission, up("1"), gone(2, "1"))
	if got := w.planned("a", id); len(got) > 0 {
		t.Errorf("after its driver has lost it the node is to run %v", got)
	}
}
