package planner_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// beside lets another application use so much on node a while the one of run runs,
// and returns the profile that is left.
func beside(t *testing.T, w *world, others units.Work) api.Profile {
	t.Helper()
	other := registration("other", 0)
	other.Submission = fmt.Sprint("other-", w.now)
	neighbour := w.mustRegister(other).AppID
	r := registration("p", 0)
	r.Submission = fmt.Sprint("s-", w.now)
	start := w.now
	id := w.mustRegister(r).AppID
	at := func(s units.Seconds) { w.now = start.Add(s.Duration()) }
	says := func(own, theirs units.Work) {
		s := w.status("a")
		s.Executors = []api.ExecutorStatus{{App: id, ID: "1", State: api.ExecutorRunning, CPU: own, Quota: api.Unknown},
			{App: neighbour, ID: "1", State: api.ExecutorRunning, CPU: theirs, Quota: api.Unknown}}
		s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{}, Executor: "1", CPU: max(0, own-5)}}
		w.step(planner.Status{Status: &s})
	}
	at(3)
	says(5, 50) // What passes until the first task is nobody's company.
	at(4)
	w.tell(id, r.Submission, ready(4, 0, "read", 1000, "1"))
	at(24)
	says(45, 50+others)
	w.tell(id, r.Submission, done(24, 0, 4))
	at(25)
	w.tell(id, r.Submission, end(25))
	w.tell(neighbour, other.Submission, end(25))
	w.pass(2 * time.Second)
	p := w.stored("p")
	if p == nil {
		t.Fatal("no profile")
	}
	return *p
}

// A first run beside others is a profile of its work, and says so; the next one alone
// gives the times. Later ones beside others leave these as they are.
func TestRunsBesideOthersTeachWorkNotTimes(t *testing.T) {
	w := newWorld(t, "a")
	p := beside(t, w, 20) // Of 80 core-seconds.
	if !p.Contended || p.Stages[0].CoreSeconds != 40 || p.ExecutorStart <= 0 {
		t.Fatalf("the first: %+v", p)
	}
	// Judged by its work: 40 core-seconds on four cores, head and tail.
	r := registration("p", 30)
	reply := w.mustRegister(r)
	if reply.Verdict != api.VerdictFeasible || reply.Reason != "deadline 30s is feasible: all cores would finish in 15s" {
		t.Errorf("%s", reply.Reason)
	}
	w.tell(reply.AppID, r.Submission, end(0))
	w.pass(2 * time.Second)
	if p = beside(t, w, 0); p.Contended || p.Stages[0].Duration != 20 {
		t.Fatalf("alone: %+v", p)
	}
	before := p
	if p = beside(t, w, 40); p.Contended || p.Runs != before.Runs+1 || p.Duration != before.Duration || p.Head != before.Head {
		t.Errorf("beside others again: %+v after %+v", p, before)
	}
}

// A branch on a second executor, which has run nothing, teaches what that costs.
func TestAColdExecutorTeachesWhatItCosts(t *testing.T) {
	w := forkOn(t, branches(estimate.BranchesTogether), "a")
	r := registration("p", 160)
	id := w.mustRegister(r).AppID
	w.to(0)
	says := func(first, second, third, join units.Work) {
		s := w.status("a")
		for i, used := range []units.Work{first + join, second, third} {
			x := api.ExecutorID([]string{"1", "2", "3"}[i])
			s.Executors = append(s.Executors, api.ExecutorStatus{App: id, ID: x, State: api.ExecutorRunning, CPU: 6 + used, Quota: api.Unknown})
			s.Stages = append(s.Stages, api.StageStatus{App: id, StageKey: api.StageKey{Stage: i + 1}, Executor: x, CPU: used})
		}
		s.Stages[0].CPU = first
		s.Stages = append(s.Stages, api.StageStatus{App: id, StageKey: api.StageKey{Stage: 4}, Executor: "1", CPU: join})
		w.step(planner.Status{Status: &s})
	}
	w.to(1)
	says(0, 0, 0, 0)
	w.tell(id, r.Submission, ready(1, 1, "one", 8000, "1"), ready(1, 2, "two", 8000, "2"), ready(1, 3, "three", 8000, "3"))
	w.to(100)
	says(80, 86, 84, 0)
	w.tell(id, r.Submission, done(100, 1, 1), done(100, 2, 1), done(100, 3, 1))
	join := ready(100, 4, "join", 8000, "1")
	join.Stage.Parents = []int{1, 2, 3}
	w.tell(id, r.Submission, join)
	w.to(150)
	says(80, 86, 84, 90)
	w.tell(id, r.Submission, done(150, 4, 100))
	w.tell(id, r.Submission, end(150))
	w.pass(2 * time.Second)
	p := w.stored("p")
	for i, want := range []struct{ work, warmup units.Work }{{80, 0}, {80, 6}, {80, 4}, {85, 0}} {
		if s := p.Stages[i]; !near(float64(s.CoreSeconds), float64(want.work), 1e-9) || !near(float64(s.Warmup), float64(want.warmup), 1e-9) {
			t.Errorf("%s: %v core-seconds, %v to warm up, want %+v", s.Signature, s.CoreSeconds, s.Warmup, want)
		}
	}
	if !near(float64(p.ExecutorStart), 6, 1e-9) {
		t.Errorf("start %v", p.ExecutorStart)
	}
}
