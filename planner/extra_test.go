package planner_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// tells is a status that says how far executor 1 is with a stage.
func (w *world) tells(id api.AppID, stage int, finished int, progress units.Fraction, cpu units.Work) {
	w.Helper()
	s := w.status("a")
	s.Executors = []api.ExecutorStatus{{App: id, ID: "1", State: api.ExecutorRunning, CPU: cpu, Quota: api.Unknown}}
	s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{Stage: stage}, Executor: "1", CPU: cpu, Finished: finished, Progress: progress}}
	w.step(planner.Status{Status: &s})
	w.step(planner.Tick{})
}

func (w *world) stage(id api.AppID, stage int) *ledger.Stage {
	return w.e.View().App(id).Stages[api.StageKey{Stage: stage}]
}

// reads makes a ready stage one of a job that reads from others.
func reads(e api.Event, job int, parents ...int) api.Event {
	e.Stage.Job, e.Stage.Parents = job, parents
	return e
}

// A stage that the profile lacks has a place in the course and a target, and the rest of the course is
// planned with what is left: nobody is let go.
func TestAStageThatTheProfileLacksIsExtraWork(t *testing.T) {
	w, id, sub := paced(t)
	w.to(20)
	reply := w.tell(id, sub, done(20, 1, 2), reads(ready(20, 2, "something else", 50000, "1"), 0, 1))
	s := w.stage(id, 2)
	if !s.Estimated() || s.Extra.By != profiles.ByTask || s.Extra.Stage.CoreSeconds != units.Work(170.0/24*4) {
		t.Fatalf("%+v", s.Extra)
	}
	if n := reply.Directive.Notice; !strings.Contains(n, `stage 2 (something else) is not in profile "p": what it takes is estimated`) {
		t.Errorf("notice %q", n)
	}
	// All of eight cores for the 7.1 s of a task, 10 s and 30 s; gaps of 5 s and a tail of 1.
	target := w.target(id, 2, "1")
	if target == nil || !near(float64(target.Remaining), (97-20-6)*7.083/47.083, 0.01) || !near(float64(target.Work), 28.33, 0.01) {
		t.Errorf("target %+v", target)
	}
	w.to(40)
	w.tell(id, sub, done(40, 2, 20), reads(ready(40, 3, "map", 1000, "1"), 0, 2))
	if got := w.target(id, 3, "1"); got == nil || !near(float64(got.Remaining), (97-40-4)*10.0/40, 0.01) {
		t.Errorf("the next stage: %+v", got)
	}
	if d := w.app(id); d.Pacing != "paced" || d.Predicted < 90 || len(w.heard("stage added")) != 1 || len(w.heard("targets paused")) > 0 {
		t.Errorf("%s, predicted %v, %v", d.Pacing, d.Predicted, w.said)
	}
}

// Its own finished tasks tell what such a stage takes, and its target follows.
func TestAnExtraStageTellsWhatItTakes(t *testing.T) {
	w, id, sub := paced(t)
	w.to(20)
	w.tell(id, sub, done(20, 1, 2), ready(20, 2, "something else", 1000, "1"))
	before := w.target(id, 2, "1")
	w.to(21)
	w.tells(id, 2, 1, 0.3, 30)
	if got := w.target(id, 2, "1"); got.Rev != before.Rev {
		t.Errorf("one finished task tells: %+v", got)
	}
	w.tells(id, 2, 2, 0.5, 35)
	if got := w.target(id, 2, "1"); got.Work != 70 || got.Remaining < before.Remaining {
		t.Errorf("two finished tasks tell of 70 core-seconds: %+v", got)
	}
	rev := w.target(id, 2, "1").Rev
	w.tells(id, 2, 3, 0.75, 51)
	if got := w.target(id, 2, "1"); got.Rev != rev {
		t.Errorf("68 core-seconds are no news: %+v", got)
	}
}

