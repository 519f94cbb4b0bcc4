package planner_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

func named(t *testing.T, nodes ...string) *world {
	t.Helper()
	cfg := planner.Default()
	cfg.Identity = "one"
	return newWorldOf(t, cfg, nodes...)
}

// The name is the store's, whatever the next process would call itself, and each
// start on it is a term of its own, saved before a Plan carries it.
func TestATermGrowsWithEachStart(t *testing.T) {
	w := named(t, "a")
	if p := w.plans["a"]; p.Planner != "one" || p.Term != 1 {
		t.Errorf("plan of %q in term %d", p.Planner, p.Term)
	}
	for term := uint64(2); term < 4; term++ {
		w.cfg.Identity = "another"
		w.restart()
		if p := w.hello("a").Plan; p.Planner != "one" || p.Term != term {
			t.Errorf("after a restart: plan of %q in term %d, want %d", p.Planner, p.Term, term)
		}
	}
}

// Nodes have heard the planners that started after a backup was made: the one that starts on the
// copy has a greater term.
func TestARestoredStoreHasANewTerm(t *testing.T) {
	w := named(t, "a")
	backup := w.records()
	for range 3 {
		w.restart()
	}
	before := w.hello("a").Plan
	changes, err := planner.Restored(backup)
	if err != nil || len(changes) != 1 {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	clear(w.disk)
	for _, p := range append(backup, changes...) {
		w.disk[p.Key] = p.Value
	}
	w.restart()
	if p := w.hello("a").Plan; p.Term <= before.Term || p.Planner != before.Planner {
		t.Errorf("the restored planner is %q in term %d, nodes go by %q in term %d", p.Planner, p.Term, before.Planner, before.Term)
	}
}

// A planner that has lost its state does not take an application over whose executors
// run on: it would give it others with the same ids. It waits for what nodes have to
// say, and for the executors to end.
func TestAnApplicationOfALostStateGoesOnWithItsExecutors(t *testing.T) {
	w := named(t, "b")
	r := registration("p", 0)
	r.AppID = "theirs"
	if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindTransient {
		t.Errorf("before any node could say what it runs: %+v", reply)
	}
	theirs := func(state api.ExecutorState) *api.NodeStatus {
		s := w.status("a")
		s.Planner, s.Executors = "another", []api.ExecutorStatus{{App: "theirs", ID: "1", State: state}}
		return &s
	}
	for range 6 {
		w.pass(time.Second)
		w.step(planner.Status{Status: theirs(api.ExecutorRunning)})
		w.step(planner.Status{Status: new(w.status("b"))})
	}
	if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindTransient {
		t.Errorf("while its executors run: %+v", reply)
	}
	w.step(planner.Status{Status: theirs(api.ExecutorExited)})
	if reply := w.register(r); reply.Error != nil || reply.Executors != 2 {
		t.Errorf("when they have ended: %+v", reply)
	}
}

// A node that runs executors for another planner gets none and is told nothing, which
// is said once; its epochs do not count. When they have ended it is one of ours.
func TestANodeOfAnotherPlannerIsLeftAlone(t *testing.T) {
	w := named(t)
	theirs := func(state api.ExecutorState) api.NodeStatus {
		s := w.status("a")
		s.Planner, s.Epoch = "another", 7000
		s.Executors = []api.ExecutorStatus{{App: "theirs", ID: "1", State: state}}
		return s
	}
	if p := w.helloAs(theirs(api.ExecutorRunning)).Plan; p.Epoch > 7000 {
		t.Errorf("epoch %d: another planner's counted", p.Epoch)
	}
	w.hello("b")
	reply := w.mustRegister(registration("p", 0))
	if x := reply.Directive.Executors; len(x) != 1 || x[0].Node != "b" {
		t.Errorf("executors %+v, want one on b", x)
	}
	if state := w.control(api.VerbNodes, api.ControlRequest{}).Nodes[0].State; state != "another's" {
		t.Errorf("the node is %q", state)
	}
	published := w.published
	for range 5 {
		w.pass(time.Second)
		w.step(planner.Status{Status: new(theirs(api.ExecutorRunning))})
	}
	if said := w.heard("node of another planner"); len(said) != 1 || w.published != published {
		t.Errorf("said %v, %d Plans published in vain", said, w.published-published)
	}
	w.step(planner.Status{Status: new(theirs(api.ExecutorExited))})
	w.tell(reply.AppID, registration("p", 0).Submission)
	if p := w.plans["a"]; len(p.Apps) != 1 || len(p.Apps[0].Executors) != 1 {
		t.Errorf("the node that is free has %+v", p)
	}
	// It has not taken that yet: it is told again.
	published = w.published
	w.pass(2 * time.Second)
	w.step(planner.Status{Status: new(theirs(api.ExecutorExited))})
	if w.published == published {
		t.Error("a node that is free is not told again")
	}
}

// A node that says an epoch which no planner can have reached is refused, whether it says
// so at first or later: epochs go on from what planners really gave.
func TestANodesEpochMayNotBeBeyondAllReason(t *testing.T) {
	w := newWorld(t)
	poisoned := func(epoch uint64) api.NodeStatus {
		s := w.status("a")
		s.Epoch = epoch
		return s
	}
	for _, epoch := range []uint64{math.MaxUint64, api.MostNumber, 2 * api.MostLead} {
		reply := w.step(planner.Hello{To: 1, Status: poisoned(epoch)}).(api.HelloReply)
		if api.KindOf(reply.Error) != api.KindInvalid {
			t.Errorf("epoch %d: %+v", epoch, reply)
		}
		w.step(planner.Status{Status: new(poisoned(epoch))})
	}
	if said := w.heard("message refused"); len(said) != 3 {
		t.Errorf("said %v", said)
	}
	// One that a planner can have given before it lost its state counts.
	if p := w.helloAs(poisoned(1 << 30)).Plan; p.Epoch != 1<<30+1 {
		t.Errorf("the Plan has epoch %d", p.Epoch)
	}
	if p := w.hello("b").Plan; p.Epoch == 0 || p.Epoch > 1<<31 {
		t.Errorf("another node's Plan has epoch %d", p.Epoch)
	}
}

// Requests of people are bounded whatever they ask.
func TestRequestsOfPeopleAreBounded(t *testing.T) {
	w := newWorld(t, "a")
	long := strings.Repeat("x", 2*api.MostName)
	for verb, q := range map[api.Verb]api.ControlRequest{
		api.VerbProfile: {Profile: long}, api.VerbDrain: {Node: long}, api.VerbDivide: {Division: &api.Division{Strategy: long}}, api.VerbApp: {App: "a b"},
	} {
		q.V = api.Version
		if r := w.step(planner.Control{To: 1, Verb: verb, Request: q}).(api.ControlReply); api.KindOf(r.Error) != api.KindInvalid || len(r.Error.Message) > api.MostName {
			t.Errorf("%s: %+v", verb, r)
		}
	}
	if r := w.step(planner.PlanQuery{To: 1, Request: api.PlanRequest{V: api.Version, Profile: long}}).(api.PlanReply); api.KindOf(r.Error) != api.KindInvalid {
		t.Errorf("%+v", r)
	}
}
