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

// foreign is an application that another planner has made, or this one before it lost its state. Its
// id does not say whose it is, nodes do.
const foreign = "app-20260101000000-0001-7e1257"

// elsewhere is the id that another planner has given to r, n-th of those.
func elsewhere(r api.RegisterRequest, n uint64) api.AppID {
	return api.NewAppID(time.Unix(1767225600, 0), n, "another", r.Submission)
}

// stranger is a status of a node that follows another planner, or this one (""), and runs an
// executor of "theirs" that this one does not know.
func (w *world) stranger(node, follows, owner string, state api.ExecutorState) *api.NodeStatus {
	s := w.status(node)
	s.Planner, s.Executors = follows, []api.ExecutorStatus{{App: foreign, ID: "2", State: state, Quota: api.Unknown}}
	if follows == "" {
		s.Planner = "one"
		s.Orphans = []api.Orphan{{App: foreign, Owner: owner}}
	} else {
		s.Epoch = 7000
	}
	return &s
}

// A planner that has lost its state, or succeeds another, takes an application over when its
// driver registers again: with the executors that run, under its id, with all cores. It has
// nodes follow it first, and waits until they have spoken.
func TestAnApplicationOfALostStateIsTakenOver(t *testing.T) {
	w := named(t, "b")
	r := registration("p", 100)
	r.AppID = foreign
	if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindTransient {
		t.Errorf("before any node could say what it runs: %+v", reply)
	}
	w.helloAs(*w.stranger("a", "another", "", api.ExecutorRunning))
	for range 4 {
		w.pass(time.Second)
		w.step(planner.Status{Status: w.stranger("a", "another", "", api.ExecutorRunning)})
		w.step(planner.Status{Status: new(w.status("b"))})
	}
	if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindTransient || w.plans["a"].Succeeds != "" {
		t.Errorf("while its node follows another planner: %+v, %+v", reply, w.plans["a"])
	}
	if state := w.control(api.VerbNodes, api.ControlRequest{}).Nodes[0].State; state != "another's" {
		t.Errorf("the node is %q", state)
	}
	w.pass(2 * time.Second)
	w.step(planner.Status{Status: w.stranger("a", "another", "", api.ExecutorRunning)})
	if p := w.plans["a"]; p.Succeeds != "another" || len(p.Apps)+len(p.Over) != 0 || len(w.heard("node taken over")) != 1 {
		t.Fatalf("the node is told %+v", p)
	}
	mine := func(state api.ExecutorState) *api.NodeStatus {
		return w.stranger("a", "", api.OwnerOf(r.Submission), state)
	}
	w.step(planner.Status{Status: mine(api.ExecutorRunning)})
	other := r
	other.Submission = "somebody else's"
	if reply := w.register(other); reply.Error == nil || reply.Error.Kind != api.KindConflict {
		t.Errorf("another submission: %+v", reply)
	}
	user := api.Principal{Kind: api.PrincipalUser, Name: "u", Role: api.RoleSubmit, Bounds: api.Bounds{Cores: 1.5}}
	reply := w.step(planner.Register{To: 1, By: user, Request: r}).(api.RegisterReply)
	if reply.Error != nil || reply.AppID != foreign || !reply.Recall || len(reply.Directive.Executors) != 1 || reply.Directive.Executors[0].ID != "2" || reply.Directive.Gated {
		t.Fatalf("%+v", reply)
	}
	if again := w.register(r); again.Error != nil || !again.Recall || again.AppID != foreign {
		t.Errorf("the same again: %+v", again)
	}
	if p := w.plans["a"]; len(p.Apps) != 1 || len(p.Apps[0].Executors) != 1 || p.Apps[0].Executors[0] != "2" || p.Apps[0].Launch.Owner != api.OwnerOf(r.Submission) || p.Apps[0].Cap != 1.5 {
		t.Errorf("the node is told %+v", p)
	}
	w.tell(foreign, r.Submission, api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: "2"}}, ready(3, 4, "join", 100, "2"))
	if again := w.register(r); again.Recall {
		t.Error("it is to recall what it has told")
	}
	// A node that comes later has executors of it, too.
	late := w.stranger("c", "", api.OwnerOf(r.Submission), api.ExecutorRunning)
	late.Executors[0].ID = "1"
	w.helloAs(*late)
	if d := w.app(foreign); len(d.Executors) != 2 && w.plans["c"].Apps == nil {
		t.Errorf("executors %+v", d.Executors)
	}
	w.restart()
	w.hello("a")
	w.tell(foreign, r.Submission, done(20, 4, 4), end(30))
	w.pass(3 * time.Second)
	if d := w.app(foreign); d.State != api.AppFinished || len(w.control(api.VerbProfiles, api.ControlRequest{}).Listed) != 0 {
		t.Errorf("%s, %+v", d.State, d.Notices)
	}
}

