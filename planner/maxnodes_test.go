package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

// places are the nodes that an application's Directive has staying executors on,
// sorted, each once.
func (w *world) places(id api.AppID) []string {
	var names []string
	for _, x := range w.directives[id].Executors {
		if !x.Leaving {
			names = append(names, x.Node)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func spreadOver(t *testing.T, most int, nodes ...string) *world {
	t.Helper()
	cfg := planner.Default()
	cfg.MaxNodes = most
	w := newWorldOf(t, cfg, nodes...)
	w.put(chain("p"))
	return w
}

// TestMaxNodes: with planner.max-nodes applications take the least committed
// nodes, one after the other, and only those nodes' Plans have them.
func TestMaxNodes(t *testing.T) {
	w := spreadOver(t, 2, "a", "b", "c", "d", "e")
	for i, want := range [][]string{{"a", "b"}, {"c", "d"}, {"a", "e"}, {"b", "c"}} {
		r := registration("p", 1000)
		r.Submission = fmt.Sprint(i)
		reply := w.mustRegister(r)
		if diff := cmp.Diff(want, w.places(reply.AppID)); diff != "" {
			t.Errorf("application %d (-want +got):\n%s", i, diff)
		}
		if reply.Slots != 8 {
			t.Errorf("application %d is told %d slots, want the 8 of its two nodes", i, reply.Slots)
		}
		for name, plan := range w.plans {
			has := slices.ContainsFunc(plan.Apps, func(a api.PlanApp) bool { return a.ID == reply.AppID })
			if has != slices.Contains(want, name) {
				t.Errorf("application %d in the plan of %s: %v", i, name, has)
			}
		}
	}
}

// TestMaxNodesAllByDefault: without the setting nothing is chosen.
func TestMaxNodesAllByDefault(t *testing.T) {
	w := newWorld(t, "a", "b", "c")
	if got := w.places(w.mustRegister(registration("p", 0)).AppID); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("on %v, want all nodes", got)
	}
}

// TestMaxNodesGrows: an application that came when there were too few nodes grows
// up to the bound and no further.
func TestMaxNodesGrows(t *testing.T) {
	w := spreadOver(t, 2, "a")
	r := registration("p", 1000)
	id := w.mustRegister(r).AppID
	for _, step := range []struct {
		comes string
		want  []string
	}{{"b", []string{"a", "b"}}, {"c", []string{"a", "b"}}} {
		w.hello(step.comes)
		w.tell(id, r.Submission)
		if got := w.places(id); !slices.Equal(got, step.want) {
			t.Errorf("after %s came: on %v, want %v", step.comes, got, step.want)
		}
	}
}

// TestMaxNodesDrain: who is asked to leave a node gets another one in its place,
// also when it was the only one.
func TestMaxNodesDrain(t *testing.T) {
	for most, want := range map[int][]string{1: {"b"}, 2: {"b", "c"}} {
		w := spreadOver(t, most, "a", "b", "c")
		r := registration("p", 1000)
		id := w.mustRegister(r).AppID
		if reply := w.control(api.VerbDrain, api.ControlRequest{Node: "a"}); reply.Error != nil {
			t.Fatal(reply.Error)
		}
		w.tell(id, r.Submission)
		for _, x := range w.directives[id].Executors {
			w.tell(id, r.Submission, api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: x.ID}})
		}
		w.pass(1e9)
		if got := w.places(id); !slices.Equal(got, want) {
			t.Errorf("at most %d nodes, a drains: on %v, want %v", most, got, want)
		}
	}
}

