package planner_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// divide asks for a division and returns the planner's line, or its refusal.
func (w *world) divide(node string, d *api.Division) string {
	w.Helper()
	r := w.control(api.VerbDivide, api.ControlRequest{Node: node, Division: d})
	if r.Error != nil {
		return r.Error.Error()
	}
	return r.Message
}

// division is what a node's newest Plan says.
func (w *world) division(node string) string {
	if d := w.plans[node].Division; d != nil {
		return d.Strategy
	}
	return ""
}

// What is set for one node counts before what is set for all, until all are set again; a
// planner that restarts goes on with it.
func TestADivisionIsSetLive(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.mustRegister(registration("p", 0))
	want := func(what, a, b string) {
		t.Helper()
		if got := [2]string{w.division("a"), w.division("b")}; got != [2]string{a, b} {
			t.Errorf("%s: the plans divide by %q", what, got)
		}
	}
	before := w.plans["a"].Epoch
	want("at first", "", "")
	w.divide("", &api.Division{Strategy: "edf-prop"})
	want("for all", "edf-prop", "edf-prop")
	if w.plans["a"].Epoch <= before {
		t.Error("the plan is no new one")
	}
	w.divide("b", &api.Division{Strategy: "speed", Gamma: 1})
	want("for b", "edf-prop", "speed")
	epoch := w.plans["b"].Epoch
	w.restart()
	w.hello("c")
	if w.plans["b"].Epoch != epoch {
		t.Errorf("the restart has made plan %d of %d", w.plans["b"].Epoch, epoch)
	}
	w.divide("c", nil)
	if w.division("c") != "edf-prop" {
		t.Errorf("a node that comes divides by %q", w.division("c"))
	}
	w.divide("", &api.Division{Strategy: "proportional"})
	want("for all again", "proportional", "proportional")
	w.divide("", nil)
	want("as configured", "", "")
}

func TestADivisionThatIsNotKnownIsRefused(t *testing.T) {
	w := newWorld(t, "a")
	for want, q := range map[string]struct {
		node string
		d    api.Division
	}{
		`"fifo", want one of`: {"", api.Division{Strategy: "fifo"}}, "gamma is 2": {"a", api.Division{Strategy: "speed", Gamma: 2}},
		`eq21 is "read"`: {"", api.Division{Strategy: "speed", Eq21: "read"}}, `node "z" is not known`: {"z", api.Division{Strategy: "speed"}},
	} {
		if said := w.divide(q.node, &q.d); !strings.Contains(said, want) {
			t.Errorf("%+v: %s, want %s", q, said, want)
		}
	}
	if w.division("a") != "" {
		t.Errorf("the plan divides by %q", w.division("a"))
	}
}
