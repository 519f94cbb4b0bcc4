package planner_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// runs is a status of a node that follows the planner with that store and runs executors of an
// application; where it is named "one", as orphans of that owner unless owner is "".
func (w *world) runs(node, follows, owner string, id api.AppID, executors ...api.ExecutorID) *api.NodeStatus {
	s := w.status(node)
	if s.Planner = follows; follows != "one" {
		s.Epoch = 7000
	}
	for _, x := range executors {
		s.Executors = append(s.Executors, api.ExecutorStatus{App: id, ID: x, State: api.ExecutorRunning, Quota: api.Unknown})
	}
	if owner != "" {
		s.Orphans = []api.Orphan{{App: id, Owner: owner}}
	}
	return &s
}

// takenOver is a planner that has taken "theirs" over with its executor 2 on node a, and knows
// node b.
func takenOver(t *testing.T) (*world, api.RegisterRequest) {
	w := named(t, "a", "b")
	r := registration("p", 0)
	r.AppID, r.Executors = foreign, 3
	w.step(planner.Status{Status: w.runs("a", "one", api.OwnerOf(r.Submission), foreign, "2")})
	w.live(6 * time.Second)
	w.step(planner.Status{Status: w.runs("a", "one", api.OwnerOf(r.Submission), foreign, "2")})
	if reply := w.register(r); reply.Error != nil || reply.AppID != foreign || !reply.Recall {
		t.Fatalf("%+v", reply)
	}
	return w, r
}

// An executor of which the driver alone tells, for its node is away, is none that has ended: the
// application is not given up before it may have been away for long, nobody gets its id, and
// when its node is back, and lost again, it is the driver's still.
func TestAnExecutorOfWhichTheDriverAloneTells(t *testing.T) {
	w, r := takenOver(t)
	w.tell(foreign, r.Submission, up("2"), up("3"))
	for _, x := range w.directives[foreign].Executors {
		if x.ID == "3" || x.ID == "1" {
			t.Errorf("executor %s is given anew: %+v", x.ID, w.directives[foreign].Executors)
		}
	}
	w.tell(foreign, r.Submission, gone(9, "2"))
	for range 180 {
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status("a"))})
	}
	if d := w.app(foreign); d.State != api.AppRunning {
		t.Fatalf("%s: %v", d.State, d.Notices)
	}
	w.tell(foreign, r.Submission)
	w.helloAs(*w.runs("c", "one", api.OwnerOf(r.Submission), foreign, "3"))
	if got := w.planned("c", foreign); !slices.Equal(got, []api.ExecutorID{"3"}) {
		t.Fatalf("the node is to run %v", got)
	}
	for range 15 {
		w.pass(time.Second)
		w.tell(foreign, r.Submission)
	}
	w.step(planner.Status{Status: w.runs("c", "one", "", foreign, "3")})
	if got := w.planned("c", foreign); !slices.Equal(got, []api.ExecutorID{"3"}) {
		t.Errorf("after it was lost the node is to run %v", got)
	}
}

// What a driver has lost of which it alone has told is no more.
func TestAnExecutorOfWhichTheDriverAloneToldIsLost(t *testing.T) {
	w, r := takenOver(t)
	w.tell(foreign, r.Submission, up("2"), up("3"), gone(9, "3"), gone(9, "2"))
	w.live(2 * time.Minute)
	if d := w.app(foreign); d.State != api.AppFailed {
		t.Errorf("%s: %v", d.State, d.Notices)
	}
}

// An executor on a lost node is given up when its driver has told all that it knows, and that was
// none of it.
func TestAnExecutorOnALostNodeIsGivenUpByItsDriversWord(t *testing.T) {
	w := newWorld(t, "a", "b")
	r := registration("p", 0)
	id := w.register(r).AppID
	for range 12 {
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status("a"))})
	}
	if n := len(w.directives[id].Executors); n != 2 || len(w.heard("node lost")) != 1 {
		t.Fatalf("%d executors, %v", n, w.said)
	}
	if reply := w.send(id, r.Submission, up("1")); len(reply.Directive.Executors) != 2 {
		t.Errorf("with more to tell: %+v", reply.Directive)
	}
	if reply := w.send(id, r.Submission); slices.ContainsFunc(reply.Directive.Executors, func(x api.DirectiveExecutor) bool { return x.ID == "2" }) {
		t.Errorf("with all told: %+v", reply.Directive)
	}
}

