package planner_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// A cap is in the Plans of an application's nodes, also after a restart; the verdict counts
// with it; a run that was capped teaches no durations.
func TestACapIsInThePlan(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.put(chain("p"))
	id := w.mustRegister(registration("p", 100)).AppID
	limit := func(cores units.Cores) string {
		t.Helper()
		r := w.control(api.VerbCap, api.ControlRequest{App: id, Cap: cores})
		if r.Error != nil {
			return r.Error.Error()
		}
		return r.Message
	}
	want := func(cores units.Cores) {
		t.Helper()
		for _, node := range []string{"a", "b"} {
			if got := w.plans[node].Apps[0].Cap; got != cores {
				t.Errorf("node %s: a cap of %v, want %v", node, got, cores)
			}
		}
		if got := w.app(id).Cap; got != cores {
			t.Errorf("shown is a cap of %v, want %v", got, cores)
		}
	}
	want(0)
	if said := limit(0.25); !strings.Contains(said, "infeasible") {
		t.Errorf("a quarter of a core on each node: %s", said)
	}
	want(0.25)
	w.restart()
	w.hello("a")
	w.hello("b")
	want(0.25)
	if said := limit(0); !strings.Contains(said, "is feasible") {
		t.Errorf("no cap: %s", said)
	}
	want(0)
	for _, bad := range []units.Cores{-1, units.Unlimited} {
		if said := limit(bad); !strings.Contains(said, "cap") {
			t.Errorf("a cap of %v: %s", bad, said)
		}
	}
}

// A cap reaches the nodes in every mode, and what is left alone is shown with it.
func TestACapHoldsInEveryMode(t *testing.T) {
	for _, mode := range []api.Mode{api.ModeControl, api.ModeObserve, api.ModeOff} {
		w, _, reply := inMode(t, mode)
		for _, cores := range []units.Cores{1.5, 0} {
			if r := w.control(api.VerbCap, api.ControlRequest{App: reply.AppID, Cap: cores}); r.Error != nil {
				t.Fatalf("mode %s: a cap of %v: %v", mode, cores, r.Error)
			}
			if told, shown := w.plans["a"].Apps[0], w.app(reply.AppID).Cap; told.Cap != cores || shown != cores || told.Launch.Mode != mode {
				t.Errorf("mode %s: the node is told a cap of %v, shown is %v, want %v", mode, told.Cap, shown, cores)
			}
		}
	}
}
