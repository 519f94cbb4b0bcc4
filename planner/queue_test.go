package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// large is a registration with executors of which a node of 16 GiB holds one.
func large(name string) api.RegisterRequest {
	r := registration(name, 0)
	r.Submission = "submission of " + name
	r.Launch.Heap, r.Launch.OffHeapFixed = 10*units.GiB, true
	return r
}

// says has a node tell where the first executors of applications stand.
func (w *world) says(node string, state api.ExecutorState, apps ...api.AppID) {
	w.Helper()
	s := w.status(node)
	for _, id := range apps {
		if state == api.ExecutorExited || len(w.planned(node, id)) > 0 {
			s.Executors = append(s.Executors, api.ExecutorStatus{App: id, ID: "1", State: state})
		}
	}
	w.step(planner.Status{Status: &s})
}

// What does not fit waits: it is told its place, hears when it starts, through a kill -9 of
// the planner.
func TestAnApplicationWaitsForMemory(t *testing.T) {
	w := newWorld(t, "a")
	first, second := large("first"), large("second")
	one := w.mustRegister(first).AppID
	w.tell(one, first.Submission, up("1"))
	reply := w.mustRegister(second)
	two, q := reply.AppID, reply.Directive.Queued
	if q == nil || q.Place != 1 || q.Of != 1 || reply.Executors != 0 || reply.Slots == 0 || !strings.Contains(reply.Reason, "queued at place 1 of 1") {
		t.Fatalf("%+v, %+v", reply, q)
	}
	if s := w.app(two); s.State != api.AppQueued || s.Queue == nil || s.Queue.Place != 1 || len(w.planned("a", two)) != 0 {
		t.Fatalf("%+v", s)
	}
	// It is not silent as long as it speaks, and nothing of the first minute counts.
	for range 40 {
		w.pass(2 * time.Second)
		w.tell(one, first.Submission)
		w.tell(two, second.Submission)
		w.says("a", api.ExecutorRunning, one)
	}
	if w.app(two).State != api.AppQueued {
		t.Fatalf("%+v", w.app(two))
	}
	w.restart()
	w.hello("a")
	if again := w.mustRegister(second); again.AppID != two || again.Directive.Queued == nil {
		t.Fatalf("after a restart: %+v", again)
	}
	w.tell(one, first.Submission, end(90))
	w.says("a", api.ExecutorExited, one)
	w.pass(time.Second)
	d := w.directives[two]
	if d.Queued != nil || len(d.Executors) != 1 || !strings.Contains(d.Notice, "in the queue") || w.app(two).State != api.AppRunning || len(w.planned("a", two)) != 1 {
		t.Fatalf("started: %+v", d)
	}
	if again := w.mustRegister(second); again.AppID != two || again.Executors != 1 {
		t.Errorf("registered again: %+v", again)
	}
}

// One that waits is gone when its driver is.
func TestAQueuedApplicationEndsWithItsDriver(t *testing.T) {
	w := newWorld(t, "a")
	first := large("first")
	one := w.mustRegister(first).AppID
	two := w.mustRegister(large("second")).AppID
	for range 31 {
		if s := w.app(two); s.State != api.AppQueued {
			t.Fatalf("%s after %v", s.State, s.Duration)
		}
		w.pass(2 * time.Second)
		w.tell(one, first.Submission)
		w.says("a", api.ExecutorRunning, one)
	}
	if s := w.app(two); s.State != api.AppFailed || s.EndedBy != api.EndedBySilence {
		t.Errorf("%+v", s)
	}
	three := w.mustRegister(large("third")).AppID
	w.control(api.VerbExit, api.ControlRequest{Submission: "submission of third", ExitCode: 143})
	w.pass(time.Second)
	if s := w.app(three); s.State != api.AppFailed || s.ExitCode != 143 {
		t.Errorf("%+v", s)
	}
}

