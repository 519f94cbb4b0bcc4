package planner_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// fork is a profile of three stages side by side and one that joins them: 20 s of
// four cores each, as one executor has run them.
func fork(name string) api.Profile {
	p := chain(name)
	p.Cores, p.Head, p.Tail = 4, 0, 0
	p.Stages = nil
	for i, signature := range []string{"one", "two", "three", "join"} {
		duration := units.Seconds(20)
		if i < 3 {
			duration *= units.Seconds(i + 1) // One after the other, all ready at once.
		}
		p.Stages = append(p.Stages, api.ProfileStage{ID: i, Name: signature, Signature: signature, Parents: []int{}, Tasks: 8, Duration: duration,
			Records: 8000, CoreSeconds: 80, NominalRate: 100, LongestTask: 1})
	}
	p.Stages[3].Parents = []int{0, 1, 2}
	return p
}

func forkOn(t tb, change func(*planner.Config), nodes ...string) *world {
	t.Helper()
	cfg := planner.Default()
	cfg.Alpha, cfg.Aim, cfg.Margin = 1, 0, 0
	change(&cfg)
	w := newWorldOf(t, cfg, nodes...)
	w.put(fork("p"))
	return w
}

func branches(how string) func(*planner.Config) {
	return func(c *planner.Config) { c.Branches = how }
}

// unseated is a stage that is ready and finds no executor.
func unseated(at units.Seconds, stage int, signature string) api.Event {
	ev := ready(at, stage, signature, 8000)
	ev.Stage.Tasks = 8
	return ev
}

// boundTo is a stage's new bindings.
func boundTo(at units.Seconds, stage int, executors ...api.ExecutorID) api.Event {
	b := &api.StageBound{StageKey: api.StageKey{Stage: stage}, Bindings: []api.Binding{}}
	for _, id := range executors {
		b.Bindings = append(b.Bindings, api.Binding{Executor: id, Weight: 4, Tasks: 4})
	}
	return api.Event{Type: api.EventStageBound, At: at, Bound: b}
}

// ends checks when the target of a stage on an executor ends, on the deadline clock.
func (w *world) ends(id api.AppID, stage int, executor api.ExecutorID, want units.Seconds) {
	w.Helper()
	got := w.target(id, stage, executor)
	if got == nil {
		w.Errorf("stage %d has no target on %s", stage, executor)
		return
	}
	if at := w.app(id).Duration + got.Remaining; !near(float64(at), float64(want), 1e-3) {
		w.Errorf("stage %d on %s ends at %v, want %v", stage, executor, at, want)
	}
}

// planner.branches says how many executors an application has on a node, auto by
// what the deadline leaves.
func TestBranchesDecideTheExecutorsOnANode(t *testing.T) {
	for _, c := range []struct {
		branches string
		pool     int
		deadline units.Seconds
		mode     api.Mode
		want     int
	}{
		{"together", 4, 400, "", 3}, {"together", 2, 400, "", 2}, {"together", 4, 0, "", 1},
		{"in-turn", 4, 400, "", 1}, {"in-turn", 4, 10, "", 1}, {"in-turn", 4, 400, api.ModeObserve, 3},
		// All cores take 80 s.
		{"auto", 4, 400, "", 1}, {"auto", 4, 90, "", 1}, {"auto", 4, 85, "", 1}, {"auto", 4, 82, "", 1}, {"auto", 4, 10, "", 1},
		{"auto", 4, 0, "", 1}, {"auto", 4, 400, api.ModeObserve, 3},
	} {
		w := forkOn(t, func(c2 *planner.Config) { c2.Branches, c2.MaxPool = c.branches, c.pool }, "a", "b")
		for _, n := range []string{"a", "b"} {
			s := w.status(n)
			s.Offered, s.Total = 2, 2
			w.step(planner.Status{Status: &s})
		}
		r := registration("p", c.deadline)
		r.Mode = c.mode
		reply := w.mustRegister(r)
		if reply.Executors != 2*c.want {
			t.Errorf("%+v: %d executors, want %d on each of two nodes", c, reply.Executors, c.want)
		}
		if turns := strings.Contains(reply.Reason, "take turns on"); turns != (c.want < 3 && c.deadline > 82) {
			t.Errorf("%+v: %s", c, reply.Reason)
		}
		// A node that joins gets as many.
		w.hello("c")
		w.tell(reply.AppID, r.Submission)
		if got := len(w.directives[reply.AppID].Executors); got != 3*c.want {
			t.Errorf("%+v: %d executors after a node came, want %d", c, got, 3*c.want)
		}
	}
}

