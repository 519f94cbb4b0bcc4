package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// reservedOn is what of the node is reserved for the application by the Plan in force.
func (w *world) reservedOn(node string, id api.AppID) units.Cores {
	for _, a := range w.plans[node].Apps {
		if a.ID == id && a.Reserved {
			return a.Least
		}
	}
	return 0
}

// Two runs teach what deadlines need; then cores are reserved for a first run, which its verdict, its Plans and other
// verdicts say, also after a restart, until it is due.
func TestCoresAreReserved(t *testing.T) {
	cfg := planner.Default()
	cfg.Queue.Admission = assign.Pythia
	w := newWorldOf(t, cfg, "a", "b")
	for n := range 2 {
		r := registration(fmt.Sprint("lesson ", n), 10)
		r.Submission = fmt.Sprint("lesson ", n)
		reply := w.mustRegister(r)
		if !strings.Contains(reply.Reason, "it keeps the 8.0 cores that are free now, since nobody knows what deadlines here need after") {
			t.Fatal(reply.Reason)
		}
		for _, x := range reply.Directive.Executors {
			w.send(reply.AppID, r.Submission, up(x.ID))
		}
		w.send(reply.AppID, r.Submission, ready(0.1, 0, "read", 1000, "1"))
		w.live(5*time.Second, reply.AppID)
		ended := done(5, 0, 0.1)
		ended.Done.TaskCPU = 40
		w.send(reply.AppID, r.Submission, ended, end(5))
		w.report(r.Submission, 0, 5)
		w.pass(3 * time.Second)
	}
	first := registration("first", 100)
	reply := w.mustRegister(first)
	if want := "deadline 1m40s: 4.0 of 8.0 cores are reserved: deadlines here needed at most 0.50 of what they could use, 2 runs"; reply.Reason != want {
		t.Errorf("%q, want %q", reply.Reason, want)
	}
	check := func(when string, want units.Cores) {
		t.Helper()
		if a, b := w.reservedOn("a", reply.AppID), w.reservedOn("b", reply.AppID); !near(float64(a), float64(want), 1e-9) || a != b {
			t.Errorf("%s: %v and %v cores, want %v each", when, a, b, want)
		}
	}
	check("registered", 2)
	w.restart()
	w.hello("a")
	w.hello("b")
	check("restarted", 2)
	second := registration("second", 100)
	second.Submission = "second"
	if reply := w.mustRegister(second); !strings.Contains(reply.Reason, "4.0 of 8.0 cores are reserved: deadlines here needed at most 0.50") {
		t.Errorf("what was learnt is lost: %q", reply.Reason)
	}
	w.live(98*time.Second, reply.AppID)
	check("nearly due", 2)
	w.live(3*time.Second, reply.AppID)
	check("due", 0)
	if told := w.heard("cores reserved"); len(told) == 0 || !strings.Contains(told[len(told)-1].Text, "has passed") {
		t.Errorf("%v", told)
	}
}

// Another deadline is another question, and a stream has nothing reserved.
func TestAnotherDeadlineOfAReservation(t *testing.T) {
	cfg := planner.Default()
	cfg.Queue.Admission = assign.Justice
	w := newWorldOf(t, cfg, "a")
	reply := w.mustRegister(registration("new", 100))
	w.control(api.VerbDeadline, api.ControlRequest{App: reply.AppID, Deadline: 200})
	if got := w.reservedOn("a", reply.AppID); got != 4 || !strings.Contains(w.app(reply.AppID).Reason, "deadline 3m20s is unknown to be feasible: it keeps the 4.0") {
		t.Errorf("%v cores: %s", got, w.app(reply.AppID).Reason)
	}
	w.send(reply.AppID, "submission of new", api.Event{Type: api.EventUnpaced, At: 1})
	if got := w.reservedOn("a", reply.AppID); got != 0 {
		t.Errorf("%v cores are reserved for a stream", got)
	}
}

// What is reserved moves in the very tick in which executors are asked to leave a node: no other one is promised more than it has.
func TestReservedCoresFollowADrain(t *testing.T) {
	cfg := planner.Default()
	cfg.Queue.Admission = assign.Pythia
	w := newWorldOf(t, cfg, "a", "b")
	r := registration("first", 100)
	id := w.mustRegister(r).AppID
	if w.reservedOn("a", id) != 4 {
		t.Fatalf("%v cores of a are reserved", w.reservedOn("a", id))
	}
	w.drain("b")
	w.send(id, r.Submission, up("1"), up("2"))
	w.pass(time.Millisecond)
	if got := w.reservedOn("a", id); got > 4 {
		t.Errorf("%v of the 4 cores of a are reserved", got)
	}
}
