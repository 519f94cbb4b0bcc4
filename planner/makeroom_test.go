package planner_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// crowded is a planner whose node a has room for two executors, and mine, which has one there of
// which nobody has told.
func crowded(t *testing.T) (w *world, mine api.AppID, submission string) {
	t.Helper()
	w = named(t)
	w.memory = map[string]units.Bytes{"a": 3 * units.GiB}
	w.hello("a")
	w.live(6 * time.Second)
	r := registration("mine", 0)
	mine = w.register(r).AppID
	if got := w.planned("a", mine); !slices.Equal(got, []api.ExecutorID{"1"}) {
		t.Fatalf("the node is to run %v", got)
	}
	return w, mine, r.Submission
}

// While two planners serve, each promises the same memory. What runs goes on, and what this one
// has promised and nobody has seen waits until there is room.
func TestWhatNobodyHasSeenGivesWayToWhatWasTakenOver(t *testing.T) {
	w, mine, submission := crowded(t)
	theirs := registration(foreign, 0)
	theirs.AppID, theirs.Executors = foreign, 2
	w.step(planner.Status{Status: w.runs("a", "one", api.OwnerOf(theirs.Submission), foreign, "1", "2")})
	if reply := w.register(theirs); reply.Error != nil || !reply.Recall {
		t.Fatalf("%+v", reply)
	}
	if got := w.planned("a", mine); len(got) > 0 {
		t.Errorf("without room the node is to run %v", got)
	}
	if got := w.planned("a", foreign); !slices.Equal(got, []api.ExecutorID{"1", "2"}) {
		t.Errorf("of what was taken over it is to run %v", got)
	}
	w.tell(mine, submission)
	if got := w.planned("a", mine); len(got) > 0 {
		t.Errorf("while there is no room the node is to run %v", got)
	}
	w.tell(foreign, theirs.Submission, up("1"), up("2"), end(9))
	s := w.runs("a", "one", "", foreign)
	s.Executors = []api.ExecutorStatus{exited(foreign, "1", "stopped"), exited(foreign, "2", "stopped")}
	w.step(planner.Status{Status: s})
	w.tell(mine, submission)
	if got := w.planned("a", mine); !slices.Equal(got, []api.ExecutorID{"2"}) {
		t.Errorf("with room again the node is to run %v", got)
	}
}

// What its node has told of runs, and stays, even where there is no room for both. One that its node
// has no memory to start gives way.
func TestWhatItsNodeHasToldOfStays(t *testing.T) {
	for _, c := range []struct {
		waits bool
		want  []api.ExecutorID
	}{
		{false, []api.ExecutorID{"1"}},
		{true, nil},
	} {
		w, mine, _ := crowded(t)
		theirs := registration(foreign, 0)
		theirs.AppID, theirs.Executors = foreign, 2
		s := w.runs("a", "one", api.OwnerOf(theirs.Submission), foreign, "1", "2")
		s.Executors = append(s.Executors, api.ExecutorStatus{App: mine, ID: "1", State: api.ExecutorStarting, Waiting: c.waits, Quota: api.Unknown})
		w.step(planner.Status{Status: s})
		if reply := w.register(theirs); reply.Error != nil {
			t.Fatalf("%+v", reply)
		}
		if got := w.planned("a", mine); !slices.Equal(got, c.want) {
			t.Errorf("waiting %v: the node is to run %v, want %v", c.waits, got, c.want)
		}
	}
}

// Memory that is kept for a replacement is given back first.
func TestAKeptPlaceGivesWayToWhatWasTakenOver(t *testing.T) {
	w, mine, _ := crowded(t)
	w.memory["a"] = 11 * units.GiB / 2 // For mine and theirs, not for another one.
	w.step(planner.Status{Status: new(w.status("a"))})
	other := registration("other", 0)
	id := w.mustRegister(other).AppID
	theirs := registration(foreign, 0)
	theirs.AppID, theirs.Executors = foreign, 2
	s := w.status("a")
	s.Executors = []api.ExecutorStatus{exited(id, "1", "killed")} // It is replaced when its driver speaks.
	w.step(planner.Status{Status: &s})
	w.step(planner.Status{Status: w.runs("a", "one", api.OwnerOf(theirs.Submission), foreign, "1", "2")})
	if reply := w.register(theirs); reply.Error != nil {
		t.Fatalf("%+v", reply)
	}
	if got := w.planned("a", mine); !slices.Equal(got, []api.ExecutorID{"1"}) {
		t.Errorf("the node is to run %v", got)
	}
	w.tell(id, other.Submission)
	if got := w.planned("a", id); len(got) > 0 {
		t.Errorf("without room the node is to run %v as a replacement", got)
	}
}

// A node tells of an exit once, and to the planner that it follows then. Back with this one, what
// had tasks, or was being started, and is not there has exited.
func TestWhatHasExitedUnderAnotherPlannerIsGone(t *testing.T) {
	for _, c := range []struct {
		name string
		last func(s *api.NodeStatus)
	}{
		{"it had tasks", func(s *api.NodeStatus) { s.Stages = []api.StageStatus{{App: s.Executors[0].App, Executor: "1"}} }},
		{"it was being started", func(s *api.NodeStatus) { s.Executors[0].State = api.ExecutorStarting }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := named(t, "a")
			id := w.mustRegister(registration("mine", 0)).AppID
			last := w.runs("a", "one", "", id, "1")
			c.last(last)
			w.step(planner.Status{Status: last})
			w.pass(time.Second)
			w.step(planner.Status{Status: w.runs("a", "two", "", id)})
			if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"1"}) {
				t.Fatalf("under another planner it counts as %v", got)
			}
			w.pass(time.Second)
			w.step(planner.Status{Status: w.runs("a", "one", "", id)})
			if len(w.heard("executor gone")) != 1 {
				t.Errorf("back, it counts as there: %v", w.said)
			}
		})
	}
}

// A driver's word of an executor may be of one that the other planner has started elsewhere with
// that id. Back with this planner, a node that does not have it is not to start it: a driver takes
// one of each id.
func TestAnIDThatItsDriverHasFromAnotherPlannerIsNotStarted(t *testing.T) {
	w := named(t, "a")
	r := registration("mine", 0)
	id := w.mustRegister(r).AppID
	w.step(planner.Status{Status: w.runs("a", "two", "", id)})
	w.tell(id, r.Submission, up("1"))
	w.pass(time.Second)
	w.step(planner.Status{Status: w.runs("a", "one", "", id)})
	w.tell(id, r.Submission)
	if got := w.planned("a", id); !slices.Equal(got, []api.ExecutorID{"2"}) {
		t.Errorf("the node is to run %v", got)
	}
}
