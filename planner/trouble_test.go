package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

// paced is a world with one node and a paced application of the chain's profile,
// whose first stage runs on executor 1 since 2 s.
func paced(t *testing.T) (*world, api.AppID, string) {
	t.Helper()
	w := newWorld(t, "a")
	w.put(chain("p"))
	r := registration("p", 100)
	id := w.mustRegister(r).AppID
	w.to(2)
	w.tell(id, r.Submission, ready(2, 1, "read", 3000, "1"))
	if len(w.targets(id)) != 1 {
		t.Fatalf("targets %v", w.targets(id))
	}
	return w, id, r.Submission
}

// allCores checks that an application has no targets, and the gate as told.
func (w *world) allCores(id api.AppID, gated bool) {
	w.Helper()
	if got := w.targets(id); len(got) != 0 {
		w.Errorf("targets %v, want none", got)
	}
	if w.directives[id].Gated != gated {
		w.Errorf("gated is %v", !gated)
	}
}

func TestReleaseGivesAllCoresForTheRest(t *testing.T) {
	w, id, sub := paced(t)
	if r := w.control(api.VerbRelease, api.ControlRequest{App: id}); r.Error != nil || !strings.Contains(r.Message, "all cores") {
		t.Fatalf("release: %+v", r)
	}
	w.allCores(id, false)
	w.tell(id, sub, done(9, 1, 2), ready(10, 2, "map", 1000, "1"))
	w.allCores(id, false)
	if r := w.control(api.VerbRelease, api.ControlRequest{App: id}); r.Error != nil || !strings.Contains(r.Message, "already") {
		t.Errorf("again: %+v", r)
	}
	if !w.plans["a"].Apps[0].HasDeadline {
		t.Error("the deadline is lost")
	}
}

func TestStreamingRunsUnpaced(t *testing.T) {
	w, id, sub := paced(t)
	reply := w.tell(id, sub, api.Event{Type: api.EventUnpaced, At: 3, Reason: "streaming application"})
	w.allCores(id, false)
	if reply.Directive.Notice != "streaming application: it runs unpaced, with all cores" {
		t.Errorf("notice %q", reply.Directive.Notice)
	}
	w.tell(id, sub, done(9, 1, 2), end(10))
	w.pass(2 * time.Second)
	if w.app(id).Pacing != "unpaced" || len(w.heard("profile changed")) != 1 {
		t.Errorf("pacing %q, profiles changed: %v", w.app(id).Pacing, w.heard("profile changed"))
	}
}

func TestAPassedDeadlineGivesAllCoresAndAnotherOnePacesAgain(t *testing.T) {
	w, id, sub := paced(t)
	w.live(97*time.Second, id)
	if len(w.targets(id)) != 1 {
		t.Error("released before its deadline")
	}
	w.live(2*time.Second, id)
	w.allCores(id, false)
	if d := w.app(id); d.Pacing != "released" || !strings.Contains(d.Notices[0], "deadline of 1m40s has passed") {
		t.Errorf("detail %+v", d)
	}
	if r := w.control(api.VerbDeadline, api.ControlRequest{App: id, Deadline: 60}); r.Error == nil || r.Error.Kind != api.KindInvalid {
		t.Errorf("a passed deadline was taken: %+v", r)
	}
	if r := w.control(api.VerbDeadline, api.ControlRequest{App: id, Extend: 200}); r.Error != nil || !strings.Contains(r.Message, "deadline 5m0s is feasible") {
		t.Fatalf("extension: %+v", r)
	}
	if len(w.targets(id)) != 1 || w.app(id).Pacing != "paced" {
		t.Errorf("not paced again: %v", w.targets(id))
	}
	w.tell(id, sub, done(110, 1, 2))
	w.allCores(id, true)
}