// One that has run tasks its driver has, though it has told of none by that id since: of two
// executors with one id it may have lost the other.
func TestAnExecutorOnALostNodeThatHasRunTasksIsItsDrivers(t *testing.T) {
	w := named(t, "a", "b")
	r := registration("p", 0)
	id := w.register(r).AppID
	w.pass(time.Second)
	s := w.runs("b", "one", "", id, "2")
	s.Stages = []api.StageStatus{{App: id, Executor: "2"}}
	w.step(planner.Status{Status: s})
	for range 12 {
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status("a"))})
	}
	if len(w.heard("node lost")) != 1 {
		t.Fatalf("%v", w.said)
	}
	w.tell(id, r.Submission, up("1"))
	w.tell(id, r.Submission)
	if got := w.planned("b", id); !slices.Equal(got, []api.ExecutorID{"2"}) || len(w.heard("executor replaced")) > 0 {
		t.Errorf("its node is to run %v; %v", got, w.said)
	}
}

// An executor on a node that drains is taken over: it may have tasks though its driver has not
// told of it, and is asked to leave as any other.
func TestOneThatIsTakenOverOnADrainingNodeLeavesInItsTime(t *testing.T) {
	for _, state := range []api.ExecutorState{api.ExecutorRunning, api.ExecutorStarting} {
		w, r := takenOver(t)
		w.tell(foreign, r.Submission, up("2"))
		w.step(planner.Status{Status: w.runs("a", "one", "", foreign, "2")})
		w.hello("c")
		w.drain("c")
		s := w.runs("c", "one", api.OwnerOf(r.Submission), foreign, "3")
		s.Executors[0].State = state
		w.step(planner.Status{Status: s})
		w.pass(time.Second)
		if got := w.planned("c", foreign); !slices.Equal(got, []api.ExecutorID{"3"}) {
			t.Fatalf("%s: the node is to run %v", state, got)
		}
		left := func(x api.DirectiveExecutor) bool { return x.ID == "3" && x.Leaving }
		if x := w.directives[foreign].Executors; !slices.ContainsFunc(x, left) {
			t.Errorf("%s: the driver is told %+v", state, x)
		}
	}
}

// While two planners serve, each may start an executor 1 for one driver. What that says of the
// other one's says nothing of this one's, which its node still starts; the node tells of its exit.
func TestADriverLosesAnotherPlannersExecutor(t *testing.T) {
	w := newWorld(t, "a", "b")
	r := registration("p", 0)
	id := w.register(r).AppID
	says := func(x api.ExecutorStatus) {
		w.pass(time.Second)
		s := w.status("a")
		s.Executors = []api.ExecutorStatus{x}
		w.step(planner.Status{Status: &s})
	}
	starts := api.ExecutorStatus{App: id, ID: "1", State: api.ExecutorStarting, Quota: api.Unknown}
	says(starts)
	w.tell(id, r.Submission, up("1"), gone(2, "1"))
	w.tell(id, r.Submission)
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"1"}) || len(w.heard("executor replaced")) > 0 {
		t.Fatalf("the node is to run %v", got)
	}
	for range 8 { // Its driver has it not: with its node it is gone.
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status("b"))})
		w.tell(id, r.Submission)
	}
	if got := w.counted("a", id); len(got) > 0 {
		t.Errorf("on a lost node it is kept: %v", got)
	}
	w = newWorld(t, "a")
	id = w.register(r).AppID
	starts.App = id
	says(starts)
	w.tell(id, r.Submission, gone(2, "1"))
	says(exited(id, "1", "exit status 1"))
	w.tell(id, r.Submission)
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"2"}) {
		t.Errorf("after its exit the node is to run %v", got)
	}
}

