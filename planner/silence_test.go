package planner_test

import (
	"maps"
	"slices"
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

// A node that is lost is lost to the drivers with executors there, until it is back: whether
// they hear these themselves decides.
func TestDriversAreToldOfLostNodes(t *testing.T) {
	w := newWorld(t, "a", "b")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	w.send(id, r.Submission, up("1"), up("2"))
	lost := func() (of []string) {
		for _, x := range w.directives[id].Executors {
			if x.NodeLost {
				of = append(of, x.Node)
			}
		}
		return of
	}
	for range 11 {
		w.pass(time.Second)
		w.step(planner.Status{Status: new(w.status("a"))})
		w.resend(id, r.Submission)
	}
	if got := lost(); !slices.Equal(got, []string{"b"}) {
		t.Fatalf("the driver is told that %v are lost, want b: %+v", got, w.directives[id])
	}
	if n := len(w.app(id).Executors); n != 2 {
		t.Errorf("%d executors, want both: the driver may hear them", n)
	}
	w.step(planner.Status{Status: new(w.status("b"))})
	if got := lost(); len(got) > 0 {
		t.Errorf("%v are told to be lost after b is back", got)
	}
}
