package node

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// of is a Plan of that planner and term.
func of(planner string, term, epoch uint64, apps ...api.PlanApp) api.Plan {
	p := plan(epoch, apps...)
	p.Planner, p.Term = planner, term
	return p
}

func (w *world) events(kind EventKind) (found []Event) {
	for _, e := range w.e.Events() {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// A second planner on the bus, or one that lost its state, publishes Plans without the
// executors that run here, at whatever epoch: they are not stopped, and that is said
// once. When they have ended the node follows whoever speaks.
func TestAnotherPlannerStopsNoExecutor(t *testing.T) {
	w := newWorld(t, testConfig(4))
	w.apply(of("first", 3, 9, planApp(appA, 4, ids("1"))))
	w.ticks(2)
	for i := range 2 {
		if actions := w.apply(of("second", 1, uint64(100+i))); len(actions) != 0 {
			t.Fatalf("another planner's Plan made %v", actions)
		}
		if said := w.events(EventPlanForeign); len(said) != 1-i {
			t.Errorf("Plan %d of another planner: said %v", i, said)
		}
	}
	if s := w.e.Status(w.now); s.Epoch != 9 || s.Planner != "first" {
		t.Errorf("the node follows epoch %d of %q, want 9 of the first", s.Epoch, s.Planner)
	}
	// The saved state remembers whose Plan it is.
	w.restart(testConfig(4))
	if w.apply(of("second", 1, 102)); w.e.Status(w.now).Planner != "first" {
		t.Error("a restart made the node another planner's")
	}
	w.ticks(2)
	w.apply(of("first", 3, 10))
	w.ticks(4)
	if len(w.execs) != 0 {
		t.Fatalf("executors %v, want none", w.execs)
	}
	// Another planner's epochs are not those of the first.
	w.apply(of("second", 1, 2, planApp(appB, 4, ids("1"))))
	if s := w.e.Status(w.now); s.Epoch != 2 || s.Planner != "second" {
		t.Errorf("the free node follows epoch %d of %q, want 2 of the second", s.Epoch, s.Planner)
	}
}

// A planner's term grows with each start: what an earlier one said late is ignored,
// also when the newer one has had nothing new to say.
func TestAPlanOfAnOlderTermIsIgnored(t *testing.T) {
	w := newWorld(t, testConfig(4))
	w.apply(of("first", 3, 9, planApp(appA, 4, ids("1"))))
	w.apply(of("first", 4, 9, planApp(appA, 4, ids("1")))) // The reply to a hello.
	if len(w.e.Events()) != 0 {
		t.Errorf("events %v of a Plan that is in force", w.e.Events())
	}
	w.apply(of("first", 3, 10))
	if said := w.events(EventPlanIgnored); len(said) != 1 || !strings.Contains(said[0].Detail, "term 3") {
		t.Errorf("said %v", w.e.Events())
	}
	if s := w.e.Status(w.now); s.Epoch != 9 {
		t.Errorf("the node follows epoch %d, want 9", s.Epoch)
	}
	w.apply(of("first", 5, 11))
	if s := w.e.Status(w.now); s.Epoch != 11 {
		t.Errorf("the node follows epoch %d, want 11", s.Epoch)
	}
}
