package planner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// heavy is a registration whose launch has as much as one may have.
func heavy(i int) api.RegisterRequest {
	r := registration(fmt.Sprintf("heavy-%d", i), 0)
	r.Launch.Heap = units.MiB
	r.Launch.ClassPath = []string{strings.Repeat("<", api.MostLaunch-1024)}
	return r
}

// A Plan that would not go through the bus is never made: the application for which it would
// be is turned down with a line that says why, and taken when there is room again.
func TestNoPlanOutgrowsTheBus(t *testing.T) {
	e, err := planner.New(planner.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	step := func(event planner.Event) (body any) { // The world compares all that it has after each step.
		for _, action := range e.Step(epoch, event) {
			if a, ok := action.(planner.Reply); ok {
				body = a.Body
			}
		}
		return body
	}
	register := func(r api.RegisterRequest) api.RegisterReply {
		return step(planner.Register{To: 1, Request: r}).(api.RegisterReply)
	}
	hello := planner.Hello{To: 1, Status: api.NodeStatus{V: api.Version, Node: "n1", Incarnation: "n1-1", Seq: 1, Host: "127.0.0.1", Offered: 4, Total: 4, Memory: units.TiB}}
	step(hello)
	var first api.RegisterReply
	var refused *api.Error
	n := 0
	for ; refused == nil && n < 128; n++ {
		reply := register(heavy(n))
		if refused = reply.Error; n == 0 {
			first = reply
		}
	}
	if refused == nil || refused.Kind != api.KindTransient || !strings.Contains(refused.Message, "a plan takes 6291456") {
		t.Fatalf("after %d: %v", n, refused)
	}
	hello.Status.Seq = 2
	again := step(hello).(api.HelloReply)
	plan, err := json.Marshal(again.Plan)
	if size := len(plan); err != nil || size > bus.MaxPayload || size < api.MostPlanLaunches/2 {
		t.Errorf("with %d applications the Plan has %d bytes, %v, %v", n-1, size, err, again.Error)
	}
	if reply := register(registration("light", 0)); reply.Error != nil {
		t.Errorf("another one is turned down with it: %v", reply.Error)
	}
	over := api.Events{V: api.Version, AppID: first.AppID, Submission: heavy(0).Submission, Events: []api.Event{{Seq: 1, Type: api.EventEnd}, {Seq: 2, Type: api.EventExit}}}
	if reply := step(planner.DriverEvents{To: 1, Batch: over}).(api.EventsReply); reply.Error != nil {
		t.Fatal(reply.Error)
	}
	if reply := register(heavy(n - 1)); reply.Error != nil {
		t.Errorf("with room again: %v", reply.Error)
	}
}

// One that waits for memory and then for room in a Plan is told so, and passed by those behind it.
func TestOneThatAPlanDoesNotHoldIsTold(t *testing.T) {
	e, err := planner.New(planner.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	now, told := epoch, map[api.AppID]api.Directive{}
	step := func(event planner.Event) (body any) {
		for _, action := range e.Step(now, event) {
			switch a := action.(type) {
			case planner.Reply:
				body = a.Body
			case planner.PublishDirective:
				told[a.App] = a.Directive
			}
		}
		return body
	}
	register := func(r api.RegisterRequest) api.AppID {
		reply := step(planner.Register{To: 1, Request: r}).(api.RegisterReply)
		if reply.Error != nil {
			t.Fatal(reply.Error)
		}
		told[reply.AppID] = reply.Directive
		return reply.AppID
	}
	status := api.NodeStatus{V: api.Version, Node: "n1", Incarnation: "n1-1", Seq: 1, Host: "127.0.0.1", Offered: 4, Total: 4, Memory: units.TiB}
	step(planner.Hello{To: 1, Status: status})
	for i := range 16 {
		register(heavy(i))
	}
	first := large("first")
	first.Launch.Heap = 800 * units.GiB
	running := register(first)
	now = now.Add(time.Second)
	waits := heavy(16)
	waits.Launch.Heap, waits.Launch.OffHeapFixed = 200*units.GiB, true
	head := register(waits)
	if q := told[head].Queued; q == nil || strings.Contains(q.Why, "plan") {
		t.Fatalf("for want of memory: %+v", q)
	}
	behind := large("behind")
	behind.Launch.Heap = 150 * units.GiB
	next := register(behind)
	if told[next].Queued == nil {
		t.Fatal("the one behind it does not wait")
	}
	over := api.Events{V: api.Version, AppID: running, Submission: first.Submission, Events: []api.Event{{Seq: 1, Type: api.EventEnd}, {Seq: 2, Type: api.EventExit}}}
	if reply := step(planner.DriverEvents{To: 1, Batch: over}).(api.EventsReply); reply.Error != nil {
		t.Fatal(reply.Error)
	}
	status.Seq, status.Executors = 2, []api.ExecutorStatus{{App: running, ID: "1", State: api.ExecutorExited}}
	step(planner.Status{Status: &status})
	now = now.Add(time.Second)
	step(planner.Tick{})
	if q := told[head].Queued; q == nil || !strings.Contains(q.Why, "the plan of node n1 has no room") {
		t.Errorf("for want of room in the plan: %+v", q)
	}
	if q := told[next].Queued; q != nil {
		t.Errorf("the one behind it waits: %+v", q)
	}
}

// A driver whose events are refused is told, and so is who reads the planner's log.
func TestRefusedEventsAreLogged(t *testing.T) {
	w := newWorld(t, "n1")
	r := registration("a", 0)
	reply := w.mustRegister(r)
	batch := api.Events{V: api.Version, AppID: reply.AppID, Submission: r.Submission, Events: []api.Event{{Seq: 99, Type: "nonsense"}}}
	if got := w.step(planner.DriverEvents{To: 1, Batch: batch}).(api.EventsReply); api.KindOf(got.Error) != api.KindInvalid {
		t.Errorf("answered %+v", got)
	}
	if said := w.heard("message refused"); len(said) != 1 {
		t.Errorf("said %v", said)
	}
}

// A node may end an application that has executors there, and no other.
func TestANodeEndsOnlyWhoIsThere(t *testing.T) {
	w := newWorld(t, "n1")
	a := w.mustRegister(registration("a", 0))
	w.hello("n2")
	tell := func(node string) {
		s := w.status(node)
		s.Faults = []api.AppFault{{App: a.AppID, Reason: "its files take too much"}, {App: "app-none", Reason: "so do its"}}
		w.step(planner.Status{Status: &s})
	}
	tell("n2")
	if d := w.directives[a.AppID]; d.Dead != "" {
		t.Errorf("a stranger ends it: %s", d.Dead)
	}
	tell("n1")
	tell("n1")
	if d := w.directives[a.AppID]; d.Dead != "killed by node n1: its files take too much" {
		t.Errorf("it is told %q", d.Dead)
	}
	if said := w.heard("application killed"); len(said) != 1 {
		t.Errorf("said %v", said)
	}
}