// TestMaxNodesUndrain: one that was to leave a node that takes executors again may be on more nodes than the bound. It
// gets no more, and the planner lives.
func TestMaxNodesUndrain(t *testing.T) {
	w := spreadOver(t, 1, "a", "b", "c")
	r := registration("p", 1000)
	id := w.mustRegister(r).AppID
	for _, verb := range []api.Verb{api.VerbDrain, api.VerbUndrain} {
		if reply := w.control(verb, api.ControlRequest{Node: "a"}); reply.Error != nil {
			t.Fatal(reply.Error)
		}
		w.tell(id, r.Submission)
	}
	if got := w.places(id); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("on %v, want a, where it is and stays, and b, which it got meanwhile", got)
	}
}

// TestMaxNodesReplacement: an executor whose node is lost comes back elsewhere
// without taking more nodes than the bound, also when it was the only one.
func TestMaxNodesReplacement(t *testing.T) {
	for most, want := range map[int][]string{1: {"b"}, 2: {"b", "c"}} {
		w := spreadOver(t, most, "a", "b", "c")
		r := registration("p", 1000)
		id := w.mustRegister(r).AppID
		for range 12 {
			w.pass(1e9)
			for _, n := range []string{"b", "c"} {
				w.step(planner.Status{Status: new(w.status(n))})
			}
			w.tell(id, r.Submission)
		}
		w.tell(id, r.Submission, api.Event{Type: api.EventExecutorGone, Executor: &api.ExecutorEvent{ID: "1", Reason: "lost"}})
		w.tell(id, r.Submission)
		if got := w.places(id); !slices.Equal(got, want) {
			t.Errorf("at most %d nodes: on %v, want %v", most, got, want)
		}
	}
}

// TestMaxNodesForecast: what `pacer plan` says is for the nodes that an application
// would get.
func TestMaxNodesForecast(t *testing.T) {
	w := spreadOver(t, 2, "a", "b", "c")
	r := w.step(planner.PlanQuery{To: 1, Request: api.PlanRequest{V: api.Version, Profile: "p", Deadline: 100}}).(api.PlanReply)
	if r.Error != nil || r.Cores != 8 {
		t.Errorf("planned with %v cores (%v), want the 8 of two nodes", r.Cores, r.Error)
	}
}

// TestNodesOfItsOwn: an application has executors on no more nodes than its user wants, and starts where as
// few have room as its user says it can do with, through a kill -9 of the planner.
func TestNodesOfItsOwn(t *testing.T) {
	w := spreadOver(t, 0, "a", "b")
	first, second := large("first"), large("second")
	first.Nodes, second.Nodes = &api.NodeRange{Most: 1}, &api.NodeRange{Least: 2}
	one := w.mustRegister(first).AppID
	w.tell(one, first.Submission, up("1"))
	if got := w.places(one); !slices.Equal(got, []string{"a"}) {
		t.Errorf("at most one node: on %v", got)
	}
	reply := w.mustRegister(second)
	if reply.Directive.Queued == nil || !strings.Contains(reply.Reason, "fits 1 nodes now, and the application asks for 2 at least") {
		t.Fatalf("two nodes at least, of which one is free: %+v", reply)
	}
	w.restart()
	for _, n := range []string{"a", "b", "c"} {
		w.hello(n)
	}
	two := w.mustRegister(second).AppID
	w.pass(time.Second)
	w.tell(two, second.Submission)
	w.tell(one, first.Submission)
	if got := w.places(one); !slices.Equal(got, []string{"a"}) {
		t.Errorf("at most one node, and others come: on %v", got)
	}
	if got := w.places(two); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("two nodes at least, and one comes: on %v", got)
	}
}

// TestMoreNodesThanTheBound: nobody waits for more nodes than planner.max-nodes gives.
func TestMoreNodesThanTheBound(t *testing.T) {
	w := spreadOver(t, 1, "a", "b")
	r := large("first")
	r.Nodes = &api.NodeRange{Least: 2}
	if reply := w.register(r); reply.Error == nil || reply.Error.Kind != api.KindInvalid || !strings.Contains(reply.Error.Message, "asks for 2 nodes at least, and one gets 1") {
		t.Errorf("%+v", reply)
	}
}