// With one executor stages take turns: each gets its part of the time when it gets
// the executor, of what is left then; those that wait have no target but a deadline,
// and their time is kept for them.
func TestAStageWithoutAnExecutorWaitsItsTurn(t *testing.T) {
	w := forkOn(t, branches(estimate.BranchesInTurn), "a")
	r := registration("p", 160)
	id := w.mustRegister(r).AppID
	w.to(0)
	w.tell(id, r.Submission, ready(0, 1, "one", 8000, "1"), unseated(0, 2, "two"), unseated(0, 3, "three"))
	w.ends(id, 1, "1", 40)
	if got := w.targets(id); len(got) != 1 {
		t.Fatalf("targets %v", got)
	}
	for i, want := range []units.Seconds{40, 80, 120} {
		if got := w.app(id).Stages[i].Deadline; !near(float64(got), float64(want), 1e-3) {
			t.Errorf("stage %d is to end after %v, want %v", i, got, want)
		}
	}
	// The first is early, so the others have more.
	w.to(25)
	w.tell(id, r.Submission, done(25, 1, 0), boundTo(25, 2, "1"))
	w.ends(id, 2, "1", 25+45)
	// The second overruns, the third is not forgotten: it and the join share the rest.
	w.to(100)
	w.tell(id, r.Submission, done(100, 2, 25), boundTo(100, 3, "1"))
	w.ends(id, 3, "1", 130)
	w.to(140)
	w.tell(id, r.Submission, done(140, 3, 100), ready(140, 4, "join", 8000, "1"))
	w.ends(id, 4, "1", 160)
	if got := w.target(id, 4, "1"); !got.Last {
		t.Error("the join is not the last stage")
	}
	w.to(159)
	w.tell(id, r.Submission, done(159, 4, 140), end(159))
	w.pass(2e9)
	if d := w.app(id); d.State != api.AppFinished || len(d.Stages) != 4 {
		t.Errorf("ended as %+v", d)
	}
}

// With two executors for three branches the one that waits gets the next one freed;
// the other's set points have its time in them already and stay.
func TestTheNextExecutorFreedGoesToWhoWaits(t *testing.T) {
	w := forkOn(t, func(c *planner.Config) { c.Branches, c.MaxPool = estimate.BranchesTogether, 2 }, "a")
	r := registration("p", 160)
	id := w.mustRegister(r).AppID
	w.to(0)
	w.tell(id, r.Submission, ready(0, 1, "one", 8000, "1"), ready(0, 2, "two", 8000, "2"), unseated(0, 3, "three"))
	w.ends(id, 1, "1", 80)
	w.ends(id, 2, "2", 80)
	rev := w.target(id, 2, "2").Rev
	w.to(30)
	w.tell(id, r.Submission, done(30, 1, 0), boundTo(30, 3, "1"))
	if got := w.target(id, 2, "2"); got == nil || got.Rev != rev {
		t.Errorf("the other stage's target is %+v, want revision %d", got, rev)
	}
	// Nobody has said how far the second is: of 130 s, two of three parts.
	w.ends(id, 3, "1", 30+130*2.0/3)
}

