package planner_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// makeWay takes a seat back while somebody waits: the last one of the application that has most, which
// keeps one.
func makeWay(v ledger.View) []ledger.Lever {
	if len(v.Waiting()) == 0 {
		return nil
	}
	var most []*ledger.Executor
	var of api.AppID
	for a := range v.Running() {
		alive := a.Alive()
		if slices.ContainsFunc(alive, func(x *ledger.Executor) bool { return x.Leaving }) {
			return nil // One at a time.
		}
		if len(alive) > max(1, len(most)) {
			most, of = alive, a.ID
		}
	}
	if of == "" {
		return nil
	}
	return []ledger.Lever{ledger.ExecutorLeaving{App: of, ID: most[len(most)-1].ID}}
}

// A decider that takes a seat back when somebody waits is a function, and a line where it is asked.
func TestADeciderThatMakesWay(t *testing.T) {
	w := newWorld(t, "a", "b")
	first, second := large("first"), large("second")
	one, two := w.mustRegister(first).AppID, w.mustRegister(second).AppID
	w.tell(one, first.Submission, up("1"), up("2"))
	if len(w.counted("a", one)) != 1 || len(w.counted("b", one)) != 1 || w.app(two).State != api.AppQueued {
		t.Fatalf("%v, %v, %s", w.counted("a", one), w.counted("b", one), w.app(two).State)
	}
	w.e.Ask(makeWay)
	w.live(2*time.Minute, one, two)
	if left := w.heard("executor left"); len(left) != 1 || left[0].fact.(ledger.ExecutorLost).App != one {
		t.Errorf("left: %v", left)
	}
	if d := w.app(two); d.State != api.AppRunning || len(w.counted("b", two)) != 1 || len(w.counted("a", one)) != 1 {
		t.Errorf("the second is %s on %v, the first on %v", d.State, w.counted("b", two), w.counted("a", one))
	}
	if got := w.e.View().Claimed(w.e.View().Node("b")); got > 16*units.GiB {
		t.Errorf("%v claimed", got)
	}
}