// That nothing of an application's executors moves counts from when these were asked for: one that starts
// after a long silence of its driver is not failed before its executor could have come.
func TestAnApplicationThatStartsWhileItsDriverIsSilent(t *testing.T) {
	w := newWorld(t, "a")
	first := large("first")
	one := w.mustRegister(first).AppID
	two := w.mustRegister(large("second")).AppID
	for range 55 {
		w.pass(time.Second)
		w.tell(one, first.Submission)
		w.says("a", api.ExecutorRunning, one)
	}
	w.tell(one, first.Submission, end(56))
	w.says("a", api.ExecutorExited, one)
	began := w.now
	for w.app(two).State != api.AppFailed {
		w.pass(time.Second)
		w.says("a", api.ExecutorStarting, two)
		if w.now > began.Add(5*time.Minute) {
			t.Fatal("it holds its executor for ever")
		}
	}
	if waited := w.now.Sub(began); waited < time.Minute || len(w.planned("a", two)) != 0 {
		t.Errorf("it has failed after %v, and has %v", waited, w.planned("a", two))
	}
}

// A killed one that waits is out at once; its driver is not taken again.
func TestKillOneThatWaits(t *testing.T) {
	w := newWorld(t, "a")
	w.mustRegister(large("first"))
	second := large("second")
	two := w.mustRegister(second).AppID
	three := w.mustRegister(large("third")).AppID
	if m := w.control(api.VerbKill, api.ControlRequest{App: two, User: "alice"}); m.Error != nil || !strings.Contains(m.Message, "out of the queue") {
		t.Fatalf("%+v", m)
	}
	w.pass(500 * time.Millisecond)
	if q := w.directives[three].Queued; q == nil || q.Place != 1 {
		t.Errorf("the one behind it has %+v", q)
	}
	if r := w.send(two, second.Submission); r.Error == nil || r.Error.Kind != api.KindNotFound {
		t.Errorf("its driver hears %+v", r)
	}
	if r := w.register(second); r.Error == nil || r.Error.Kind != api.KindConflict || !strings.Contains(r.Error.Message, "killed by alice") {
		t.Errorf("its driver registers again: %+v", r)
	}
	if r := w.control(api.VerbKill, api.ControlRequest{App: two}); r.Error == nil || r.Error.Kind != api.KindConflict {
		t.Errorf("killed twice: %+v", r)
	}
	if r := w.control(api.VerbRelease, api.ControlRequest{App: three}); r.Error == nil || r.Error.Kind != api.KindConflict {
		t.Errorf("released while it waits: %+v", r)
	}
}

// The driver of one that runs ends its context, and the reason is its user's; where it does
// not its executors are stopped all the same, and it is not taken again.
func TestKillOneThatRuns(t *testing.T) {
	for _, obeys := range []bool{true, false} {
		w := newWorld(t, "a")
		r := large("p")
		id := w.mustRegister(r).AppID
		w.tell(id, r.Submission, up("1"))
		w.control(api.VerbKill, api.ControlRequest{App: id, User: "alice"})
		if d := w.directives[id]; d.Dead != "killed by alice" || len(w.planned("a", id)) != 1 {
			t.Fatalf("%+v", d)
		}
		if obeys {
			e := end(3)
			w.tell(id, r.Submission, e)
		} else {
			for range 6 {
				w.pass(2 * time.Second)
				w.says("a", api.ExecutorRunning, id)
			}
			if len(w.planned("a", id)) != 0 {
				t.Error("its executors are in the plan after the grace period")
			}
			if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindConflict {
				t.Errorf("registered again: %+v", reply)
			}
		}
		w.pass(15 * time.Second)
		if s := w.app(id); s.State != api.AppFailed || !strings.Contains(strings.Join(s.Notices, "\n"), "killed by alice") || (s.EndedBy == api.EndedByKill) == obeys {
			t.Errorf("obeys %v: %+v", obeys, s)
		}
	}
}