// With less than half of what is left known an application has all cores, its place and its targets, and
// these have time again as soon as more is known.
func TestTargetsPauseWhileLittleIsKnown(t *testing.T) {
	w, id, sub := paced(t)
	w.to(20)
	w.tell(id, sub, done(20, 1, 2), ready(20, 2, "map", 1000, "1"), done(20, 2, 20))
	w.tell(id, sub, ready(20, 3, "sum", 2000, "1"), done(20, 3, 20))
	w.tell(id, sub, reads(ready(20, 4, "something else", 1000, "1"), 1))
	a := w.e.View().App(id)
	target := w.target(id, 4, "1")
	if target == nil || target.Remaining > 0 || target.InitCores != 4 || a.Pacing() != "paused" || a.Band() != api.BandPromised {
		t.Fatalf("%s in band %s: %+v", a.Pacing(), a.Band(), target)
	}
	if !w.directives[id].Gated || len(w.heard("targets paused")) != 1 {
		t.Errorf("gated is %v, %v", w.directives[id].Gated, w.said)
	}
	w.restart()
	if got := w.e.View().App(id).Pacing(); got != "paused" {
		t.Errorf("after a restart it is %s", got)
	}
	w.to(25)
	w.tells(id, 4, 2, 0.5, 30)
	// 60 core-seconds: all that is left of it is known.
	if got := w.target(id, 4, "1"); got == nil || got.Remaining < 60 || got.Work != 60 || w.e.View().App(id).Pacing() != "paced" {
		t.Errorf("it tells: %+v", got)
	}
}

// A planner that starts again plans as if it had not, and takes a further attempt for the extra stage's.
func TestAPlannerThatRestartsKnowsExtraStages(t *testing.T) {
	var rests [2]units.Seconds
	for i := range rests {
		w, id, sub := paced(t)
		w.to(20)
		w.tell(id, sub, done(20, 1, 2), reads(ready(20, 2, "something else", 50000, "1"), 0, 1))
		w.tell(id, sub, reads(ready(20, 3, "more", 500, "1"), 0, 2))
		if i > 0 {
			w.restart()
		}
		w.to(30)
		w.tell(id, sub, done(30, 2, 20), done(30, 3, 20), reads(ready(30, 4, "map", 1000, "1"), 0, 3))
		rests[i] = w.target(id, 4, "1").Remaining
		again := ready(31, 2, "something else", 1000, "1")
		again.Stage.Attempt = 1
		w.tell(id, sub, again)
		if a := w.e.View().App(id); a.Order[len(a.Order)-1].Annotation != w.stage(id, 2).Annotation || len(w.heard("stage added")) != 2 {
			t.Errorf("a further attempt is taken for another stage: %v", w.said)
		}
	}
	if rests[0] != rests[1] {
		t.Errorf("the next stage has %v, after a restart %v", rests[0], rests[1])
	}
}

// What is larger today is known to be so before the stages are ready that read from it.
func TestTodaysInputIsCarriedToWhatComes(t *testing.T) {
	w, id, sub := paced(t)
	w.tell(id, sub, done(20, 1, 2))
	plain := w.app(id).Predicted
	w, id, sub = paced(t)
	w.to(20)
	w.tell(id, sub, done(20, 1, 2)) // It read 3000 records as in the profile.
	if got := w.app(id).Predicted; got != plain {
		t.Errorf("nothing has changed, and it is predicted to end at %v instead of %v", got, plain)
	}
	w = newWorld(t, "a")
	w.put(chain("p"))
	r := registration("p", 100)
	id = w.mustRegister(r).AppID
	w.to(2)
	w.tell(id, r.Submission, ready(2, 1, "read", 6000, "1"))
	for range 20 {
		w.live(planner.TickInterval, id)
	}
	if got := w.app(id).Predicted; got <= 100 {
		t.Errorf("twice the input would be in time: %v", got)
	}
	if got := w.e.View().App(id); got.Promise.Verdict != api.VerdictInfeasible || !got.Gated() || got.Band() != api.BandPromised {
		t.Errorf("%s, gated %v, %v", got.Promise.Verdict, got.Gated(), w.app(id).Notices)
	}
}

