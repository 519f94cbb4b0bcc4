package planner_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// drowsy is a world of which node a sleeps, with a profile of 68 s on both and of 98 s on one.
func drowsy(t *testing.T) *world {
	w := newWorld(t, "a", "b")
	p := chain("chain")
	for i := range p.Stages {
		p.Stages[i].CoreSeconds *= 2
		p.Stages[i].NominalRate /= 2
	}
	w.put(p)
	if w.consolidate(true); w.state("a") != "asleep" {
		t.Fatalf("a is %s", w.state("a"))
	}
	return w
}

// woken says why the last node was woken.
func (w *world) woken() string {
	all := w.heard("node awake")
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].fact.(placement.NodeSlept).Why
}

// busy lets time pass in which executors of a node use so many cores, as it says.
func (w *world) busy(node string, cores units.Cores, d time.Duration, apps ...api.AppID) {
	w.Helper()
	for end := w.now.Add(d); w.now < end; {
		w.pass(time.Second)
		for _, id := range apps {
			w.resend(id, w.app(id).Submission)
		}
		for _, n := range []string{"a", "b"} {
			s := w.status(n)
			for _, p := range w.plans[n].Apps {
				for _, x := range p.Executors {
					cpu := units.Work(1)
					if n == node {
						cpu = units.Work(float64(cores) * float64(units.FromDuration(w.now.Sub(epoch))))
					}
					s.Executors = append(s.Executors, api.ExecutorStatus{App: p.ID, ID: x, State: api.ExecutorRunning, CPU: cpu})
				}
			}
			w.step(planner.Status{Status: &s})
		}
	}
}

// A newcomer that would be late on the nodes that are awake wakes another one before it is judged; one that is in time wakes nobody.
func TestANewcomerWakesANodeBeforeItIsJudged(t *testing.T) {
	for deadline, want := range map[units.Seconds]string{1000: "asleep", 80: "ready", 0: "asleep"} {
		w := drowsy(t)
		reply := w.mustRegister(registration("chain", deadline))
		if w.state("a") != want || reply.Verdict == api.VerdictInfeasible || (want == "ready") != (len(w.planned("a", reply.AppID)) == 1) {
			t.Errorf("%v s: %s, and a is %s with %v", deadline, reply.Verdict, w.state("a"), w.planned("a", reply.AppID))
		}
	}
}

// One that would wait for memory does not: a node that sleeps has it. One that no node could hold is refused and wakes nobody;
// nor does a Spark that is not supported.
func TestANewcomerThatWouldWaitWakesANode(t *testing.T) {
	w := drowsy(t)
	for n := range 2 {
		r := registration(fmt.Sprint("large ", n), 0)
		r.Launch.Heap = 12 * units.GiB
		reply := w.mustRegister(r)
		if want := []string{"asleep", "ready"}[n]; w.state("a") != want || reply.Directive.Queued != nil {
			t.Errorf("%d: a is %s, %+v", n, w.state("a"), reply.Directive.Queued)
		}
	}
	w = drowsy(t)
	r := registration("chain", 0)
	if r.Launch.SparkVersion = "1.6.0"; w.register(r).Error == nil || w.state("a") != "asleep" {
		t.Errorf("a is %s", w.state("a"))
	}
	r = registration("chain", 0)
	if r.Launch.Heap = 100 * units.GiB; w.register(r).Error == nil || w.state("a") != "asleep" {
		t.Errorf("a is %s", w.state("a"))
	}
}

// An application that waits wakes a node that sleeps as soon as that is here.
func TestAnApplicationThatWaitsWakesANode(t *testing.T) {
	w := drowsy(t)
	w.calm(10*time.Second, "b") // a is lost.
	for n := range 2 {
		r := registration(fmt.Sprint("large ", n), 0)
		r.Launch.Heap = 12 * units.GiB
		w.register(r)
	}
	if m := w.consolidate(true); w.state("a") != "lost" || !strings.Contains(m, "at most one node") {
		t.Fatalf("a is %s: %s", w.state("a"), m)
	}
	w.hello("a")
	w.calm(10*time.Second, "a", "b")
	if w.state("a") != "ready" || !strings.Contains(w.woken(), " waits") {
		t.Errorf("a is %s: %s", w.state("a"), w.woken())
	}
}

