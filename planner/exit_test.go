package planner_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

func (w *world) exit(submission string, code int) api.ControlReply {
	w.Helper()
	return w.control(api.VerbExit, api.ControlRequest{Submission: submission, ExitCode: code})
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

func TestExitReportsThatChangeNothing(t *testing.T) {
	w := newWorld(t, "a")
	for _, c := range []struct {
		submission string
		code       int
		want       api.Kind
	}{
		{"", 1, api.KindInvalid}, {"s", 0, api.KindInvalid}, {"s", 256, api.KindInvalid}, {"s", 1, api.KindNotFound},
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
	reported := slices.ContainsFunc(w.said, func(o planner.Occurrence) bool { return o.Name() == "exit code reported" })
	if reported {
		t.Error("what failed anyway is said to have failed")
	}
}