// What is left of a query when it ends takes no time of others, and does not come back with a planner that
// starts again.
func TestWhatIsLeftOfAQueryGoesWithIt(t *testing.T) {
	w := newWorld(t, "a")
	p := chain("p")
	of := func(nth, exchange int) *api.QueryStage {
		return &api.QueryStage{Shape: "shape", Nth: nth, Exchange: exchange}
	}
	p.Stages[0].Query, p.Stages[1].Query = of(0, 0), of(0, -1)
	p.Stages[2].Query, p.Stages[2].Parents, p.Stages[2].Job = of(1, -1), []int{}, 1
	w.put(p)
	r := registration("p", 100)
	id := w.mustRegister(r).AppID
	w.to(2)
	first, second := ready(2, 1, "read", 3000, "1"), ready(20, 5, "sum", 2000, "1")
	first.Stage.Query, second.Stage.Query = of(0, 0), of(1, -1)
	first.Stage.Query.Execution, second.Stage.Query.Execution, second.Stage.Job = 7, 8, 1
	w.tell(id, r.Submission, first, api.Event{Type: api.EventQueryEnded, At: 2, Query: &api.QueryEnded{Execution: 9}})
	before := w.target(id, 1, "1").Remaining
	w.tell(id, r.Submission, api.Event{Type: api.EventQueryEnded, At: 2, Query: &api.QueryEnded{Execution: 7}})
	if got := w.target(id, 1, "1").Remaining; got <= before {
		t.Errorf("the running stage has %v, and had %v with one more to come", got, before)
	}
	w.restart()
	if got := w.e.View().App(id).Profile.Match.Remaining(); len(got) != 1 || got[0] != 2 {
		t.Errorf("after a restart %v are to come", got)
	}
	w.to(20)
	w.tell(id, r.Submission, done(20, 1, 2), second, api.Event{Type: api.EventQueryEnded, At: 20, Query: &api.QueryEnded{Execution: 8}})
	if len(w.heard("query ended")) != 1 {
		t.Errorf("%v", w.said)
	}
}

// A job that comes before its turn has its part of the time, for what it has left out may follow it. A restart
// changes nothing of that.
func TestAJobThatComesBeforeItsTurn(t *testing.T) {
	w := newWorld(t, "a")
	p := chain("p") // Read, map and sum of 60, 10 and 100 core-seconds; each is a job of its own.
	for i := range p.Stages {
		p.Stages[i].Job, p.Stages[i].Parents = i, []int{}
	}
	p.Stages[1], p.Stages[2] = p.Stages[2], p.Stages[1] // The large one is left out.
	p.Stages[1].ID, p.Stages[1].Job, p.Stages[2].ID, p.Stages[2].Job = 1, 1, 2, 2
	w.put(p)
	r := registration("p", 100)
	id := w.mustRegister(r).AppID
	w.to(2)
	w.tell(id, r.Submission, reads(ready(2, 1, "read", 3000, "1"), 1))
	w.to(30)
	w.tell(id, r.Submission, done(30, 1, 2), reads(ready(30, 2, "map", 1000, "1"), 2))
	first := w.target(id, 2, "1")
	// All of eight cores for its 10 s, and for 30 s after it, of what the driver leaves of 67 s.
	if first == nil || !near(float64(first.Remaining), 63.0*10/40, 0.01) {
		t.Fatalf("it has %+v, and 30 s at all cores follow", first)
	}
	w.restart()
	w.hello("a")
	if got := w.target(id, 2, "1"); got == nil || got.Rev != first.Rev {
		t.Errorf("after a restart: %+v", got)
	}
	w.to(45)
	w.tell(id, r.Submission, done(45, 2, 30), reads(ready(45, 3, "sum", 2000, "1"), 3))
	if got := w.target(id, 3, "1"); got == nil || got.Remaining < 45 {
		t.Errorf("what was left out comes: %+v", got)
	}
}
