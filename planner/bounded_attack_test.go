package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// submitsWithin is a user who may submit, within bounds.
func submitsWithin(name string, bounds api.Bounds) api.Principal {
	return api.Principal{Kind: api.PrincipalUser, Name: name, Role: api.RoleSubmit, Bounds: bounds}
}

// settled is a planner that has a store, whose node a has spoken to it for longer than it waits for others to.
func settled(t *testing.T) *world {
	cfg := planner.Default()
	cfg.Identity = "store"
	w := newWorldOf(t, cfg, "a")
	w.pass(10 * time.Second)
	w.helloAs(w.status("a"))
	return w
}

// brought is a registration with an id that its user has made, and with executors that no node runs.
func brought(name string) api.RegisterRequest {
	r := registration(name, 0)
	r.AppID, r.Executors = api.NewAppID(time.Unix(0, int64(epoch)), 7, "another", r.Submission), 1
	return r
}

// An id that is brought along passes no bound of a user's.
func TestAttackABoundByAnID(t *testing.T) {
	for name, bounds := range map[string]api.Bounds{
		"running": {Running: 1},
		"class":   {Classes: []api.Class{api.ClassBatch}},
		"memory":  {Memory: 2 * units.GiB},
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t)
			by := submitsWithin("mallory", bounds)
			first := registration("first", 0)
			first.Class = api.ClassBatch
			if reply := w.registers(by, first); reply.Error != nil {
				t.Fatal(reply.Error)
			}
			if reply := w.registers(by, brought("more")); api.KindOf(reply.Error) != api.KindDenied {
				t.Errorf("%q is taken: %v", reply.AppID, reply.Error)
			}
			if n := len(w.plans["a"].Apps); n != 1 {
				t.Errorf("the node is told of %d", n)
			}
		})
	}
}

// Nor does it pass those who wait.
func TestAttackTheQueueByAnID(t *testing.T) {
	for name, executors := range map[string]int{"with executors": 1, "with none": 0} {
		t.Run(name, func(t *testing.T) {
			w := settled(t)
			first, second, third := large("first"), large("second"), large("third")
			ann := submitsWithin("ann", api.Bounds{})
			one, two := w.registers(ann, first), w.registers(ann, second)
			third.AppID, third.Executors = brought("third").AppID, executors
			three := w.registers(submitsWithin("mallory", api.Bounds{}), third)
			if two.Directive.Queued == nil || three.Directive.Queued == nil || three.Directive.Queued.Place != 2 {
				t.Fatalf("ann's waits: %+v, mallory's: %+v", two.Directive.Queued, three.Directive.Queued)
			}
			w.tell(one.AppID, first.Submission, up("1"))
			w.tell(one.AppID, first.Submission, end(20))
			w.says("a", api.ExecutorExited, one.AppID)
			for range 10 {
				w.pass(time.Second)
				w.step(planner.Status{Status: new(w.status("a"))})
				w.resend(two.AppID, second.Submission)
				w.resend(three.AppID, third.Submission)
			}
			if w.app(two.AppID).State != api.AppRunning || w.app(three.AppID).State != api.AppQueued {
				t.Errorf("ann's is %s, mallory's %s", w.app(two.AppID).State, w.app(three.AppID).State)
			}
		})
	}
}

// One whose executors a node runs goes on within its user's bounds, whatever memory they take, and not beyond.
func TestAReclaimKeepsBounds(t *testing.T) {
	for _, c := range []struct {
		bounds api.Bounds
		want   api.Kind
	}{{api.Bounds{Running: 1, Memory: 1}, 0}, {api.Bounds{Classes: []api.Class{api.ClassBatch}}, api.KindDenied}} {
		w := settled(t)
		r := brought("works")
		s := w.status("a")
		s.Executors = []api.ExecutorStatus{{App: r.AppID, ID: "1", State: api.ExecutorRunning}}
		s.Orphans = []api.Orphan{{App: r.AppID, Owner: api.OwnerOf(r.Submission)}}
		w.step(planner.Status{Status: &s})
		reply := w.registers(submitsWithin("ann", c.bounds), r)
		if taken := reply.Error == nil; taken != (c.want == 0) || !taken && api.KindOf(reply.Error) != c.want ||
			taken && (reply.AppID != r.AppID || !reply.Recall || len(w.app(r.AppID).Executors) != 1) {
			t.Errorf("%+v: %+v", c.bounds, reply)
		}
	}
}

