package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// ofContext is the registration of a context of one submission that begins now, which is that long
// after the submission's start.
func ofContext(number int, name string, before units.Seconds) api.RegisterRequest {
	r := registration(name, 0)
	r.Submission, r.Watched, r.Context, r.Before = "three days", true, number, before
	return r
}

// work has a context run a stage of 5 s at once and stop a second later, without a last word.
func (w *world) work(r api.RegisterRequest) (api.AppID, api.RegisterReply) {
	w.Helper()
	start := w.now
	reply := w.mustRegister(r)
	at := func(s units.Seconds) { w.now = start.Add(s.Duration()) }
	at(1)
	w.tell(reply.AppID, r.Submission, ready(1, 0, "read", 1000, "1"))
	at(6)
	w.used(reply.AppID, 0, 10, 15, api.ExecutorRunning)
	w.tell(reply.AppID, r.Submission, done(6, 0, 1))
	at(7)
	w.stopped(reply.AppID, r.Submission, end(7))
	return reply.AppID, reply
}

// A program that stops its context and makes another one, three times: three applications, each with
// the profile of its name, and one exit. What passes between two is the exit of the first.
func TestContextsOfASubmissionFollowEachOther(t *testing.T) {
	for _, restart := range []bool{false, true} {
		w := newWorld(t, "a")
		var ids []api.AppID
		for i := range 3 {
			w.to(units.Seconds(8 * i))
			id, _ := w.work(ofContext(i, fmt.Sprint("day ", i), units.Seconds(8*i)))
			ids = append(ids, id)
			if restart {
				w.restart()
			}
		}
		w.to(25)
		reply := w.report("three days", 0, 24.5)
		if len(reply.Apps) != 1 || reply.Apps[0].ID != ids[2] || reply.Apps[0].Duration != 8.5 {
			t.Fatalf("the exit is that of %+v", reply.Apps)
		}
		w.pass(2 * time.Second)
		for i, id := range ids {
			d, by, takes, next := w.app(id), api.EndedByNext, units.Seconds(8), fmt.Sprint("day ", i+1)
			if i == 2 {
				by, takes, next = api.EndedByExit, 8.5, ""
			}
			if d.State != api.AppFinished || d.EndedBy != by || d.Duration != takes || d.Context != i {
				t.Errorf("context %d: %s by %q after %v, context %d", i, d.State, d.EndedBy, d.Duration, d.Context)
			}
			p := w.stored(fmt.Sprint("day ", i))
			if p == nil || p.Next != next || p.Runs != 1 || p.Exit != takes-7 || p.Duration != takes {
				t.Errorf("context %d: profile %+v", i, p)
			}
		}
		if p := w.plans["a"]; len(p.Exiting) > 0 || len(p.Apps) > 0 {
			t.Errorf("at the end its node has %+v, exiting %v", p.Apps, p.Exiting)
		}
	}
}

// One deadline of a submission is for all of its contexts: each has a part by what it and those after
// it take, of what is left when it comes. One that sets another has that to itself.
func TestADeadlineIsForAllContextsThatShareIt(t *testing.T) {
	w := newWorld(t, "a")
	for i := range 3 {
		w.to(units.Seconds(8 * i))
		w.work(ofContext(i, fmt.Sprint("day ", i), units.Seconds(8*i)))
	}
	w.to(25)
	w.report("three days", 0, 24)
	w.pass(2 * time.Second)
	w.to(100)
	var ids []api.AppID
	for i, c := range []struct{ left, part units.Seconds }{{60, 20}, {50, 25}, {40, 40}} {
		r := ofContext(i, fmt.Sprint("day ", i), units.Seconds(10*i))
		r.Submission, r.Deadline, r.Shared = "again", c.left, true
		w.to(100 + units.Seconds(10*i))
		id, reply := w.work(r)
		ids = append(ids, id)
		if d := w.app(id); !near(float64(d.Deadline), float64(c.part), 1e-9) || reply.Verdict != api.VerdictFeasible {
			t.Errorf("context %d has %v, want %v: %s", i, d.Deadline, c.part, reply.Reason)
		}
		if says := fmt.Sprintf("the part of %v that is not for ", c.left.Duration()); strings.Contains(strings.ReplaceAll(reply.Reason, "1m0s", "1m"), strings.ReplaceAll(says, "1m0s", "1m")) != (i < 2) {
			t.Errorf("context %d: %q", i, reply.Reason)
		}
	}
	w.to(150)
	if r := w.report("again", 0, 48); !strings.HasPrefix(r.Message, "ended 12 s before 08:02:40") {
		t.Errorf("at the end: %q", r.Message)
	}
	if d := w.app(ids[0]); d.ErrorPct == nil || *d.ErrorPct != 50 {
		t.Errorf("the first one's error is %v", d.ErrorPct)
	}
	w.pass(2 * time.Second)
	w.to(200)
	own := ofContext(0, "day 0", 0)
	own.Submission, own.Deadline = "its own", 60
	if reply := w.mustRegister(own); w.app(reply.AppID).Deadline != 60 {
		t.Errorf("a deadline of its own became %v: %s", w.app(reply.AppID).Deadline, reply.Reason)
	}
}