func TestDeadlineRequests(t *testing.T) {
	w, id, sub := paced(t)
	before := *w.target(id, 1, "1")
	for _, c := range []struct {
		name string
		r    api.ControlRequest
		kind api.Kind
	}{
		{"nothing", api.ControlRequest{App: id}, api.KindInvalid},
		{"both", api.ControlRequest{App: id, Extend: 1, Deadline: 200}, api.KindInvalid},
		{"past", api.ControlRequest{App: id, Extend: -99}, api.KindInvalid},
		{"unknown application", api.ControlRequest{App: "app-x", Extend: 10}, api.KindNotFound},
	} {
		if r := w.control(api.VerbDeadline, c.r); r.Error == nil || r.Error.Kind != c.kind {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	if got := *w.target(id, 1, "1"); got.Rev != before.Rev {
		t.Error("a refused deadline changed a target")
	}
	// 200 s: (194-2-6)/3 = 62 s for the stage, of which nothing is done yet.
	if r := w.control(api.VerbDeadline, api.ControlRequest{App: id, Extend: 100}); r.Error != nil {
		t.Fatal(r.Error)
	}
	got := *w.target(id, 1, "1")
	if got.Rev <= before.Rev || !near(float64(got.Remaining), 62, 1e-6) {
		t.Errorf("target %+v after %+v", got, before)
	}
	// Half done: what is left of it is a stage of 10 s of 50.
	s := w.status("a")
	s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{Stage: 1}, Executor: "1", Progress: 0.5}}
	w.step(planner.Status{Status: &s})
	w.to(30)
	w.control(api.VerbDeadline, api.ControlRequest{App: id, Deadline: 150})
	if got := w.target(id, 1, "1"); !near(float64(got.Remaining), (145.5-30-6)/5, 1e-6) {
		t.Errorf("target %+v", got)
	}
	if r := w.control(api.VerbDeadline, api.ControlRequest{App: id, Deadline: 35}); r.Error != nil || !strings.Contains(r.Message, "infeasible") {
		t.Errorf("an impossible one: %+v", r)
	}
	w.allCores(id, false)
	w.tell(id, sub, end(40))
	if r := w.control(api.VerbDeadline, api.ControlRequest{App: id, Extend: 10}); r.Error == nil || r.Error.Kind != api.KindConflict {
		t.Errorf("of an ended one: %+v", r)
	}
}

func TestOnlyWhatChangedGetsANewRevOrEpoch(t *testing.T) {
	w, id, sub := paced(t)
	before, plan := *w.target(id, 1, "1"), w.plans["a"].Epoch
	bound := func(b ...api.Binding) {
		w.tell(id, sub, api.Event{Type: api.EventStageBound, At: 3, Bound: &api.StageBound{StageKey: api.StageKey{Stage: 1}, Bindings: b}})
	}
	bound(api.Binding{Executor: "1", Weight: 4, Tasks: 4})
	if w.plans["a"].Epoch != plan {
		t.Error("the same bindings made a new plan")
	}
	w.to(10)
	bound(api.Binding{Executor: "1", Weight: 6, Tasks: 3})
	got := *w.target(id, 1, "1")
	if got.Rev <= before.Rev || got.Weight != 6 || !near(float64(got.Remaining), float64(before.Remaining)-8, 1e-6) {
		t.Errorf("target %+v after %+v: want the same deadline", got, before)
	}
	// Another stage beside it leaves it alone.
	w.tell(id, sub, ready(10, 2, "map", 1000, "1"))
	if again := *w.target(id, 1, "1"); again.Rev != got.Rev {
		t.Errorf("target %+v, want Rev %d", again, got.Rev)
	}
	// An executor that the planner does not know, or without tasks, gets none.
	bound(api.Binding{Executor: "1", Weight: 6, Tasks: 3}, api.Binding{Executor: "99", Weight: 1, Tasks: 1}, api.Binding{Executor: "2", Weight: 0})
	if len(w.targets(id)) != 2 {
		t.Errorf("targets %v", w.targets(id))
	}
}

func TestASecondAttemptIsPlannedForItsPart(t *testing.T) {
	w, id, sub := paced(t)
	failed := done(9, 1, 2)
	failed.Done.Failed, failed.Done.Reason = true, "FetchFailed"
	again := ready(10, 1, "read", 3000, "1")
	again.Stage.Attempt, again.Stage.Tasks = 1, 2
	w.to(10)
	w.tell(id, sub, failed, again)
	targets := w.targets(id)
	got, ok := targets["1.1@1"]
	// Two of the four tasks that the first attempt had: half of 60 core-seconds.
	if len(targets) != 1 || !ok || !near(float64(got.Work), 30, 1e-9) {
		t.Errorf("targets %v", targets)
	}
	if w.app(id).Stages[0].State != "failed" {
		t.Error("the first attempt has not failed")
	}
}

func exited(id api.AppID, x api.ExecutorID, how string) api.ExecutorStatus {
	return api.ExecutorStatus{App: id, ID: x, State: api.ExecutorExited, Exit: how, ExitCode: 1}
}

