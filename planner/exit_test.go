package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

func (w *world) exit(submission string, code int) api.ControlReply {
	w.Helper()
	return w.control(api.VerbExit, api.ControlRequest{Submission: submission, ExitCode: code})
}

func (w *world) report(submission string, code int, at units.Seconds) api.ControlReply {
	w.Helper()
	r := w.control(api.VerbExit, api.ControlRequest{Submission: submission, ExitCode: code, Elapsed: at})
	if r.Error != nil {
		w.Fatalf("report: %v", r.Error)
	}
	return r
}

// An exception in Python: the driver says that all went well, spark-submit ends
// with 1 a moment later, before or after the run went into its profile.
func TestAFailedSparkSubmitMakesItsApplicationFailed(t *testing.T) {
	for _, wait := range []time.Duration{0, 2 * time.Second} {
		for _, restart := range []bool{false, true} {
			w := newWorld(t, "a")
			r := registration("p", 0)
			id := w.run(r, "read", "map", "sum")
			w.pass(wait)
			if stored := w.stored("p") != nil; stored != (wait > 0) {
				t.Fatalf("after %v: a profile is stored: %v", wait, stored)
			}
			if restart {
				w.restart()
			}
			reply := w.exit(r.Submission, 1)
			if reply.Error != nil || len(reply.Apps) != 1 || reply.Apps[0].ID != id || reply.Apps[0].State != api.AppFailed {
				t.Errorf("reply %+v", reply)
			}
			w.exit(r.Submission, 2) // The first word counts.
			w.pass(2 * time.Second)
			if !restart && w.stored("p") != nil {
				t.Error("a failed run has left a profile")
			}
			w.restart()
			d := w.app(id)
			if d.State != api.AppFailed || d.ExitCode != 1 || !slices.Contains(d.Notices, "spark-submit ended with exit code 1") {
				t.Errorf("%s (%d), %q", d.State, d.ExitCode, d.Notices)
			}
			if again := w.register(r); api.KindOf(again.Error) != api.KindConflict {
				t.Errorf("registered again: %v", again.Error)
			}
		}
	}
}

func TestAFailedRunIsTakenBackOutOfItsProfileIfItWasTheLast(t *testing.T) {
	for _, another := range []bool{false, true} {
		w := newWorld(t, "a")
		w.putChain()
		r := registration("p", 0)
		w.run(r, "read", "map", "sum")
		w.pass(2 * time.Second)
		if another {
			next := registration("p", 0)
			next.Submission = "another"
			w.run(next, "read", "map", "sum")
			w.pass(2 * time.Second)
		}
		want := map[bool]int{false: 1, true: 3}[another]
		w.exit(r.Submission, 1)
		if p := w.stored("p"); p == nil || p.Runs != want {
			t.Errorf("another run since: %v; profile %+v, want %d runs", another, p, want)
		}
		w.restart()
		if p := w.stored("p"); p == nil || p.Runs != want {
			t.Errorf("after a restart: profile %+v, want %d runs", p, want)
		}
	}
}

// A driver that was killed says nothing: its spark-submit's end is known before
// its silence is long enough.
func TestAFailedSparkSubmitEndsARunningApplication(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	w.exit(r.Submission, 137)
	if d := w.app(id); d.State != api.AppFailed || d.ExitCode != 137 {
		t.Errorf("%s (%d)", d.State, d.ExitCode)
	}
	if n := len(w.plans["a"].Apps); n != 0 {
		t.Errorf("its node still has %d applications in its plan", n)
	}
	w.pass(2 * time.Second)
	if again := w.register(r); again.Error != nil || again.AppID == id {
		t.Errorf("a driver that comes back: %s, %v", again.AppID, again.Error)
	}
}

