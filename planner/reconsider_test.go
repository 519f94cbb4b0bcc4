package planner_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
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