func TestACrashedExecutorIsReplacedWhenTheDriverSpeaks(t *testing.T) {
	w, id, sub := paced(t)
	s := w.status("a")
	s.Executors = []api.ExecutorStatus{exited(id, "1", "killed by signal 9")}
	w.step(planner.Status{Status: &s})
	if p := w.plans["a"].Apps; len(p) != 0 {
		t.Errorf("plan %+v, want no executor before the driver spoke", p)
	}
	w.send(id, sub)
	if got := w.plans["a"].Apps[0].Executors; !slices.Equal(got, []api.ExecutorID{"2"}) {
		t.Errorf("executors %v, want the new one", got)
	}
	if x := w.directives[id].Executors; len(x) != 1 || x[0].ID != "2" {
		t.Errorf("directive %+v", x)
	}
	// The driver's word about the same executor changes nothing more.
	w.tell(id, sub, api.Event{Type: api.EventExecutorGone, At: 5, Executor: &api.ExecutorEvent{ID: "1"}})
	if got := w.plans["a"].Apps[0].Executors; len(got) != 1 {
		t.Errorf("executors %v", got)
	}
	if d := w.app(id).Executors; len(d) != 2 || d[0].State != api.ExecutorExited || d[0].Exit != "killed by signal 9" {
		t.Errorf("executors %+v", d)
	}
}

func TestReplacementsAreBounded(t *testing.T) {
	w, id, sub := paced(t)
	for k := 1; k <= 10; k++ {
		w.tell(id, sub, api.Event{Type: api.EventExecutorGone, At: 5, Executor: &api.ExecutorEvent{ID: api.ExecutorID(fmt.Sprint(k))}})
	}
	if len(w.heard("executor replaced")) != 3 || len(w.heard("replacement ended")) != 1 {
		t.Errorf("%d replaced, %d times given up", len(w.heard("executor replaced")), len(w.heard("replacement ended")))
	}
	if n := w.app(id).Notices; len(n) != 1 || !strings.Contains(n[0], "no more are started") {
		t.Errorf("notices %q", n)
	}
	if d := w.app(id); d.State != api.AppRunning {
		t.Errorf("state %s: want it left to Spark", d.State)
	}
	if dead := w.directives[id].Dead; !strings.Contains(dead, "the driver lost it") {
		t.Errorf("the driver is told %q, want that nothing will come and why", dead)
	}
}

// An executor whose node is lost before it starts is none that has ended: however often that
// happens, another one is asked for.
func TestWhatNobodyHasStartedIsNoLoss(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	id := w.register(r).AppID
	for range 6 {
		for range 8 {
			w.pass(time.Second)
			w.tell(id, r.Submission)
		}
		if got := w.counted("a", id); len(got) > 0 {
			t.Fatalf("on a lost node %v", got)
		}
		w.hello("a")
		w.tell(id, r.Submission)
	}
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"7"}) || w.directives[id].Dead != "" {
		t.Errorf("the node is to run %v, %+v", got, w.directives[id])
	}
}

func TestAReplacementGoesToALiveNode(t *testing.T) {
	w := newWorld(t, "a", "b")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	for range 11 {
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status("b"))})
		w.send(id, r.Submission)
	}
	if got := w.heard("node lost"); len(got) != 1 {
		t.Fatalf("nodes lost: %v", got)
	}
	if got := len(w.directives[id].Executors); got != 2 {
		t.Errorf("%d executors: a lost node's count until the driver says otherwise", got)
	}
	gone := "1"
	if w.directives[id].Executors[0].Node != "a" {
		gone = "2"
	}
	w.tell(id, r.Submission, api.Event{Type: api.EventExecutorGone, At: 12, Executor: &api.ExecutorEvent{ID: api.ExecutorID(gone)}})
	if got := w.plans["b"].Apps[0].Executors; len(got) != 2 {
		t.Errorf("executors of b: %v", got)
	}
}