// A batch that is meant for another planner is not taken: the answer would have this planner's directive, which is newer
// by its epochs, and what the other one says of the application's start would count as old.
func TestWhoSpeaksToAnotherPlannerIsToRegister(t *testing.T) {
	w := named(t, "a")
	first, second := large("first"), large("second")
	for r, want := range map[api.AppID]struct {
		submission string
		state      api.AppState
	}{
		w.mustRegister(first).AppID: {first.Submission, api.AppRunning},
		w.register(second).AppID:    {second.Submission, api.AppQueued},
	} {
		for planner, taken := range map[string]bool{"": true, "one": true, "another": false} {
			reply := w.beat(r, want.submission, planner)
			if w.app(r).State != want.state || (reply.Error == nil) != taken {
				t.Errorf("of one that is %s, to %q: %+v", w.app(r).State, planner, reply)
			}
		}
	}
}

// beat is a heartbeat of an application whose driver means that planner.
func (w *world) beat(id api.AppID, submission, to string) api.EventsReply {
	w.Helper()
	batch := api.Events{V: api.Version, AppID: id, Submission: submission, Planner: to}
	return w.step(planner.DriverEvents{To: 1, Batch: batch}).(api.EventsReply)
}

// What a node does not know to be over it is told again.
func TestANodeIsToldWhoIsOver(t *testing.T) {
	w := named(t, "a")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	w.tell(id, r.Submission, end(30))
	if p := w.plans["a"]; len(p.Apps) != 0 || len(p.Over) != 1 || p.Over[0] != id {
		t.Errorf("the node is told %+v", p)
	}
	epoch := w.plans["a"].Epoch
	w.live(5 * time.Second)
	if p := w.plans["a"]; p.Epoch != epoch {
		t.Errorf("and again: %+v", p)
	}
	w.mustRegister(registration("q", 0))
	if p := w.plans["a"]; len(p.Apps) != 1 || len(p.Over) != 0 {
		t.Errorf("when it has nothing of it any more: %+v", p)
	}
	w.live(2 * time.Second)
	s := w.status("a")
	s.Planner, s.Executors, s.Orphans = "one", []api.ExecutorStatus{{App: id, ID: "1", State: api.ExecutorRunning}}, []api.Orphan{{App: id, Owner: api.OwnerOf(r.Submission)}}
	w.step(planner.Status{Status: &s})
	if p := w.plans["a"]; len(p.Over) != 1 || p.Over[0] != id || p.Epoch <= epoch {
		t.Errorf("one that has missed it: %+v", p)
	}
}

// A node that was this planner's and follows another is not taken back: one of the two is to
// stand by, and taking nodes from each other would never end.
func TestANodeThatWasTakenIsNotTakenBack(t *testing.T) {
	w := named(t, "a")
	for range 8 {
		w.pass(time.Second)
		s := w.status("a")
		s.Planner = "one"
		w.step(planner.Status{Status: &s})
	}
	for range 8 {
		w.pass(time.Second)
		w.step(planner.Status{Status: w.stranger("a", "another", "", api.ExecutorRunning)})
	}
	if w.plans["a"].Succeeds != "" || len(w.heard("node taken over")) != 0 || len(w.heard("node of another planner")) != 1 {
		t.Errorf("%+v, said %v", w.plans["a"], w.said)
	}
	for range 24 { // But the other one does not serve for ever.
		w.pass(time.Second)
		w.step(planner.Status{Status: w.stranger("a", "another", "", api.ExecutorRunning)})
	}
	if w.plans["a"].Succeeds != "another" {
		t.Errorf("after half a minute: %+v", w.plans["a"])
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
		api.VerbProfile: {Profile: long}, api.VerbDrain: {Node: long}, api.VerbDivide: {Division: &api.Division{Strategy: long}}, api.VerbPolicySet: {Policy: &api.QueuePolicy{Rule: long}}, api.VerbApp: {App: "a b"},
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