// Two stages at the end that nothing joins: the one that goes first is not the last.
func TestWhoGoesFirstIsNotTheLast(t *testing.T) {
	p := fork("p")
	p.Stages = p.Stages[:2]
	for how, first := range map[string]bool{estimate.BranchesInTurn: false, estimate.BranchesTogether: true} {
		w := forkOn(t, branches(how), "a")
		w.put(p)
		r := registration("p", 100)
		id := w.mustRegister(r).AppID
		w.to(0)
		second := unseated(0, 2, "two")
		if first {
			second = ready(0, 2, "two", 8000, "2")
		}
		w.tell(id, r.Submission, ready(0, 1, "one", 8000, "1"), second)
		w.control(api.VerbDeadline, api.ControlRequest{App: id, Deadline: 120})
		if got := w.target(id, 1, "1"); got == nil || got.Last != first {
			t.Errorf("%s: %+v", how, got)
		}
		w.to(50)
		w.tell(id, r.Submission, done(50, 1, 0), boundTo(50, 2, "1"))
		if got := w.target(id, 2, "1"); got == nil || !got.Last {
			t.Errorf("%s, the second: %+v", how, got)
		}
	}
}

// A new deadline is divided among those that have executors and those that wait, in
// the order in which they will run.
func TestANewDeadlineCountsWhoWaits(t *testing.T) {
	w := forkOn(t, branches(estimate.BranchesInTurn), "a")
	r := registration("p", 160)
	id := w.mustRegister(r).AppID
	w.to(0)
	// The driver has given the executor to the second one, whatever the ids.
	w.tell(id, r.Submission, unseated(0, 1, "one"), ready(0, 2, "two", 8000, "1"), unseated(0, 3, "three"))
	w.ends(id, 2, "1", 40)
	w.control(api.VerbDeadline, api.ControlRequest{App: id, Deadline: 200})
	w.ends(id, 2, "1", 50)
	w.to(50)
	w.tell(id, r.Submission, done(50, 2, 0), boundTo(50, 1, "1"))
	w.ends(id, 1, "1", 100)
}

// A lost executor makes its stage wait; the replacement goes to it, with the time
// that is left. If no more are started the stages take turns on those there are.
func TestAfterALossStagesTakeTurnsOnWhatThereIs(t *testing.T) {
	gone := func(id api.ExecutorID) api.Event {
		return api.Event{Type: api.EventExecutorGone, Executor: &api.ExecutorEvent{ID: id, Reason: "lost"}}
	}
	up := func(id api.ExecutorID) api.Event {
		return api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: id}}
	}
	w := forkOn(t, branches(estimate.BranchesInTurn), "a")
	r := registration("p", 160)
	id := w.mustRegister(r).AppID
	w.to(0)
	w.tell(id, r.Submission, ready(0, 1, "one", 8000, "1"), unseated(0, 2, "two"), unseated(0, 3, "three"))
	w.to(20)
	w.tell(id, r.Submission, gone("1"), boundTo(20, 1))
	if got := w.targets(id); len(got) != 0 {
		t.Errorf("without an executor: %v", got)
	}
	w.to(24)
	w.tell(id, r.Submission, up("2"), boundTo(24, 1, "2"))
	w.ends(id, 1, "2", 24+136.0/4)

	w = forkOn(t, func(c *planner.Config) { c.Branches, c.MaxPool, c.Replacing.Most = estimate.BranchesTogether, 2, 0 }, "a")
	id = w.mustRegister(r).AppID
	w.to(0)
	w.tell(id, r.Submission, ready(0, 1, "one", 8000, "1"), ready(0, 2, "two", 8000, "2"), unseated(0, 3, "three"))
	w.to(40)
	w.tell(id, r.Submission, gone("2"), boundTo(40, 2))
	w.tell(id, r.Submission)
	w.to(70)
	w.tell(id, r.Submission, done(70, 1, 0), boundTo(70, 2, "1"))
	// Two, three and the join, one after the other.
	w.ends(id, 2, "1", 100)
}