// linger registers an application of the chain's profile, lets it run and stop its
// context at 31 s, without a last word.
func linger(t *testing.T, watched bool, change func(*api.RegisterRequest)) (*world, api.RegisterRequest, api.AppID) {
	t.Helper()
	w := newWorld(t, "a")
	w.putSmall()
	r := registration("p", 36)
	r.Watched, r.Mode, r.UTCOffset = watched, api.ModeObserve, 3600
	if change != nil {
		change(&r)
	}
	id := w.mustRegister(r).AppID
	for i, signature := range []string{"read", "map", "sum"} {
		at := units.Seconds(2 + 10*i)
		w.to(at)
		event := ready(at, i, signature, 1000, "1")
		if i > 0 {
			event.Stage.Parents = []int{i - 1}
		}
		w.tell(id, r.Submission, event)
		w.to(at + 8)
		w.tell(id, r.Submission, done(at+8, i, at))
	}
	w.to(31)
	w.stopped(id, r.Submission, end(31))
	return w, r, id
}

// A deadline is kept at the exit: what pacer submit saw counts, then the driver's last
// word, and where neither came the stop, which is said.
func TestAnApplicationEndsAtItsDriversExit(t *testing.T) {
	for _, c := range []struct {
		name    string
		watched bool
		then    func(w *world, r api.RegisterRequest, id api.AppID)
		state   api.AppState
		by      api.EndedBy
		takes   units.Seconds
		outcome string
		runs    int
	}{
		{"reported", true, func(w *world, r api.RegisterRequest, _ api.AppID) {
			w.to(34)
			w.report(r.Submission, 0, 33.5)
		}, api.AppFinished, api.EndedByExit, 33.5, "ended 2.5 s before 09:00:36", 2},
		{"reported late by its exit", true, func(w *world, r api.RegisterRequest, _ api.AppID) {
			w.to(40)
			w.report(r.Submission, 0, 39)
		}, api.AppFinished, api.EndedByExit, 39, "ended late by its exit: 3.0 s after 09:00:36, 8.0 s after its context stopped", 2},
		{"reported failed", true, func(w *world, r api.RegisterRequest, _ api.AppID) {
			w.report(r.Submission, 1, 33)
		}, api.AppFailed, api.EndedByExit, 33, "failed after 33 s: spark-submit ended with exit code 1", 1},
		{"a last word that proves it", false, func(w *world, r api.RegisterRequest, id api.AppID) {
			w.stopped(id, r.Submission, api.Event{Type: api.EventExit, At: 32, Clean: true})
		}, api.AppFinished, api.EndedByLastWord, 32, "ended 4.0 s before 09:00:36", 2},
		{"a last word without proof", false, func(w *world, r api.RegisterRequest, id api.AppID) {
			w.stopped(id, r.Submission, api.Event{Type: api.EventExit, At: 32})
		}, api.AppUnknown, api.EndedByLastWord, 32, "ended after 32 s; its exit code is not known", 1},
		{"a last word of a failure", false, func(w *world, r api.RegisterRequest, id api.AppID) {
			w.stopped(id, r.Submission, api.Event{Type: api.EventExit, At: 32, Failed: true, Reason: "an exception"})
		}, api.AppFailed, api.EndedByLastWord, 32, "failed after 32 s: an exception", 1},
		{"a last word, and pacer submit was killed", true, func(w *world, r api.RegisterRequest, id api.AppID) {
			w.stopped(id, r.Submission, api.Event{Type: api.EventExit, At: 32, Clean: true})
			w.pass(6 * time.Second)
		}, api.AppFinished, api.EndedByLastWord, 32, "ended 4.0 s before 09:00:36", 2},
		{"pacer submit was killed, and the driver with it", true, func(w *world, r api.RegisterRequest, id api.AppID) {
			w.stopped(id, r.Submission, api.Event{Type: api.EventExit, At: 32})
			w.pass(6 * time.Second)
		}, api.AppUnknown, api.EndedByLastWord, 32, "ended after 32 s; its exit code is not known", 1},
		{"silence", false, func(w *world, _ api.RegisterRequest, _ api.AppID) { w.pass(6 * time.Second) },
			api.AppUnknown, api.EndedByStop, 31, "stopped its context after 31 s; its exit is not known", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, r, id := linger(t, c.watched, nil)
			if d := w.app(id); d.State != api.AppEnding || d.ErrorPct != nil || d.EndedBy != "" {
				t.Fatalf("after the stop: %s, error %v, by %q", d.State, d.ErrorPct, d.EndedBy)
			}
			c.then(w, r, id)
			for range 2 { // Before and after it has become history.
				d := w.app(id)
				if d.State != c.state || d.EndedBy != c.by || d.Duration != c.takes || !strings.HasPrefix(d.Headline, c.outcome) {
					t.Errorf("%s by %q after %v: %q", d.State, d.EndedBy, d.Duration, d.Headline)
				}
				if early := c.state == api.AppFinished; early != (d.ErrorPct != nil) || early && !near(*d.ErrorPct, float64(100*(36-c.takes)/36), 1e-9) {
					t.Errorf("error %v", d.ErrorPct)
				}
				w.pass(3 * time.Second)
				w.restart()
			}
			if p := w.stored("p"); p.Runs != c.runs {
				t.Errorf("the profile has %d runs, want %d", p.Runs, c.runs)
			}
			for _, o := range w.said {
				e, ok := o.fact.(ledger.Archived)
				if d := &e.Detail; ok && (d.State != c.state || (d.ErrorPct != nil) != (c.state == api.AppFinished)) {
					t.Errorf("%s, error %v", o.Text, d.ErrorPct)
				}
			}
		})
	}
}