// A driver that has lost an executor may have it again: its node, which had not heard of that,
// has started it anew. One that has exited by its node's word has no second start.
func TestAnExecutorThatComesBack(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	w.tell(id, r.Submission, gone(5, "1"), up("1"))
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"1"}) {
		t.Errorf("the node is to run %v", got)
	}
	s := w.status("a")
	s.Executors = []api.ExecutorStatus{{App: id, ID: "1", State: api.ExecutorExited, Exit: "killed", Quota: api.Unknown}}
	w.step(planner.Status{Status: &s})
	w.tell(id, r.Submission, up("1"))
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"2"}) {
		t.Errorf("after its exit the node is to run %v", got)
	}
}

// A node of which this planner has been succeeded runs executors of this planner's application
// that another one has started. Its Plan leaves that out until they are taken over: it would end
// what it does not name.
func TestAPlanLeavesOutWhatItDoesNotKnow(t *testing.T) {
	w := named(t, "a")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	w.live(6*time.Second, id)
	w.helloAs(*w.runs("b", "another", "", id, "5"))
	if p := w.plans["b"]; p.Succeeds != "another" || len(p.Apps)+len(p.Over) > 0 {
		t.Fatalf("a node of another planner is told %+v", p)
	}
	w.step(planner.Status{Status: w.runs("b", "one", "somebody else's", id, "5")})
	if p := w.plans["b"]; len(p.Apps)+len(p.Over) > 0 {
		t.Errorf("while they are somebody else's the node is told %+v", p)
	}
	w.step(planner.Status{Status: w.runs("b", "one", api.OwnerOf(r.Submission), id, "5")})
	if got := w.planned("b", id); !slices.Equal(got, []api.ExecutorID{"5"}) {
		t.Errorf("the node is to run %v", got)
	}
	if d := w.app(id); d.State != api.AppRunning || d.Pacing != "unpaced" || len(d.Executors) < 2 {
		t.Errorf("%s %s, executors %+v", d.State, d.Pacing, d.Executors)
	}
}

// Numbers of events are between a driver and the planner that answered its last registration.
// One that comes from another planner registers, recalls what is true, and goes on unpaced.
func TestADriverThatComesFromAnotherPlannerRecalls(t *testing.T) {
	w := named(t, "a")
	w.put(chain("p"))
	r := registration("p", 2000)
	first := w.mustRegister(r)
	id := first.AppID
	if first.Planner != "one" {
		t.Errorf("the planner is %q", first.Planner)
	}
	w.tell(id, r.Submission, ready(1, 0, "read", 1000, "1"))
	events := api.Events{V: api.Version, AppID: id, Submission: r.Submission, Planner: "two", Events: []api.Event{{Seq: 9, Type: api.EventStageDone, Done: done(5, 0, 2).Done}}}
	if reply := w.step(planner.DriverEvents{To: 1, Batch: events}).(api.EventsReply); api.KindOf(reply.Error) != api.KindNotFound {
		t.Errorf("events for another planner: %+v", reply)
	}
	r.AppID, r.Planner = id, "two"
	reply := w.register(r)
	if reply.Error != nil || reply.AppID != id || !reply.Recall || reply.AckedSeq != 0 || reply.Directive.Gated || len(w.targets(id)) != 0 {
		t.Fatalf("%+v, targets %v", reply, w.targets(id))
	}
	events.Planner, events.Events = "one", []api.Event{up("1"), ready(7, 1, "join", 1000, "1")}
	events.Events[0].Seq, events.Events[1].Seq = 20, 21
	if got := w.step(planner.DriverEvents{To: 1, Batch: events}).(api.EventsReply); got.Error != nil || got.AckedSeq != 21 {
		t.Errorf("what it recalls: %+v", got)
	}
	w.restart()
	if d := w.app(id); len(d.Stages) != 4 || d.Stages[0].Stage != 1 || d.Stages[1].State != "coming" {
		t.Errorf("stages %+v, want what was recalled", d.Stages)
	}
	if again := w.register(api.RegisterRequest{V: r.V, Submission: r.Submission, Name: r.Name, Launch: r.Launch, AppID: id, Planner: "one"}); again.Recall {
		t.Error("it is to recall what it has told")
	}
}