// A stage that is skipped is not waited for: its time is the others'.
func TestASkippedStageGivesItsTurnUp(t *testing.T) {
	w := forkOn(t, branches(estimate.BranchesInTurn), "a")
	r := registration("p", 160)
	id := w.mustRegister(r).AppID
	w.to(0)
	w.tell(id, r.Submission, ready(0, 1, "one", 8000, "1"), unseated(0, 3, "three"))
	w.to(40)
	w.tell(id, r.Submission, done(40, 1, 0), boundTo(40, 3, "1"))
	w.to(70)
	w.tell(id, r.Submission, done(70, 3, 40), ready(70, 4, "join", 8000, "1"))
	w.ends(id, 4, "1", 160)
}

// A planner that restarts knows who waits.
func TestARestartKeepsTheTurns(t *testing.T) {
	w := forkOn(t, branches(estimate.BranchesInTurn), "a")
	r := registration("p", 160)
	id := w.mustRegister(r).AppID
	w.to(0)
	w.tell(id, r.Submission, ready(0, 1, "one", 8000, "1"), unseated(0, 2, "two"), unseated(0, 3, "three"))
	w.restart()
	w.hello("a")
	w.to(40)
	w.tell(id, r.Submission, done(40, 1, 0), boundTo(40, 2, "1"))
	w.ends(id, 2, "1", 80)
}

// Whatever the branches take, and whatever the number of executors, who has one keeps
// it, everybody gets a turn, and no two targets are on one executor.
func TestEverybodyGetsATurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		executors := rapid.IntRange(1, 3).Draw(t, "executors")
		w := forkOn(t, func(c *planner.Config) { c.Branches, c.MaxPool = estimate.BranchesTogether, executors }, "a")
		r := registration("p", 160)
		id := w.mustRegister(r).AppID
		free, queue, runs := []api.ExecutorID{"1", "2", "3"}[:executors], []int{1, 2, 3}, map[int]api.ExecutorID{}
		names := []string{"", "one", "two", "three", "join"}
		w.to(0)
		var events []api.Event
		for _, s := range queue {
			ev := unseated(0, s, names[s])
			if len(free) > 0 {
				ev = ready(0, s, names[s], 8000, free[0])
				runs[s], free = free[0], free[1:]
			}
			events = append(events, ev)
		}
		w.tell(id, r.Submission, events...)
		queue = slices.DeleteFunc(queue, func(s int) bool { return runs[s] != "" })
		var now units.Seconds
		for len(runs) > 0 {
			got := map[api.ExecutorID]string{}
			for name, target := range w.targets(id) {
				if runs[target.Stage] != target.Executor || got[target.Executor] != "" {
					t.Fatalf("%s has a target beside %s: %v", name, got[target.Executor], runs)
				}
				got[target.Executor] = name
			}
			if len(got) != len(runs) && now < 160 {
				t.Fatalf("%d targets for %v", len(got), runs)
			}
			now += units.Seconds(rapid.Float64Range(1, 30).Draw(t, "time"))
			w.to(now)
			var stages []int
			for s := range runs {
				stages = append(stages, s)
			}
			slices.Sort(stages)
			s := rapid.SampledFrom(stages).Draw(t, "ends")
			events := []api.Event{done(now, s, 0)}
			if len(queue) > 0 {
				events = append(events, boundTo(now, queue[0], runs[s]))
				runs[queue[0]], queue = runs[s], queue[1:]
			}
			delete(runs, s)
			w.tell(id, r.Submission, events...)
			if len(runs) == 0 && s != 4 {
				w.tell(id, r.Submission, ready(now, 4, names[4], 8000, "1"))
				runs[4] = "1"
			}
		}
		w.tell(id, r.Submission, end(now))
		w.pass(2e9)
		if d := w.app(id); d.State != api.AppFinished || len(d.Stages) != 4 {
			t.Fatalf("ended as %s with %d stages", d.State, len(d.Stages))
		}
	})
}