// A forecast that turns late wakes a node: 98 s on b alone are due after 200 s, and nothing is done.
func TestAForecastThatTurnsLateWakesANode(t *testing.T) {
	w := drowsy(t)
	id := w.mustRegister(registration("chain", 200)).AppID
	w.live(95*time.Second, id)
	if w.state("a") != "asleep" {
		t.Fatalf("a is %s: %s", w.state("a"), w.woken())
	}
	w.live(25*time.Second, id)
	if w.state("a") != "ready" || w.woken() != string(id)+" would be late" || len(w.planned("a", id)) != 1 {
		t.Errorf("a is %s with %v: %s", w.state("a"), w.planned("a", id), w.woken())
	}
}

// Three rounds of Overload wake a node, two do not; by off, too.
func TestOverloadWakesANode(t *testing.T) {
	w := drowsy(t)
	r := registration("chain", 0)
	r.Launch.Mode = api.ModeOff
	id := w.mustRegister(r).AppID
	w.busy("b", 4, 5*time.Minute, id)
	if w.state("a") != "asleep" {
		t.Fatalf("a is %s: %s", w.state("a"), w.woken())
	}
	w.busy("b", 4, 2*time.Minute, id)
	if w.state("a") != "ready" || w.woken() != "node b is overloaded" {
		t.Errorf("a is %s: %s", w.state("a"), w.woken())
	}
}

// What was woken stays awake for ten minutes, also after a restart; then it sleeps again. An operator who has it take executors again
// wakes it.
func TestAWokenNodeStaysAwake(t *testing.T) {
	cfg := planner.Default()
	cfg.Consolidate = placement.ConsolidateApply
	w := newWorldOf(t, cfg, "a", "b")
	w.calm(150*time.Second, "a", "b")
	if w.state("a") != "asleep" {
		t.Fatalf("a is %s", w.state("a"))
	}
	w.control(api.VerbUndrain, api.ControlRequest{Node: "a"})
	began := w.now
	w.calm(5*time.Minute, "a", "b")
	w.restart()
	w.hello("a")
	w.hello("b")
	if m := w.consolidate(true); !strings.Contains(m, "it was woken, and stays awake for 300 s more") {
		t.Error(m)
	}
	for w.state("a") == "ready" && w.now < began.Add(20*time.Minute) {
		w.calm(time.Second, "a", "b")
	}
	if awake := w.now.Sub(began); awake < 10*time.Minute || awake > 13*time.Minute {
		t.Errorf("a was awake for %v", awake)
	}
}

// A node of which an application has nobody elsewhere, and any while somebody is queued, stays awake, and the answer says so.
func TestWhatIsNeverDrained(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.put(chain("chain"))
	var ids []api.AppID
	for n := range 3 {
		r := registration("chain", 0)
		r.Submission = fmt.Sprint(n)
		r.Launch.Heap, r.Nodes = 12*units.GiB, &api.NodeRange{Most: 1}
		ids = append(ids, w.mustRegister(r).AppID)
	}
	m := w.consolidate(true)
	for _, want := range []string{"stays awake: 1 applications wait; ", string(ids[0]) + " has no executor elsewhere"} {
		if !strings.Contains(m, want) {
			t.Errorf("%q does not say %q", m, want)
		}
	}
	if w.state("a") != "ready" || w.state("b") != "ready" {
		t.Errorf("a is %s, b is %s", w.state("a"), w.state("b"))
	}
}

// Tables of another layout are learnt anew, which is said once; what is learnt survives a restart.
func TestTablesOfAnotherLayoutAreLearntAnew(t *testing.T) {
	cfg := planner.Default()
	cfg.Consolidate = placement.ConsolidateAdvise
	w := newWorldOf(t, cfg, "a", "b")
	w.put(chain("chain"))
	id := w.mustRegister(registration("chain", 0)).AppID
	w.busy("b", 1, 3*time.Minute, id)
	learnt := w.e.View().Learnt(ledger.NodesKey)
	w.restart()
	if len(learnt) < 10 || !bytes.Equal(w.e.View().Learnt(ledger.NodesKey), learnt) {
		t.Fatalf("%d bytes are kept of %d", len(w.e.View().Learnt(ledger.NodesKey)), len(learnt))
	}
	for key, value := range w.disk {
		if bytes.Equal(value, learnt) {
			w.disk[key] = []byte{99, 1, 2}
		}
	}
	w.restart()
	w.hello("a")
	w.hello("b")
	w.busy("b", 1, 5*time.Minute, id)
	if n, kept := len(w.heard("nodes forgotten")), w.e.View().Learnt(ledger.NodesKey); n != 1 || len(kept) < 10 || kept[0] == 99 {
		t.Errorf("said %d times, %d bytes are kept", n, len(kept))
	}
}
