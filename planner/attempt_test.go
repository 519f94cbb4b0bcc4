package planner_test

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// pair is a profile of two stages of ten tasks, one after the other, of 100 s on
// four cores each.
func pair(name string) api.Profile {
	p := chain(name)
	p.Cores, p.Head, p.Tail, p.Duration, p.Stages = 4, 0, 0, 200, p.Stages[:2]
	for i := range p.Stages {
		s := &p.Stages[i]
		s.Tasks, s.Duration, s.Gap, s.Records, s.CoreSeconds, s.NominalRate, s.LongestTask = 10, 100, 0, 40000, 400, 100, 4
	}
	return p
}

// attempt is a stage attempt of so many tasks on executor 1 that becomes ready.
func attempt(at units.Seconds, stage, number int, signature string, tasks int) api.Event {
	ev := ready(at, stage, signature, 40000, "1")
	ev.Stage.Attempt, ev.Stage.Tasks = number, tasks
	ev.Stage.Bindings[0].Weight, ev.Stage.Bindings[0].Tasks = float64(tasks), tasks
	return ev
}

// half tells that executor 1 has done half of a stage's first attempt.
func (w *world) half(id api.AppID, stage int) {
	w.Helper()
	s := w.status("a")
	s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{Stage: stage}, Executor: "1", CPU: 200, Progress: 0.5}}
	w.step(planner.Status{Status: &s})
}

// repeated is an application due at 300 s that has lost, at 225 s, a tenth of what its
// first stage wrote, with half of its second done; the second one's first attempt has
// failed by then if failed says so, or its last tasks run on.
func repeated(t *testing.T, split string, failed bool) (*world, api.AppID, string) {
	t.Helper()
	cfg := planner.Default()
	cfg.Alpha, cfg.Aim, cfg.Margin, cfg.Split = 1, 0, 0, split
	w := newWorldOf(t, cfg, "a")
	w.put(pair("p"))
	r := registration("p", 300)
	id := w.mustRegister(r).AppID
	w.to(0)
	w.tell(id, r.Submission, attempt(0, 7, 0, "read", 10))
	w.to(150)
	w.tell(id, r.Submission, done(150, 7, 0), attempt(150, 8, 0, "map", 10))
	w.to(225)
	w.half(id, 8)
	if failed {
		lost := done(225, 8, 150)
		lost.Done.Failed, lost.Done.Reason = true, "FetchFailed"
		w.tell(id, r.Submission, lost)
	}
	w.tell(id, r.Submission, attempt(225, 7, 1, "read", 1))
	return w, id, r.Submission
}

// An attempt that repeats a tenth of a stage gets a tenth of a stage's time, beside
// the half of the next one that comes again; all the rest is the next one's.
func TestASecondAttemptGetsTheTimeOfItsPart(t *testing.T) {
	for _, c := range []struct {
		split  string
		failed bool
		want   float64 // Of the 75 s left, for 10 s of 60 at all cores.
	}{
		{dag.SplitCriticalPath, true, 12.5}, {dag.SplitCriticalPath, false, 12.5},
		// Eq 2: w = 0.3*2 + 0.7*(10+50)/10 = 4.8.
		{dag.SplitPaper, true, 75 / 4.8}, {dag.SplitPaper, false, 75 / 4.8},
	} {
		w, id, sub := repeated(t, c.split, c.failed)
		got, ok := w.targets(id)["7.1@1"]
		if !ok || !near(float64(got.Remaining), c.want, 1e-3) || !near(float64(got.Work), 40, 1e-9) || got.Last {
			t.Errorf("%+v: the second attempt has %+v, want %v s for 40 core-seconds, and not to be the last", c, got, c.want)
		}
		if end := w.app(id).Predicted; !near(float64(end), 300, 1e-3) {
			t.Errorf("%+v: predicted to end after %v, want 300", c, end)
		}
		at := units.Seconds(225 + c.want)
		w.to(at)
		if !c.failed {
			lost := done(at, 8, 150)
			lost.Done.Failed = true
			w.tell(id, sub, lost)
		}
		over := done(at, 7, 225)
		over.Done.Attempt = 1
		w.tell(id, sub, over, attempt(at, 8, 1, "map", 5))
		got, ok = w.targets(id)["8.1@1"]
		if !ok || !near(float64(got.Remaining), 75-c.want, 1e-3) || !near(float64(got.Work), 200, 1e-9) || !got.Last {
			t.Errorf("%+v: the rest has %+v, want %v s for 200 core-seconds, and to be the last", c, got, 75-c.want)
		}
		if end := w.app(id).Predicted; !near(float64(end), 300, 1e-3) {
			t.Errorf("%+v: predicted to end after %v at the last, want 300", c, end)
		}
	}
}

// Another deadline divides the time left among the same parts.
func TestAnotherDeadlineCountsASecondAttemptsPart(t *testing.T) {
	for _, failed := range []bool{true, false} {
		w, id, _ := repeated(t, dag.SplitCriticalPath, failed)
		w.control(api.VerbDeadline, api.ControlRequest{App: id, Extend: 60})
		if got := w.targets(id)["7.1@1"]; !near(float64(got.Remaining), 135.0/6, 1e-3) {
			t.Errorf("failed %v: %+v, want 22.5 s", failed, got)
		}
	}
}