// A driver that has not heard that its end was taken registers again, and is told; its last
// word counts. After that the submission has ended.
func TestADriverMayRegisterAgainForItsLastWord(t *testing.T) {
	w, r, id := linger(t, false, nil)
	w.restart()
	r.AppID = id
	if reply := w.register(r); reply.Error != nil || reply.AppID != id || reply.AckedSeq != w.events[id] {
		t.Fatalf("%s, acknowledged %d of %d, %v", reply.AppID, reply.AckedSeq, w.events[id], reply.Error)
	}
	other := r
	other.AppID = ""
	if reply := w.register(other); reply.Error == nil || reply.Error.Kind != api.KindConflict {
		t.Errorf("without its id: %+v", reply)
	}
	w.stopped(id, r.Submission, api.Event{Type: api.EventExit, At: 32, Clean: true})
	if d := w.app(id); d.EndedBy != api.EndedByLastWord || d.Duration != 32 {
		t.Errorf("ended by %q after %v", d.EndedBy, d.Duration)
	}
	if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindConflict {
		t.Errorf("after its exit: %+v", reply)
	}
}

// A driver that goes on to speak is waited for, until it takes too long; its report
// comes all the same.
func TestADriverThatHangsAfterItsStop(t *testing.T) {
	w, r, id := linger(t, true, nil)
	w.live(9*time.Minute, id)
	if d := w.app(id); d.State != api.AppEnding || d.Duration < 9*60 {
		t.Errorf("%s after %v", d.State, d.Duration)
	}
	w.live(2*time.Minute, id)
	if d := w.app(id); d.State != api.AppUnknown || d.ErrorPct != nil || d.EndedBy != api.EndedByStop || d.Duration != 31 {
		t.Errorf("%s by %q after %v", d.State, d.EndedBy, d.Duration)
	}
	reply := w.report(r.Submission, 0, 1000)
	d := w.app(id)
	if d.State != api.AppFinished || d.Duration != 1000 || d.EndedBy != api.EndedByExit || *d.ErrorPct > -2600 || reply.Message != d.Headline ||
		d.Headline != "ended late by its exit: 16m4s after 09:00:36, 16m9s after its context stopped" {
		t.Errorf("%v by %q, error %v: %q", d.Duration, d.EndedBy, *d.ErrorPct, d.Headline)
	}
}