// sleepers is a world of four nodes of which three sleep.
func sleepers(t *testing.T) *world {
	w := newWorld(t, "a", "b", "c", "d")
	for range 3 {
		w.pass(time.Second)
		for _, n := range []string{"a", "b", "c", "d"} {
			w.step(planner.Status{Status: new(w.status(n))})
		}
		w.control(api.VerbEmpty, api.ControlRequest{})
	}
	if n := w.sleep(); n != 3 {
		t.Fatalf("%d nodes sleep", n)
	}
	return w
}

// sleep is how many nodes sleep.
func (w *world) sleep() (n int) {
	for _, node := range w.e.View().Nodes() {
		if placement.SleepOf(node).Asleep {
			n++
		}
	}
	return n
}

// What no node could hold wakes none.
func TestAttackAGiantWakesNodes(t *testing.T) {
	w := sleepers(t)
	r := registration("giant", 0)
	r.Launch.Heap = 1 << 49
	if reply := w.registers(submitsWithin("mallory", api.Bounds{}), r); reply.Error == nil || w.sleep() != 3 {
		t.Errorf("%d nodes sleep: %v", w.sleep(), reply.Error)
	}
}

// Whoever registers again and again wakes one node a minute; another user wakes one beside that.
func TestAttackManyWakeNodes(t *testing.T) {
	w := sleepers(t)
	from := func(user string) {
		for i := range 5 {
			r := large(fmt.Sprint(user, i))
			w.registers(submitsWithin(user, api.Bounds{}), r)
		}
	}
	from("mallory")
	if n := w.sleep(); n != 2 {
		t.Errorf("mallory leaves %d asleep", n)
	}
	for range 50 {
		w.pass(time.Second)
		for _, n := range []string{"a", "b", "c", "d"} {
			w.step(planner.Status{Status: new(w.status(n))})
		}
	}
	if n := w.sleep(); n != 2 {
		t.Errorf("mallory's that wait leave %d asleep", n)
	}
	from("ann")
	if n := w.sleep(); n != 1 {
		t.Errorf("ann leaves %d asleep", n)
	}
}

// With a ticket one driver registers at a time: another one when that is heard no more, and a further context of its own.
func TestAttackASecondDriverByATicket(t *testing.T) {
	w := attachedWorld(t)
	by := submitsWithin("ann", api.Bounds{})
	by.Ticket = true
	r := attachedTo("chain", 0)
	r.Key = "U" + strings.Repeat("A", 55)
	first := w.registers(by, r)
	if first.Error != nil {
		t.Fatal(first.Error)
	}
	further, next := r, r
	further.Context = 1
	next.Context, next.Key = 100, "U"+strings.Repeat("B", 55)
	if reply := w.registers(by, next); api.KindOf(reply.Error) != api.KindTransient || w.app(first.AppID).State != api.AppRunning {
		t.Errorf("beside the first, which is %s: %+v", w.app(first.AppID).State, reply)
	}
	if reply := w.registers(by, further); reply.Error != nil || reply.AppID == first.AppID {
		t.Errorf("its next context: %+v", reply)
	}
	for range 6 {
		w.pass(time.Second)
	}
	if reply := w.registers(by, next); reply.Error != nil {
		t.Errorf("once it is silent: %+v", reply)
	}
}

// An application that its user's bounds refuse wakes no node.
func TestAttackARefusedOneWakesNodes(t *testing.T) {
	w, by := sleepers(t), submitsWithin("mallory", api.Bounds{Running: 1})
	if reply := w.registers(by, large("first")); reply.Error != nil {
		t.Fatal(reply.Error)
	}
	if reply := w.registers(by, large("second")); api.KindOf(reply.Error) != api.KindDenied || w.sleep() != 3 {
		t.Errorf("%d nodes sleep: %v", w.sleep(), reply.Error)
	}
}
