package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// A session without an end has no deadline, whatever it was given, and teaches nothing; the next run of
// its profile's name finds what was there before.
func TestASessionWithoutAnEndIsUnpaced(t *testing.T) {
	w := newWorld(t, "a")
	shell := ofContext(0, "shell", 0)
	shell.Deadline, shell.Mode, shell.Shared = 60, api.ModeEndless, true
	reply := w.mustRegister(shell)
	if reply.Verdict != api.VerdictNone || !strings.Contains(reply.Reason, "without an end") || reply.Directive.Gated {
		t.Errorf("it hears %s: %s, gated %v", reply.Verdict, reply.Reason, reply.Directive.Gated)
	}
	if again := w.mustRegister(shell); again.AppID != reply.AppID {
		t.Errorf("registered again it is %s, not %s", again.AppID, reply.AppID)
	}
	id, _ := w.work(shell)
	w.to(70)
	if d := w.app(id); d.Pacing != "unpaced" || d.Deadline != 0 || d.State != api.AppEnding {
		t.Errorf("pacing %s, deadline %v, %s", d.Pacing, d.Deadline, d.State)
	}
	w.report(shell.Submission, 0, 71)
	w.pass(2 * time.Second)
	if p := w.stored("shell"); p != nil {
		t.Errorf("it has taught %+v", p)
	}
}