func TestASilentDriver(t *testing.T) {
	for _, c := range []struct {
		name      string
		connected bool
		exit      string
		after     time.Duration
	}{
		{"nothing of its executor has ever moved", false, "", 60 * time.Second},
		{"its executors have lost it", true, "exit status 1", 8 * time.Second},
		{"all executors were killed", true, "killed by signal 9", 60 * time.Second},
		{"its executors are told of and stand still", true, "", 60 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, "a")
			r := registration("p", 0)
			reply := w.register(r)
			if c.connected {
				w.tell(reply.AppID, r.Submission, api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: "1"}})
			}
			w.pass(0)
			w.step(planner.Tick{})
			s := w.status("a")
			if c.exit != "" {
				s.Executors = []api.ExecutorStatus{exited(reply.AppID, "1", c.exit)}
			}
			w.step(planner.Status{Status: &s})
			w.live(c.after - 500*time.Millisecond)
			if d := w.app(reply.AppID); d.State != api.AppRunning {
				t.Fatalf("%s after %v", d.State, d.Duration)
			}
			w.live(time.Second)
			d := w.app(reply.AppID)
			if d.State != api.AppFailed || len(w.plans["a"].Apps) != 0 || !strings.Contains(d.Notices[0], "driver gone") {
				t.Errorf("%+v, plan %+v", d, w.plans["a"])
			}
			w.pass(3 * time.Second)
			// The driver comes back: it has to register, as a new application.
			if e := w.send(reply.AppID, r.Submission); e.Error == nil || e.Error.Kind != api.KindNotFound {
				t.Errorf("events: %+v", e)
			}
			if again := w.register(r); again.Error != nil || again.AppID == reply.AppID {
				t.Errorf("registered again: %+v", again)
			}
		})
	}
}

func TestAPlannerThatWasStoppedAccusesNobody(t *testing.T) {
	w, id, _ := paced(t)
	w.step(planner.Tick{})
	w.now = w.now.Add(90 * time.Second)
	w.step(planner.Tick{})
	if d := w.app(id); d.State != api.AppRunning || len(w.heard("node lost")) != 0 {
		t.Errorf("%s, nodes lost %v", d.State, w.heard("node lost"))
	}
}

func TestTwoNodesOfOneName(t *testing.T) {
	w := newWorld(t, "a")
	w.step(planner.Tick{})
	other := w.status("a")
	other.Incarnation, other.Seq = "other", 1
	if r := w.helloAs(other); r.Error == nil || r.Error.Kind != api.KindTransient {
		t.Fatalf("first try: %+v", r)
	}
	w.step(planner.Status{Status: new(w.status("a"))})
	if r := w.helloAs(other); r.Error == nil || r.Error.Kind != api.KindConflict || len(w.heard("node clash")) != 1 {
		t.Errorf("with both alive: %+v", r)
	}
	w.step(planner.Status{Status: &other}) // Not taken: the name is not its own.
	w.pass(1900 * time.Millisecond)
	if r := w.helloAs(other); r.Error == nil {
		t.Errorf("too early: %+v", r)
	}
	w.pass(300 * time.Millisecond)
	if r := w.helloAs(other); r.Error != nil {
		t.Errorf("after the first one's silence: %+v", r.Error)
	}
	leaving := other
	leaving.Seq, leaving.Leaving = 2, true
	w.step(planner.Status{Status: &leaving})
	if n := w.control(api.VerbNodes, api.ControlRequest{}).Nodes; n[0].State != "left" {
		t.Errorf("nodes %+v", n)
	}
	if r := w.hello("a"); r.Error != nil {
		t.Errorf("after it left: %+v", r.Error)
	}
}

func TestALostPlanIsSentAgain(t *testing.T) {
	w, _, _ := paced(t)
	sent := w.published
	s := w.status("a")
	s.Epoch--
	w.step(planner.Status{Status: &s})
	if w.published != sent {
		t.Error("sent again at once")
	}
	w.step(planner.Tick{})
	w.pass(time.Second)
	s = w.status("a")
	s.Epoch--
	w.step(planner.Status{Status: &s})
	if w.published != sent+1 {
		t.Errorf("published %d times, want %d", w.published, sent+1)
	}
}

func TestAPlannerWithoutItsStateOutranksOldPlans(t *testing.T) {
	w := newWorld(t)
	s := w.status("a")
	s.Epoch = 7000
	if r := w.helloAs(s); r.Plan.Epoch <= 7000 {
		t.Errorf("epoch %d, want more than the node follows", r.Plan.Epoch)
	}
}

