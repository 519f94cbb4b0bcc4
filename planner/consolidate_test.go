package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/planner"
)

// consolidate asks which node may sleep.
func (w *world) consolidate(apply bool) string {
	w.Helper()
	r := w.control(map[bool]api.Verb{true: api.VerbEmpty, false: api.VerbSpare}[apply], api.ControlRequest{})
	if r.Error != nil {
		w.Fatalf("%v", r.Error)
	}
	return r.Message
}

// calm lets time pass in which all are heard.
func (w *world) calm(d time.Duration, nodes ...string) {
	w.Helper()
	for ; d > 0; d -= time.Second {
		for _, n := range nodes {
			s := w.status(n)
			w.step(planner.Status{Status: &s})
		}
		w.pass(time.Second)
	}
}

// A node that nobody needs is said, then sleeps; it survives a restart, wakes for one that would wait, and stays awake then.
func TestANodeSleepsUntilSomebodyWantsIt(t *testing.T) {
	w := newWorld(t, "a", "b")
	if m := w.consolidate(false); m != "node a may sleep: it uses 0 % of its cores and 0 % of its memory, which others have to spare" {
		t.Fatal(m)
	}
	if w.state("a") != "ready" || !strings.HasPrefix(w.consolidate(true), "node a drains and sleeps: ") || w.state("a") != "asleep" {
		t.Fatalf("a is %s", w.state("a"))
	}
	if m := w.consolidate(true); m != "at most one node takes executors: it stays awake" || w.state("b") != "ready" {
		t.Errorf("%s, b is %s", m, w.state("b"))
	}
	w.restart()
	w.hello("a")
	w.hello("b")
	if w.state("a") != "asleep" {
		t.Fatalf("after a restart a is %s", w.state("a"))
	}
	r := registration("p", 0)
	r.Nodes = &api.NodeRange{Least: 2}
	id := w.mustRegister(r).AppID
	if w.state("a") != "ready" || len(w.planned("a", id)) != 1 || len(w.heard("node awake")) != 1 {
		t.Fatalf("a is %s, and has %v of one that needs two nodes", w.state("a"), w.planned("a", id))
	}
	if m := w.consolidate(true); !strings.Contains(m, "it was woken, and stays awake for 6") && !strings.Contains(m, "is in its first run") {
		t.Error(m)
	}
}

// An operator's drain is no sleep: nothing wakes it, and one of a node that sleeps stays.
func TestAnOperatorsDrainIsNotUndone(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.drain("a")
	r := registration("p", 0)
	r.Nodes = &api.NodeRange{Least: 2}
	w.register(r)
	w.calm(30*time.Second, "a", "b")
	if w.state("a") != "drained" {
		t.Errorf("a is %s", w.state("a"))
	}
	w = newWorld(t, "a", "b")
	w.consolidate(true)
	w.drain("a")
	w.register(r)
	w.calm(30*time.Second, "a", "b")
	if w.state("a") != "drained" {
		t.Errorf("a, which slept, is %s", w.state("a"))
	}
}

// Who is in the way is told: an application in its first run, and one that has nobody elsewhere.
func TestWhoIsInTheWayIsTold(t *testing.T) {
	w := newWorld(t, "a", "b")
	id := w.mustRegister(registration("p", 0)).AppID
	if m := w.consolidate(true); !strings.HasPrefix(m, "node ") || !strings.Contains(m, "is the least used, and stays awake: "+string(id)+" is in its first run") {
		t.Error(m)
	}
	w = newWorld(t, "a", "b")
	r := registration("p", 0)
	r.Launch.Mode, r.Nodes = api.ModeOff, &api.NodeRange{Most: 1}
	id = w.mustRegister(r).AppID
	other := "b"
	if len(w.planned("b", id)) > 0 {
		other = "a"
	}
	if m := w.consolidate(false); !strings.HasPrefix(m, "node "+other+" may sleep") {
		t.Error(m)
	}
}

// By apply nodes sleep by themselves, one each two minutes and never the last; by advise that is told once.
func TestNodesSleepByThemselves(t *testing.T) {
	for mode, want := range map[string][2]int{placement.ConsolidateApply: {2, 0}, placement.ConsolidateAdvise: {0, 1}, placement.ConsolidateOff: {0, 0}} {
		cfg := planner.Default()
		cfg.Consolidate = mode
		w := newWorldOf(t, cfg, "a", "b", "c")
		w.calm(9*time.Minute, "a", "b", "c")
		asleep := 0
		for _, n := range []string{"a", "b", "c"} {
			if w.state(n) == "asleep" {
				asleep++
			}
		}
		if got := [2]int{asleep, len(w.heard("node spare"))}; got != want {
			t.Errorf("%s: %d sleep, told %d times; want %v", mode, got[0], got[1], want)
		}
	}
}

// What a deadline would mean counts nodes that sleep: they would wake. It does not count one that an operator drains.
func TestAPlanCountsNodesThatSleep(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.putChain()
	cores := func() float64 {
		w.Helper()
		r := w.step(planner.PlanQuery{To: 1, Request: api.PlanRequest{V: api.Version, Profile: "p", Deadline: 100}}).(api.PlanReply)
		if r.Error != nil {
			t.Fatal(r.Error)
		}
		return float64(r.Cores)
	}
	awake := cores()
	if w.consolidate(true); w.state("a") != "asleep" || cores() != awake {
		t.Errorf("a is %s: %v cores, %v with both awake", w.state("a"), cores(), awake)
	}
	if r := w.control(api.VerbDrain, api.ControlRequest{Node: "a"}); r.Error != nil || cores() != awake/2 {
		t.Errorf("%v cores of one node, %v of two: %v", cores(), awake, r.Error)
	}
}