// Until its driver has exited a node is told that it will, so that it keeps a core for that;
// where pacer submit does not run it, until its last word.
func TestNodesKnowWhoseDriverExits(t *testing.T) {
	for _, watched := range []bool{true, false} {
		w, r, id := linger(t, watched, nil)
		if p := w.plans["a"]; !slices.Equal(p.Exiting, []api.AppID{id}) || !slices.Equal(p.Over, []api.AppID{id}) {
			t.Errorf("watched %v: exiting %v, over %v when its context has stopped", watched, p.Exiting, p.Over)
		}
		w.to(32)
		w.tell(id, r.Submission, api.Event{Type: api.EventExit, At: 32, Clean: true})
		if got := len(w.plans["a"].Exiting) > 0; got != watched {
			t.Errorf("watched %v: exiting %v after its last word", watched, got)
		}
		if watched {
			w.report(r.Submission, 0, 33)
		}
		if p := w.plans["a"]; len(p.Exiting) > 0 || !slices.Equal(p.Over, []api.AppID{id}) {
			t.Errorf("watched %v: exiting %v, over %v when it has exited", watched, p.Exiting, p.Over)
		}
	}
	w := newWorld(t, "a")
	r := registration("p", 0)
	w.mustRegister(r)
	w.exit(r.Submission, 137)
	if p := w.plans["a"]; len(p.Exiting) > 0 || len(p.Over) != 1 {
		t.Errorf("exiting %v, over %v where the exit was all there was to see", p.Exiting, p.Over)
	}
}

// A profile's exit is aimed before, forecast and judged by.
func TestThePlanAimsBeforeTheExit(t *testing.T) {
	remaining := make(map[units.Seconds]units.Seconds)
	for _, exit := range []units.Seconds{0, 5} {
		w := newWorld(t, "a")
		p := chain("p")
		p.Stages, p.Exit = p.Stages[:1], exit
		w.put(p)
		id := w.mustRegister(registration("p", 100)).AppID
		w.to(2)
		w.tell(id, "submission of p", ready(2, 0, "read", 3000, "1"))
		remaining[exit] = w.target(id, 0, "1").Remaining
		if got := w.app(id).Predicted; !near(float64(got), 99.27, 0.05) {
			t.Errorf("with an exit of %v it is predicted to end at %v", exit, got)
		}
	}
	if d := remaining[0] - remaining[5]; d != 5 {
		t.Errorf("an exit of 5 s takes %v from its stage", d)
	}
}

// The exits of runs go into the profile, but for one that is no ordinary one.
func TestExitsGoIntoTheProfile(t *testing.T) {
	w := newWorld(t, "a")
	for i, exit := range []units.Seconds{0.5, 0.75, 300, 0.5} {
		r := registration("p", 0)
		r.Submission, r.Watched = fmt.Sprint("run ", i), true
		start := w.now
		id := w.mustRegister(r).AppID
		w.tell(id, r.Submission, ready(1, 0, "read", 1000, "1"), done(5, 0, 1))
		w.now = start.Add(6 * time.Second)
		w.stopped(id, r.Submission, end(6))
		w.report(r.Submission, 0, 6+exit)
		w.pass(2 * time.Second)
		w.step(planner.Status{Status: new(w.status("a"))})
	}
	if p := w.stored("p"); p == nil || p.Runs != 4 || p.Exit != 0.5 || p.Tail != 1 || p.Duration != 6.5 {
		t.Errorf("profile %+v", p)
	}
}

// A program that works on after its context's stop is known by its first run: the profile takes
// what the caller waited, and no verdict is better than that run.
func TestWorkAfterTheStopIsReckonedWith(t *testing.T) {
	w := newWorld(t, "a")
	night := func(exit units.Seconds) {
		r := registration("p", 0)
		r.Submission, r.Watched = fmt.Sprint("run ", w.now), true
		id := w.mustRegister(r).AppID
		w.tell(id, r.Submission, ready(1, 0, "read", 1000, "1"), done(5, 0, 1))
		w.live(6*time.Second, id)
		w.stopped(id, r.Submission, end(6))
		w.live(exit.Duration(), id)
		w.report(r.Submission, 0, 6+exit)
		w.live(2 * time.Second)
	}
	night(32)
	if p := w.stored("p"); p == nil || p.Duration != 38 || p.Exit != 32 {
		t.Fatalf("profile %+v", p)
	}
	for _, c := range []struct {
		deadline units.Seconds
		want     string
	}{
		{37, "deadline 37s is infeasible: all cores would finish in 38s, the earliest feasible deadline is"},
		{100, "deadline 1m40s is feasible: all cores would finish in 38s; 32s pass after its context's stop, as in the only run that is known"},
	} {
		r := registration("p", c.deadline)
		r.Submission = fmt.Sprint("due ", c.deadline)
		reply := w.mustRegister(r)
		if !strings.HasPrefix(reply.Reason, c.want) {
			t.Errorf("%q, want %q", reply.Reason, c.want)
		}
		w.exit(r.Submission, 1)
		w.live(3 * time.Second)
	}
	night(0.5)
	night(0.75)
	if p := w.stored("p"); p == nil || p.Exit != 0.75 {
		t.Errorf("after two ordinary ones: %+v", p)
	}
}

