package planner_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// A planner restarts after it has taken an application over, while a node is away that runs
// executors of it: what its driver says is no reason to give that node others, and to end these.
func TestAPlannerThatRestartsKnowsWhomItsNodesRun(t *testing.T) {
	w := named(t, "a", "c")
	r := registration("p", 0)
	r.AppID, r.Executors = foreign, 3
	owner := api.OwnerOf(r.Submission)
	w.step(planner.Status{Status: w.runs("c", "one", owner, foreign, "3")})
	for range 6 {
		w.pass(time.Second)
		w.step(planner.Status{Status: w.runs("a", "one", owner, foreign, "2")})
	}
	if reply := w.register(r); reply.Error != nil || !reply.Recall || len(w.heard("node lost")) != 1 {
		t.Fatalf("%+v, %v", reply, w.said)
	}
	w.restart()
	w.said = nil
	w.tell(foreign, r.Submission, up("2"), up("3"))
	w.tell(foreign, r.Submission)
	if len(w.heard("application grown")) > 0 || len(w.planned("c", foreign)) > 0 {
		t.Errorf("before it has spoken its node is to run %v: %v", w.planned("c", foreign), w.said)
	}
	w.helloAs(*w.runs("c", "one", owner, foreign, "3"))
	w.tell(foreign, r.Submission)
	if got := w.planned("c", foreign); !slices.Equal(got, []api.ExecutorID{"3"}) {
		t.Errorf("its node is to run %v", got)
	}
	w.restart() // All that ran there is known.
	w.tell(foreign, r.Submission, gone(9, "3"))
	w.tell(foreign, r.Submission)
	if got := w.planned("c", foreign); !slices.Equal(got, []api.ExecutorID{"4"}) {
		t.Errorf("in place of a lost one its node is to run %v", got)
	}
}

// Where a node runs an executor of which this planner has another one elsewhere, its Plan leaves
// the application out, after a restart too.
func TestAPlannerThatRestartsLeavesOutWhatItDoesNotKnow(t *testing.T) {
	w := named(t, "a", "b")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	w.step(planner.Status{Status: w.runs("a", "one", api.OwnerOf(r.Submission), id, "1", "2")})
	if got := w.planned("a", id); len(got) > 0 {
		t.Fatalf("its node is to run %v", got)
	}
	w.restart()
	w.tell(id, r.Submission, gone(1, "1"))
	w.tell(id, r.Submission)
	if got := w.planned("a", id); len(got) > 0 {
		t.Errorf("before it has spoken its node is to run %v: %v", got, w.said)
	}
}

// What a node that has not spoken ran before is no answer to a driver that registers: it is to ask
// again, whoever's those were.
func TestADriverThatRegistersBeforeItsNodeHasSpokenIsToAskAgain(t *testing.T) {
	for _, follows := range []string{"one", "another"} {
		w := named(t, "a", "b")
		r := registration("p", 0)
		owner := ""
		if follows == "one" {
			owner = api.OwnerOf(r.Submission)
		}
		w.step(planner.Status{Status: w.runs("a", follows, owner, foreign, "2")})
		w.restart()
		if r.AppID = foreign; follows == "one" {
			r.AppID = "" // Its first registration has had no answer.
		}
		if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindTransient {
			t.Errorf("on a node that followed %s: %+v", follows, reply)
		}
	}
}

// What its node has seen run is not given up with the node: its driver has told of it as of the one
// that the planner had of that id.
func TestAnExecutorThatRanIsNotGivenUpWithItsNode(t *testing.T) {
	w, r := takenOver(t)
	w.restart()
	w.hello("b")
	for range 8 {
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status("b"))})
		w.tell(foreign, r.Submission)
	}
	if lost := w.heard("executor gone"); len(lost) > 0 {
		t.Errorf("while its node is away it counts as gone: %v", lost)
	}
	w.helloAs(*w.runs("a", "one", "", foreign, "2"))
	if got := w.planned("a", foreign); !slices.Equal(got, []api.ExecutorID{"2"}) {
		t.Errorf("its node, back, is to run %v", got)
	}
}

// A node that is lost as it starts an executor may have started it. When it is back and the executor
// is there, that one stays, and none is started in its place.
func TestAnExecutorThatWasGivenUpAndIsThereStays(t *testing.T) {
	for _, state := range []api.ExecutorState{api.ExecutorStarting, api.ExecutorRunning} {
		t.Run(string(state), func(t *testing.T) { givenUpAndThere(t, state) })
	}
}

func givenUpAndThere(t *testing.T, state api.ExecutorState) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	id := w.register(r).AppID
	for range 8 {
		w.pass(time.Second)
		w.tell(id, r.Submission)
	}
	if got := w.counted("a", id); len(got) > 0 {
		t.Fatalf("on a lost node %v", got)
	}
	w.register(registration("q", 0)) // What else concerns the node makes no Plan that would stop it.
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"1"}) {
		t.Fatalf("before the node tells what it runs it is told to run %v", got)
	}
	s := w.status("a")
	s.Executors = []api.ExecutorStatus{{App: id, ID: "1", State: state, Quota: api.Unknown}}
	w.helloAs(s)
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"1"}) {
		t.Errorf("its node, back, is to run %v", got)
	}
	w.tell(id, r.Submission)
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"1"}) {
		t.Errorf("when its driver has spoken it is to run %v", got)
	}
}

// What a planner that has restarted promised on a node before that was back goes for an executor
// that is there, where the node holds one: nobody has seen the other.
func TestAnExecutorThatIsThereHasTheMemoryOfOneThatWasPromised(t *testing.T) {
	w := newWorld(t)
	w.memory["a"] = 2 * units.GiB
	w.hello("a")
	r := registration("p", 0)
	id := w.register(r).AppID
	for range 8 {
		w.pass(time.Second)
		w.tell(id, r.Submission)
	}
	w.restart()
	w.tell(id, r.Submission)
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"2"}) {
		t.Fatalf("a node of which nothing is known yet is to run %v", got)
	}
	for range 8 {
		w.pass(time.Second)
	}
	s := w.status("a")
	s.Executors = []api.ExecutorStatus{{App: id, ID: "1", State: api.ExecutorStarting, Quota: api.Unknown}}
	w.helloAs(s)
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"1"}) {
		t.Errorf("its node, back, is to run %v", got)
	}
}