// Who asks not to wait is refused with what would fit; who never fits is, too.
func TestNoPlaceInTheQueue(t *testing.T) {
	w := newWorld(t, "a")
	w.mustRegister(large("first"))
	r := large("second")
	r.NoWait = true
	if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindConflict || !strings.Contains(reply.Error.Message, "would fit") {
		t.Errorf("%+v", reply.Error)
	}
	r = large("third")
	r.RequireFeasible, r.Deadline = true, 100
	if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindInfeasible {
		t.Errorf("%+v", reply.Error)
	}
	r = large("fourth")
	r.Launch.Heap = 100 * units.GiB
	if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindInvalid || !strings.Contains(reply.Error.Message, "would fit") {
		t.Errorf("%+v", reply.Error)
	}
}

// A node that gives less than is promised says whom that hits; nobody loses an executor.
func TestANodeThatShrinks(t *testing.T) {
	w := newWorld(t, "a")
	first, second := large("first"), large("second")
	first.Launch.Heap, second.Launch.Heap = 5*units.GiB, 6*units.GiB
	first.Deadline = 60
	one, two := w.mustRegister(first).AppID, w.mustRegister(second).AppID
	s := w.status("a")
	s.Memory = 8 * units.GiB
	for _, id := range []api.AppID{one, two} {
		s.Executors = append(s.Executors, api.ExecutorStatus{App: id, ID: "1", State: api.ExecutorRunning})
	}
	w.step(planner.Status{Status: &s})
	said := w.heard("node shrunk")
	if len(said) != 1 || !slices.Equal(said[0].fact.(ledger.NodeShrunk).Hit, []api.AppID{two}) {
		t.Errorf("said %v", said)
	}
	if len(w.planned("a", one)) != 1 || len(w.planned("a", two)) != 1 || !strings.Contains(w.directives[two].Notice, "lost executors there are not replaced") || w.directives[one].Notice != "" {
		t.Errorf("%+v, %+v", w.directives[one], w.directives[two])
	}
	w.tell(two, second.Submission, gone(3, "1"))
	if len(w.planned("a", two)) != 0 {
		t.Error("an executor that its node has no memory for is replaced")
	}
	w.tell(one, first.Submission, gone(3, "1"))
	if len(w.planned("a", one)) != 1 {
		t.Error("one that is not hit does not get its executor again")
	}
}

// Who waits goes on to wait where no node would hold it now, and starts when one does again.
func TestOneThatWaitsFitsNoNodeForAWhile(t *testing.T) {
	w := newWorld(t, "a")
	first, second := large("first"), large("second")
	one, two := w.mustRegister(first).AppID, w.mustRegister(second).AppID
	minute := func() {
		for range 30 {
			w.pass(2 * time.Second)
			w.tell(one, first.Submission)
			w.tell(two, second.Submission)
			w.says("a", api.ExecutorRunning, one)
		}
	}
	w.memory["a"] = 8 * units.GiB
	minute()
	if s := w.app(two); s.State != api.AppQueued || !strings.Contains(s.Reason, "8 GiB") {
		t.Errorf("%+v", s)
	}
	w.memory["a"] = 40 * units.GiB
	minute()
	if s := w.app(two); s.State != api.AppRunning || len(w.planned("a", two)) != 1 {
		t.Errorf("%+v", s)
	}
	if said := w.heard("decision refused"); len(said) > 0 {
		t.Errorf("said %v", said)
	}
}

// One that waits hears of its start by a planner that has lost its state, or by another one: its
// epochs are lower than those that its driver goes by.
func TestOneThatWaitsGoesByItsNewPlannersEpochs(t *testing.T) {
	w := named(t, "a")
	w.live(6 * time.Second)
	w.mustRegister(large("first"))
	waits := large("second")
	waits.AppID, waits.Planner = elsewhere(waits, 1), "two"
	reply := w.register(waits)
	if reply.Error != nil || reply.AppID != waits.AppID || reply.Directive.Queued == nil || !reply.Recall {
		t.Fatalf("%+v", reply)
	}
	waits.Planner = "one"
	if again := w.register(waits); again.Error != nil || again.Recall {
		t.Errorf("by this planner's epochs: %+v", again)
	}
}