// A driver that goes on with its next job has given the failed stage of the one
// before up: no time is kept for it.
func TestAFailedStageOfAnEarlierJobIsNotAwaited(t *testing.T) {
	cfg := planner.Default()
	cfg.Alpha, cfg.Aim, cfg.Margin = 1, 0, 0
	w := newWorldOf(t, cfg, "a")
	p := pair("p")
	p.Stages[1].Job, p.Stages[1].Parents = 1, []int{}
	w.put(p)
	r := registration("p", 300)
	id := w.mustRegister(r).AppID
	w.to(0)
	w.tell(id, r.Submission, attempt(0, 7, 0, "read", 10))
	failed := done(100, 7, 0)
	failed.Done.Failed = true
	next := attempt(100, 8, 0, "map", 10)
	next.Stage.Job = 1
	w.to(100)
	w.tell(id, r.Submission, failed, next)
	if got := w.targets(id)["8.0@1"]; !near(float64(got.Remaining), 200, 1e-3) || !got.Last {
		t.Errorf("target %+v, want all 200 s", got)
	}
}

// A later job has what was lost written again by a stage with an id of its own, as
// Spark under adaptive execution always does: that counts as an attempt of the first
// one, also where its signature has annotations left, and the run teaches nothing.
func TestAStageThatRepeatsAnotherGetsTheTimeOfItsPart(t *testing.T) {
	cfg := planner.Default()
	cfg.Alpha, cfg.Aim, cfg.Margin = 1, 0, 0
	w := newWorldOf(t, cfg, "a")
	p := pair("p")
	p.Stages[1].Job, p.Stages[1].Parents = 1, []int{0}
	third := p.Stages[0]
	third.ID, third.Job, third.Parents = 2, 2, []int{}
	p.Stages = append(p.Stages, third)
	w.put(p)
	r := registration("p", 400)
	id := w.mustRegister(r).AppID
	w.to(0)
	w.tell(id, r.Submission, attempt(0, 7, 0, "read", 10))
	next := attempt(100, 9, 0, "map", 10)
	next.Stage.Job = 1
	w.to(100)
	w.tell(id, r.Submission, done(100, 7, 0), next)
	w.to(175)
	w.half(id, 9)
	lost := done(175, 9, 100)
	lost.Done.Failed = true
	again := attempt(175, 8, 0, "read", 1)
	again.Stage.Job, again.Stage.Repeats = 1, new(7)
	w.tell(id, r.Submission, lost, again)
	// Of 225 s for 10, 50 and 100 s of all cores.
	if got := w.targets(id)["8.0@1"]; !near(float64(got.Remaining), 225*10/160., 1e-3) || !near(float64(got.Work), 40, 1e-9) || got.Last {
		t.Errorf("the stage that repeats another has %+v", got)
	}
	if end := w.app(id).Predicted; !near(float64(end), 400, 1e-3) {
		t.Errorf("predicted to end after %v, want 400", end)
	}
	rest := attempt(190, 9, 1, "map", 5)
	rest.Stage.Job = 1
	last := attempt(240, 11, 0, "read", 10)
	last.Stage.Job = 2
	over := done(240, 9, 190)
	over.Done.Attempt = 1
	w.to(240)
	w.tell(id, r.Submission, done(190, 8, 175), rest, over, last, done(399, 11, 240), end(399))
	w.pass(2 * time.Second)
	// What was tried again teaches nothing, and the run its other stages.
	if got := w.stored("p"); got.Runs != 2 || got.Stages[0].CoreSeconds != p.Stages[0].CoreSeconds ||
		got.Stages[1].CoreSeconds != p.Stages[1].CoreSeconds || w.app(id).Pacing != "paced" {
		t.Errorf("%s, profile of %d runs, said %v", w.app(id).Pacing, got.Runs, w.said)
	}
}

// A stage that Spark skips, because what it writes is there, leaves the plan when
// what reads it is ready: that is the last stage, then, and gets all that is left.
// Such a run teaches what it did.
func TestASkippedStageLeavesThePlan(t *testing.T) {
	w := newWorld(t, "a")
	w.put(chain("p"))
	r := registration("p", 120)
	id := w.mustRegister(r).AppID
	w.to(2)
	w.tell(id, r.Submission, ready(2, 1, "read", 3000, "1"))
	w.to(30)
	w.tell(id, r.Submission, done(30, 1, 2), ready(30, 3, "sum", 2000, "1"))
	got := w.target(id, 3, "1")
	// 99.6 % of 120 s less 0.3 s and a granule of a task, and the tail of 1 s.
	if got == nil || !got.Last || !near(float64(got.Remaining), 0.996*120-0.3-0.03-1-30, 1e-3) {
		t.Errorf("target %+v, want the last stage's", got)
	}
	if end := w.app(id).Predicted; !near(float64(end), 0.996*120-0.3-0.03, 1e-3) {
		t.Errorf("predicted to end after %v", end)
	}
	before := *w.stored("p")
	w.to(110)
	w.tell(id, r.Submission, done(109, 3, 30), end(110))
	w.pass(2 * time.Second)
	after := w.stored("p")
	if after.Runs != before.Runs+1 || len(after.Stages) != 3 || after.Stages[1].Missed != 1 || after.Stages[2].Gap != before.Stages[2].Gap {
		t.Errorf("profile %+v", after)
	}
}