// A run that was late says why, as far as its figures do.
func TestALateRunSaysWhy(t *testing.T) {
	w, r, id := linger(t, true, func(r *api.RegisterRequest) { r.Deadline = 30 })
	w.to(35)
	w.report(r.Submission, 0, 32)
	if d := w.app(id); !strings.HasPrefix(d.Headline, "2.0 s late, at 09:00:32") {
		t.Errorf("%q", d.Headline)
	}
	w = newWorld(t, "a")
	w.put(chain("p"))
	q := registration("p", 100)
	q.Watched = true
	id = w.mustRegister(q).AppID
	w.tell(id, q.Submission, ready(2, 0, "read", 3000, "1"))
	for i := range 40 {
		w.to(units.Seconds(10 + i))
		s := w.status("a")
		s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{}, Executor: "1", CPU: 90, Samples: []api.StageSample{{Request: 4, Grant: 3, Used: 3, Running: 4}}}}
		w.step(planner.Status{Status: &s})
	}
	w.to(99)
	d0 := done(99, 0, 2)
	d0.Done.RecordsRead = 4800
	w.tell(id, q.Submission, d0)
	w.to(105)
	w.stopped(id, q.Submission, end(105))
	want := "12 s late, at 08:01:52, on 0.9 of 4 cores: 32 s with more work: stage 0 read 1.6x its profile, " +
		"27 s more in stages than planned, for no reason that is known, 9.8 s short of cores"
	if got := w.report(q.Submission, 0, 112).Message; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What a machine slept through is no exit and teaches nothing.
func TestASuspendedMachineIsNamed(t *testing.T) {
	w, r, id := linger(t, true, nil)
	reply := w.control(api.VerbExit, api.ControlRequest{Submission: r.Submission, Elapsed: 3632, Suspended: 3600})
	if want := "59m56s late, at 10:00:32, on 1.1 of 4 cores: 1h0m0s suspended"; reply.Message != want {
		t.Errorf("%q, want %q", reply.Message, want)
	}
	w.pass(3 * time.Second)
	if p := w.stored("p"); p.Runs != 1 || w.app(id).State != api.AppFinished {
		t.Errorf("profile of %d runs, state %s", p.Runs, w.app(id).State)
	}
}

func TestExitReportsThatChangeNothing(t *testing.T) {
	w := newWorld(t, "a")
	for _, c := range []struct {
		submission string
		code       int
		want       api.Kind
	}{
		{"", 1, api.KindInvalid}, {"s", -1, api.KindInvalid}, {"s", 256, api.KindInvalid}, {"s", 1, api.KindNotFound},
	} {
		if r := w.exit(c.submission, c.code); api.KindOf(r.Error) != c.want {
			t.Errorf("%q with %d: %v", c.submission, c.code, r.Error)
		}
	}
	w.putChain()
	refused := registration("p", 1)
	refused.RequireFeasible = true
	w.register(refused)
	if r := w.exit(refused.Submission, 1); r.Error != nil || r.Apps[0].State != api.AppRefused || r.Apps[0].ExitCode != 0 {
		t.Errorf("a refused one: %+v", r)
	}
	failed := registration("q", 0)
	id := w.mustRegister(failed).AppID
	w.tell(id, failed.Submission, api.Event{Type: api.EventEnd, At: 5, Failed: true, Reason: "it broke"})
	w.exit(failed.Submission, 1)
	if d := w.app(id); d.State != api.AppFailed || d.ExitCode != 1 || d.Notices[len(d.Notices)-1] != "it broke" {
		t.Errorf("one that had failed: %s (%d), %q", d.State, d.ExitCode, d.Notices)
	}
	reported := len(w.heard("exit code reported")) > 0
	if reported {
		t.Error("what failed anyway is said to have failed")
	}
}