func TestReplayedEventsAndLastWords(t *testing.T) {
	w, id, sub := paced(t)
	before := w.plans["a"].Epoch
	replayed := ready(2, 1, "read", 3000, "1")
	replayed.Seq = 2
	if r := w.resend(id, sub, replayed); r.Error != nil || r.AckedSeq != 2 || w.plans["a"].Epoch != before {
		t.Errorf("%+v, plan %d, want %d", r, w.plans["a"].Epoch, before)
	}
	if r := w.resend(id, "another submission"); r.Error == nil || r.Error.Kind != api.KindNotFound {
		t.Errorf("of another submission: %+v", r)
	}
	last := end(5)
	w.stopped(id, sub, last)
	last.Seq = 3
	for range 2 { // Once while the figures are waited for, once after.
		if r := w.resend(id, sub, last); r.Error != nil || r.AckedSeq != 3 {
			t.Errorf("last words: %+v", r)
		}
		w.pass(2 * time.Second)
	}
}

func TestANoticeIsToldUntilItIsHeard(t *testing.T) {
	w, id, sub := paced(t)
	w.control(api.VerbRelease, api.ControlRequest{App: id})
	first := w.directives[id]
	if first.Notice == "" || w.send(id, sub).Directive.Notice != first.Notice {
		t.Fatalf("directive %+v", first)
	}
	w.tell(id, sub, api.Event{Type: api.EventExecutorGone, At: 5, Executor: &api.ExecutorEvent{ID: "1"}})
	if got := w.directives[id]; got.Epoch <= first.Epoch || got.Notice != "" {
		t.Errorf("directive %+v, want the notice gone", got)
	}
}

func TestControlOfNodesProfilesAndOthers(t *testing.T) {
	cfg := planner.Default()
	cfg.Release = "1.2.3"
	w := newWorldOf(t, cfg, "b", "a")
	if r := w.control(api.VerbPing, api.ControlRequest{}); r.Release != "1.2.3" {
		t.Errorf("ping: %+v", r)
	}
	if r := w.control("dance", api.ControlRequest{}); r.Error == nil || r.Error.Kind != api.KindInvalid {
		t.Errorf("unknown verb: %+v", r)
	}
	if r := w.step(planner.Control{To: 1, Verb: api.VerbPing, Request: api.ControlRequest{V: 2}}).(api.ControlReply); r.Error == nil || r.Error.Kind != api.KindVersion {
		t.Errorf("other version: %+v", r)
	}
	nodes := w.control(api.VerbNodes, api.ControlRequest{}).Nodes
	if len(nodes) != 2 || nodes[0].Node != "a" || nodes[0].State != "ready" || nodes[0].Epoch == 0 {
		t.Errorf("nodes %+v", nodes)
	}
	bad := chain("p")
	bad.Stages[0].Parents = []int{2}
	if r := w.control(api.VerbProfilePut, api.ControlRequest{Body: &bad}); r.Error == nil || r.Error.Kind != api.KindInvalid {
		t.Errorf("cyclic profile: %+v", r)
	}
	w.put(chain("z/1\n"))
	w.put(chain("p"))
	if got := w.control(api.VerbProfiles, api.ControlRequest{}).Listed; len(got) != 2 || got[0].Name != "p" {
		t.Errorf("profiles %+v", got)
	}
	w.restart()
	if got := w.control(api.VerbProfile, api.ControlRequest{Profile: "z/1\n"}).Profiles; len(got) != 1 || !cmp.Equal(got[0], chain("z/1\n")) {
		t.Errorf("profile %+v", got)
	}
	if r := w.control(api.VerbProfileRm, api.ControlRequest{Profile: "p"}); r.Error != nil {
		t.Errorf("rm: %v", r.Error)
	}
	for _, verb := range []api.Verb{api.VerbProfile, api.VerbProfileRm} {
		if r := w.control(verb, api.ControlRequest{Profile: "p"}); r.Error == nil || r.Error.Kind != api.KindNotFound {
			t.Errorf("%s: %+v", verb, r)
		}
	}
}

