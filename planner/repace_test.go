package planner_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// A deadline of 26 s, where the profile has work for 28: all cores, until a stage that
// took 3 s instead of 7.5 has made it feasible. An application that is as
// slow as its profile says keeps all cores to the end.
func TestAnInfeasibleApplicationThatIsFasterThanItsProfileIsPaced(t *testing.T) {
	for _, c := range []struct {
		took  float64
		paced bool
	}{{3, true}, {7.5, false}} {
		w := newWorld(t, "a", "b")
		p := chain("p")
		for i := range p.Stages { // As fast as eight cores are.
			p.Stages[i].Duration = units.Seconds(p.Stages[i].CoreSeconds / 8)
		}
		w.put(p)
		r := registration("p", 26)
		reply := w.mustRegister(r)
		id := reply.AppID
		if reply.Verdict != api.VerdictInfeasible {
			t.Fatalf("verdict %s", reply.Verdict)
		}
		w.to(2)
		w.tell(id, r.Submission, ready(2, 0, "read", 3000, "1", "2"))
		if got := w.targets(id); len(got) != 0 {
			t.Fatalf("targets %v at once", got)
		}
		done0 := 2 + c.took
		w.to(units.Seconds(done0))
		w.tell(id, r.Submission, done(units.Seconds(done0), 0, 2))
		w.step(planner.Tick{})
		w.to(units.Seconds(done0 + 2))
		w.tell(id, r.Submission, ready(units.Seconds(done0+2), 1, "map", 1000, "1", "2"))
		if got := len(w.targets(id)); (got > 0) != c.paced {
			t.Errorf("after %v s: %d targets, verdict %s, %s", c.took, got, w.app(id).Verdict, w.app(id).Reason)
		}
	}
}

// A deadline of 82 s for 80 s of all cores leaves no room for turns: the branches run
// side by side with all cores, on one executor, and the application is not late.
func TestADeadlineWithoutRoomOpensTheGate(t *testing.T) {
	w := forkOn(t, branches(estimate.BranchesAuto), "a")
	r := registration("p", 82)
	reply := w.mustRegister(r)
	id := reply.AppID
	if reply.Verdict != api.VerdictTight || reply.Directive.Gated || reply.Executors != 1 ||
		!strings.Contains(reply.Reason, "it has all cores, since holding its branches back leaves no room") {
		t.Fatalf("%+v", reply)
	}
	w.to(0)
	w.tell(id, r.Submission, ready(0, 1, "one", 8000, "1"), ready(0, 2, "two", 8000, "1"), ready(0, 3, "three", 8000, "1"))
	w.allCores(id, false)
	if got := w.app(id).Pacing; got != "released" {
		t.Errorf("pacing %q", got)
	}
	// Two branches are done when one was to be: there is room, but two stages are still
	// at work on one executor.
	w.to(20)
	w.tell(id, r.Submission, done(20, 1, 0))
	w.step(planner.Tick{})
	w.allCores(id, false)
	w.tell(id, r.Submission, done(20, 2, 0))
	w.step(planner.Tick{})
	if len(w.targets(id)) != 1 || !w.directives[id].Gated {
		t.Errorf("not held back again: %v", w.targets(id))
	}
	if got := w.app(id); got.Pacing != "paced" || !strings.Contains(got.Notices[0], "paced again") {
		t.Errorf("%+v", got)
	}
}

// Branches that take turns and turn out to be slower than profiled are let go side by
// side when in turns they would miss the deadline, not when it has passed.
func TestTurnsThatWouldMissTheDeadlineEnd(t *testing.T) {
	w := forkOn(t, branches(estimate.BranchesAuto), "a")
	p := fork("p") // Two of its branches at a time have four cores, one has two.
	for i := range 3 {
		p.Stages[i].Tasks, p.Stages[i].CoreSeconds, p.Stages[i].NominalRate, p.Stages[i].Duration = 2, 40, 200, []units.Seconds{20, 20, 40}[i]
	}
	w.put(p)
	r := registration("p", 100)
	reply := w.mustRegister(r)
	id := reply.AppID
	if !reply.Directive.Gated || reply.Executors != 1 {
		t.Fatalf("%+v", reply)
	}
	w.to(0)
	w.tell(id, r.Submission, ready(0, 1, "one", 8000, "1"), unseated(0, 2, "two"), unseated(0, 3, "three"))
	for now := units.Seconds(2); now <= 38; now += 2 {
		w.to(now)
		w.step(planner.Tick{})
	}
	if got := w.targets(id); len(got) != 1 {
		t.Fatalf("targets %v", got)
	}
	// 60 s of work for the other three, of the 62 that are left.
	w.to(42)
	w.step(planner.Tick{})
	w.allCores(id, false)
	if got := w.app(id); got.Pacing != "released" || !strings.Contains(got.Notices[0], "branches in turn would miss the deadline") {
		t.Errorf("%+v", got)
	}
}
