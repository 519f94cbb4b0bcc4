package planner_test

import (
	"maps"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

// Nodes that fall silent one after the other are lost each at its own time and
// forgotten an hour after it was heard last, whenever the planner has looked for
// silent ones in between.
func TestSilentNodesAreLostEachOnTime(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.step(planner.Tick{}) // From the first tick on time counts.
	began := w.now
	lost := map[string]time.Duration{}
	until := func(end time.Duration) {
		for w.now.Sub(began) < end {
			w.said = nil
			w.pass(250 * time.Millisecond)
			for _, o := range w.said {
				if l, ok := o.(planner.NodeLost); ok {
					lost[l.Node] = w.now.Sub(began)
					if want := 10 * time.Second; l.Silent != want {
						t.Errorf("node %s was silent for %v, want %v", l.Node, l.Silent, want)
					}
				}
			}
		}
	}
	until(3 * time.Second)
	w.step(planner.Status{Status: new(w.status("b"))})
	until(5 * time.Second)
	w.hello("c")
	until(12 * time.Second)
	w.step(planner.Status{Status: new(w.status("a"))}) // It was lost and is back.
	until(25 * time.Second)
	want := map[string]time.Duration{"a": 22 * time.Second, "b": 13 * time.Second, "c": 15 * time.Second}
	if !maps.Equal(lost, want) {
		t.Errorf("lost at %v, want %v", lost, want)
	}
	known := func() (n int) { return len(w.control(api.VerbNodes, api.ControlRequest{}).Nodes) }
	until(time.Hour + 3*time.Second - time.Second/2)
	if n := known(); n != 3 {
		t.Errorf("%d nodes are known, want 3", n)
	}
	for i, end := range []time.Duration{3 * time.Second, 5 * time.Second, 12 * time.Second} {
		until(time.Hour + end)
		if n := known(); n != 2-i {
			t.Errorf("%d nodes are known after an hour and %v, want %d", n, end, 2-i)
		}
	}
}