// Another deadline of the context that runs moves the submission's: those that follow keep their time,
// in whatever way the planner knows of it when they come.
func TestAnotherDeadlineMovesThoseThatFollow(t *testing.T) {
	for _, c := range []struct {
		profiled, restart, shared bool
		wait                      time.Duration
		want                      [3]units.Seconds // What each context has when it comes.
	}{
		{true, false, true, 0, [3]units.Seconds{20, (50 + 40) / 2, 40 + 40}},
		{true, true, true, 0, [3]units.Seconds{20, (50 + 40) / 2, 40 + 40}},
		{false, false, true, 0, [3]units.Seconds{60, 50 + 40, 40 + 40}},
		{true, false, false, 0, [3]units.Seconds{60, 50, 40}},
		{true, false, true, 3 * time.Minute, [3]units.Seconds{20, (50 + 40) / 2, 40 + 40}}, // The one before is history.
	} {
		w := newWorld(t, "a")
		if c.profiled {
			for i := range 3 {
				w.to(units.Seconds(8 * i))
				w.work(ofContext(i, fmt.Sprint("day ", i), units.Seconds(8*i)))
			}
			w.to(25)
			w.report("three days", 0, 24)
			w.pass(2 * time.Second)
		}
		w.to(100)
		for i, left := range []units.Seconds{60, 50, 40} {
			r := ofContext(i, fmt.Sprint("day ", i), units.Seconds(10*i))
			r.Submission, r.Deadline, r.Shared = "again", left, c.shared
			start := w.now
			id := w.mustRegister(r).AppID
			if d := w.app(id); !near(float64(d.Deadline), float64(c.want[i]), 1e-9) {
				t.Errorf("%+v: context %d has %v, want %v", c, i, d.Deadline, c.want[i])
			}
			if i == 0 {
				if said := w.control(api.VerbDeadline, api.ControlRequest{App: id, Extend: 40}); said.Error != nil {
					t.Fatal(said.Error)
				}
				if d := w.app(id); !near(float64(d.Deadline), float64(c.want[0]+40), 1e-9) {
					t.Errorf("%+v: it is moved to %v", c, d.Deadline)
				}
			}
			w.now = start.Add(7 * time.Second)
			w.stopped(id, r.Submission, end(7))
			w.pass(c.wait)
			if c.restart {
				w.restart()
			}
			w.hello("a")
		}
	}
}

// A loop over days whose contexts differ in their dates alone: each has a profile of its own, of its place.
func TestContextsOfALoopOverDates(t *testing.T) {
	w := newWorld(t, "a")
	for night := range 2 {
		w.to(units.Seconds(100 * night))
		for i := range 3 {
			r := ofContext(i, fmt.Sprintf("sales 2026-11-%d", 20+i+night), units.Seconds(8*i))
			r.Submission = fmt.Sprint("night ", night)
			w.to(units.Seconds(100*night + 8*i))
			id, _ := w.work(r)
			want := []string{"sales *", "sales *#2", "sales *#3"}
			if d := w.app(id); d.Profile != want[i] {
				t.Errorf("night %d, context %d: profile %q", night, i, d.Profile)
			}
		}
		w.to(units.Seconds(100*night + 25))
		w.report(fmt.Sprint("night ", night), 0, 24)
		w.pass(2 * time.Second)
	}
	if p := w.stored("sales *"); p == nil || p.Next != "sales *#2" || p.Runs != 2 {
		t.Errorf("the first one's: %+v", p)
	}
}

// A context of whose end nothing was heard is over when the next one comes; how it ended is not known.
func TestAContextThatSaidNothingOfItsEnd(t *testing.T) {
	w := newWorld(t, "a")
	first := w.mustRegister(ofContext(0, "p", 0)).AppID
	w.to(30)
	second := w.mustRegister(ofContext(1, "q", 29)).AppID
	if d := w.app(first); d.State != api.AppUnknown || d.EndedBy != api.EndedBySilence || d.Duration != 29 {
		t.Errorf("%s by %q after %v", d.State, d.EndedBy, d.Duration)
	}
	w.report("three days", 1, 40)
	if d := w.app(second); d.State != api.AppFailed || d.ExitCode != 1 || d.Duration != 11 {
		t.Errorf("%s (%d) after %v", d.State, d.ExitCode, d.Duration)
	}
}

// A submission that was killed has no further context, while the planner ends it and after.
func TestAKilledSubmissionHasNoFurtherContext(t *testing.T) {
	for _, obeys := range []bool{true, false} {
		w := newWorld(t, "a")
		w.work(ofContext(0, "p", 0))
		w.to(8)
		r := ofContext(1, "q", 8)
		id := w.mustRegister(r).AppID
		w.control(api.VerbKill, api.ControlRequest{App: id, User: "ann"})
		next := func(when string) {
			t.Helper()
			reply := w.register(ofContext(2, "r", 20))
			if api.KindOf(reply.Error) != api.KindConflict || !strings.Contains(reply.Error.Message, "killed by ann") {
				t.Errorf("obeys %v, %s: %v", obeys, when, reply.Error)
			}
		}
		next("at once")
		if obeys {
			w.tell(id, r.Submission, end(5))
			next("when it has stopped")
		}
		w.pass(20 * time.Second)
		next("when it is history")
		w.restart()
		next("after a restart")
	}
}

// Who may not speak for an application cannot end it with another context of its submission.
func TestAnothersContextEndsNothing(t *testing.T) {
	w := newWorld(t, "a")
	ann := api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit}
	bob := api.Principal{Kind: api.PrincipalUser, Name: "bob", Role: api.RoleSubmit}
	id := w.step(planner.Register{To: 1, By: ann, Request: ofContext(0, "p", 0)}).(api.RegisterReply).AppID
	reply := w.step(planner.Register{To: 1, By: bob, Request: ofContext(1, "q", 5)}).(api.RegisterReply)
	if api.KindOf(reply.Error) != api.KindDenied || w.app(id).State != api.AppRunning {
		t.Errorf("bob's context: %v; ann's is %s", reply.Error, w.app(id).State)
	}
}