// An application keeps the id that a planner without state has not given, and an executor gets
// none of the ids that its driver has seen.
func TestAnApplicationKeepsItsID(t *testing.T) {
	w := named(t, "a")
	w.live(6 * time.Second)
	waits := registration("waits", 0)
	waits.AppID = elsewhere(waits, 1)
	if reply := w.register(waits); reply.Error != nil || reply.AppID != waits.AppID || reply.Recall || len(reply.Directive.Executors) != 1 {
		t.Errorf("one without executors: %+v", reply)
	}
	works := registration("works", 0)
	works.AppID, works.Executors = elsewhere(works, 2), 7
	reply := w.register(works)
	if reply.Error != nil || reply.AppID != works.AppID || !reply.Recall {
		t.Fatalf("one with executors: %+v", reply)
	}
	w.tell(works.AppID, works.Submission, up("6"))
	if got := w.planned("a", works.AppID); !slices.Equal(got, []api.ExecutorID{"8"}) {
		t.Errorf("the node is to run %v", got)
	}
	other := registration("other", 0)
	other.AppID = waits.AppID
	if reply := w.register(other); reply.Error != nil || reply.AppID == waits.AppID {
		t.Errorf("another submission by that id: %+v", reply)
	}
}

// What a driver says its application is called is believed where the id itself or a node says that it
// is its own: else the application is as any other one, and whose the id is goes on as it was.
func TestOnlyTheOwnerIsBelievedAnID(t *testing.T) {
	w := named(t, "a", "b", "c", "d")
	w.live(6 * time.Second)
	victim := registration("victim", 0)
	runs := w.mustRegister(victim)
	lost, ended := registration("lost", 0), registration("ended", 0)
	over := w.mustRegister(ended).AppID
	w.tell(over, ended.Submission, end(5))
	intruder := api.Principal{Kind: api.PrincipalUser, Name: "intruder", Role: api.RoleSubmit}
	given := map[api.AppID]bool{}
	for i, id := range []api.AppID{runs.AppID, over, elsewhere(lost, 1), foreign, "app-20260101000000-0001"} {
		for _, executors := range []int{0, 7} {
			r := registration(fmt.Sprint("intruder", i, executors), 0)
			r.AppID, r.Executors, r.Mode = id, executors, api.ModeOff
			reply := w.step(planner.Register{To: 1, By: intruder, Request: r}).(api.RegisterReply)
			if reply.Error != nil || reply.AppID == id || given[reply.AppID] || !reply.AppID.Of(r.Submission) {
				t.Errorf("%s with %d executors: %+v", id, executors, reply)
			}
			given[reply.AppID] = true
			w.tell(reply.AppID, r.Submission, end(6))
		}
	}
	for _, id := range []api.AppID{"*", ">", "a/b", "user-ops", "node-a", "planner", "app-1", "class-data"} {
		r := registration("intruder "+string(id), 0)
		r.AppID = id
		if reply := w.step(planner.Register{To: 1, By: intruder, Request: r}).(api.RegisterReply); api.KindOf(reply.Error) != api.KindInvalid {
			t.Errorf("%s: %+v", id, reply)
		}
	}
	if again := w.register(victim); again.Error != nil || again.AppID != runs.AppID {
		t.Errorf("the one that runs: %+v", again)
	}
	// A node makes no ids either.
	friend := registration("friend", 0)
	w.step(planner.Status{Status: w.runs("b", "one", api.OwnerOf(friend.Submission), "user-ops", "2")})
	if reply := w.register(friend); reply.AppID == "user-ops" {
		t.Errorf("what a node calls it: %+v", reply)
	}
	lost.AppID = elsewhere(lost, 1)
	if reply := w.register(lost); reply.Error != nil || reply.AppID != lost.AppID {
		t.Errorf("its owner: %+v", reply)
	}
}