func TestPlanQueries(t *testing.T) {
	ask := func(w *world, r api.PlanRequest) api.PlanReply {
		r.V = api.Version
		return w.step(planner.PlanQuery{To: 1, Request: r}).(api.PlanReply)
	}
	w := newWorld(t)
	w.put(chain("p"))
	if r := ask(w, api.PlanRequest{Profile: "p", Deadline: 100}); r.Error == nil || r.Error.Kind != api.KindTransient {
		t.Errorf("without a node: %+v", r)
	}
	r := ask(w, api.PlanRequest{Profile: "p", Deadline: 100, Cores: 8})
	if r.Error != nil || r.Verdict != api.VerdictFeasible || len(r.Stages) != 3 || r.Stages[0].Name != "read" || !near(float64(r.Stages[0].Deadline), 89.0/3, 1e-6) {
		t.Errorf("with cores: %+v", r)
	}
	w.hello("a")
	if r := ask(w, api.PlanRequest{Profile: "p", Deadline: 10}); r.Verdict != api.VerdictInfeasible || r.Cores != 4 || r.Earliest <= 10 {
		t.Errorf("infeasible: %+v", r)
	}
	body := diamond("given")
	if r := ask(w, api.PlanRequest{Body: &body, Deadline: 100}); r.Error != nil || r.Stages[0].Start != r.Stages[1].Start {
		t.Errorf("given profile: %+v", r)
	}
	for _, bad := range []api.PlanRequest{{Profile: "none", Deadline: 1}, {Profile: "p", Deadline: -1}, {Profile: "p", Cores: -1}, {Body: &api.Profile{}}} {
		if r := ask(w, bad); r.Error == nil {
			t.Errorf("%+v was taken: %+v", bad, r)
		}
	}
}

// A stage that is ready before its executors gets the deadline that it would
// have had if it had been ready with them, and its first deadline is that one.
func TestAStartNeverCountsAgainstAStage(t *testing.T) {
	prompt, waiting := newWorld(t, "a"), newWorld(t, "a")
	r := registration("p", 100)
	var id api.AppID
	for _, w := range []*world{prompt, waiting} {
		w.put(chain("p"))
		id = w.register(r).AppID
	}
	prompt.to(12)
	prompt.tell(id, r.Submission, ready(12, 1, "read", 3000, "1"))

	waiting.to(2)
	early := ready(2, 1, "read", 3000)
	early.Stage.Tasks = 4
	waiting.tell(id, r.Submission, early)
	if got := waiting.targets(id); len(got) != 0 {
		t.Errorf("targets without an executor: %v", got)
	}
	waiting.to(12)
	bound := api.StageBound{StageKey: early.Stage.StageKey, Bindings: []api.Binding{{Executor: "1", Weight: 4, Tasks: 4}}}
	waiting.tell(id, r.Submission, api.Event{Type: api.EventStageBound, At: 12, Bound: &bound})

	want, got := prompt.target(id, 1, "1"), waiting.target(id, 1, "1")
	if got == nil || !near(float64(got.Remaining), float64(want.Remaining), 1e-6) || got.InitCores != want.InitCores {
		t.Fatalf("target %+v, want that of a stage that is ready now: %+v", got, want)
	}
	// Counted from when it was ready, which includes the wait.
	if d := waiting.app(id).Stages[0]; !near(float64(d.Deadline), float64(want.Remaining)+10, 1e-6) {
		t.Errorf("first deadline %v, want %v after 10 s of waiting", d.Deadline, want.Remaining)
	}
}

// An executor that is lost with the only share of a stage takes its deadline
// along: the one that is started instead gets what is left then.
func TestAReplacementsStartNeverCountsAgainstAStage(t *testing.T) {
	w, id, sub := paced(t)
	before := *w.target(id, 1, "1")
	w.to(10)
	w.tell(id, sub, api.Event{Type: api.EventExecutorGone, At: 10, Executor: &api.ExecutorEvent{ID: "1", Reason: "killed"}})
	w.to(20)
	bound := api.StageBound{StageKey: api.StageKey{Stage: 1}, Bindings: []api.Binding{{Executor: "2", Weight: 4, Tasks: 4}}}
	w.tell(id, sub, api.Event{Type: api.EventStageBound, At: 20, Bound: &bound})
	got := w.target(id, 1, "2")
	if got == nil || got.Remaining <= before.Remaining-18 || got.Remaining >= before.Remaining {
		t.Errorf("target %+v after %+v: want a deadline of its own for what is left", got, before)
	}
}

func TestAnUnknownControlRequestIsRefused(t *testing.T) {
	if r := newWorld(t).control("explode", api.ControlRequest{}); r.Error == nil || r.Error.Kind != api.KindInvalid || !strings.Contains(r.Error.Message, `"explode" is not known`) {
		t.Errorf("%+v", r)
	}
}