// A first registration that two planners have answered is known to one of them by an id that its
// driver does not go by: that application is over.
func TestADriverGoesByAnotherPlannersWord(t *testing.T) {
	w := named(t, "a")
	w.live(6 * time.Second)
	r := registration("p", 0)
	mine := w.mustRegister(r).AppID
	r.AppID = elsewhere(r, 1)
	if reply := w.register(r); reply.Error != nil || reply.AppID != r.AppID {
		t.Fatalf("%+v", reply)
	}
	w.live(3*time.Second, r.AppID)
	if d := w.app(mine); d.State != api.AppFailed {
		t.Errorf("it is %s", d.State)
	}
	if again := w.register(r); again.AppID != r.AppID {
		t.Errorf("%+v", again)
	}
}

// A driver whose first registration was taken by a planner that is gone, and never answered, is
// the application that has executors by then: it gets no second id beside them.
func TestAnUnansweredRegistrationHasItsExecutors(t *testing.T) {
	w := named(t, "b")
	r := registration("p", 100)
	w.helloAs(*w.stranger("a", "", api.OwnerOf(r.Submission), api.ExecutorRunning))
	if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindTransient {
		t.Errorf("before all nodes could say what they run: %+v", reply)
	}
	for range 6 {
		w.pass(time.Second)
		w.step(planner.Status{Status: w.stranger("a", "", api.OwnerOf(r.Submission), api.ExecutorRunning)})
		w.step(planner.Status{Status: new(w.status("b"))})
	}
	if reply := w.register(registration("q", 0)); reply.Error != nil || reply.AppID == foreign {
		t.Errorf("another submission: %+v", reply)
	}
	reply := w.register(r)
	if reply.Error != nil || reply.AppID != foreign || len(reply.Directive.Executors) == 0 || reply.Directive.Executors[0].ID != "2" {
		t.Fatalf("%+v", reply)
	}
	if got := w.planned("a", foreign); !slices.Contains(got, "2") {
		t.Errorf("its node is to run %v", got)
	}
	if again := w.register(r); again.Error != nil || again.AppID != foreign {
		t.Errorf("the same again: %+v", again)
	}
}

// What waits here may have been started by another planner: while a node runs executors of it, its
// driver's silence alone does not end it.
func TestOneThatWaitsAndRunsElsewhereIsNotGivenUp(t *testing.T) {
	executor := func(owner string) func(*world, api.AppID) *api.NodeStatus {
		return func(w *world, waits api.AppID) *api.NodeStatus { return w.runs("b", "one", owner, waits, "1") }
	}
	for _, c := range []struct {
		says func(w *world, waits api.AppID) *api.NodeStatus
		want api.AppState
	}{
		{executor(api.OwnerOf(large("second").Submission)), api.AppQueued},
		{executor(api.OwnerOf("another's")), api.AppFailed},
		// What a node will run by the word of another planner nobody knows.
		{func(w *world, _ api.AppID) *api.NodeStatus {
			s := w.runs("b", "two", "", "")
			s.Memory = units.GiB // It does not start there.
			return s
		}, api.AppQueued},
	} {
		w := named(t, "a")
		w.live(6 * time.Second)
		one := w.mustRegister(large("first")).AppID
		waits := w.mustRegister(large("second")).AppID
		for range 70 {
			w.pass(time.Second)
			w.resend(one, w.app(one).Submission)
			w.step(planner.Status{Status: c.says(w, waits)})
		}
		if got := w.app(waits).State; got != c.want {
			t.Errorf("with a driver that is silent it is %s, want %s", got, c.want)
		}
	}
}
