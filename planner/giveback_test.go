package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/planner"
)

// shared is a world that is served by the rule, where a batch run has an executor on each of two nodes and a person
// comes.
func shared(t *testing.T, rule string) (w *world, batch, shell api.AppID) {
	t.Helper()
	cfg := planner.Default()
	cfg.Queue.Rule = rule
	w = newWorldOf(t, cfg, "a", "b")
	first, second := large("batch"), large("shell")
	second.Class, second.Nodes = api.ClassInteractive, &api.NodeRange{Most: 1}
	batch = w.mustRegister(first).AppID
	w.tell(batch, first.Submission, up("1"), up("2"))
	w.live(30*time.Second, batch)
	shell = w.mustRegister(second).AppID
	return w, batch, shell
}

// leaving are the executors of an application that its driver is told to let go.
func (w *world) leaving(id api.AppID) (all []api.ExecutorID) {
	for _, x := range w.directives[id].Executors {
		if x.Leaving {
			all = append(all, x.ID)
		}
	}
	return all
}

// TestANodeIsGivenToOneThatWaits: the executor that is asked to leave does so as from a node that drains, the other
// application starts there, and gets nothing back at once; all of it through a kill -9 of the planner.
func TestANodeIsGivenToOneThatWaits(t *testing.T) {
	w, batch, shell := shared(t, assign.FlexiblePreemptive)
	if got := w.leaving(batch); !slices.Equal(got, []api.ExecutorID{"2"}) || w.app(shell).Queue == nil || w.app(shell).Queue.Start == 0 {
		t.Fatalf("%v are to leave, it waits: %+v", got, w.app(shell).Queue)
	}
	if said := w.heard("executor given back"); len(said) != 1 || !strings.Contains(said[0].Text, "executor 2 on b back for "+string(shell)) {
		t.Errorf("said: %v", said)
	}
	w.restart()
	w.hello("a")
	w.hello("b")
	if given := waiting.Given(w.e.View())[shell]; len(given) != 1 || given[0].Executor().Node != "b" {
		t.Fatalf("after a restart it is given %+v", given)
	}
	w.live(5*time.Second, batch, shell)
	if got := w.leaving(batch); !slices.Equal(got, []api.ExecutorID{"2"}) {
		t.Errorf("after a restart %v are to leave", got)
	}
	w.tell(batch, "submission of batch", gone(36, "2"))
	w.live(time.Second, batch, shell)
	if len(w.planned("b", shell)) != 1 || w.app(shell).State != api.AppRunning || len(w.counted("a", batch)) != 1 {
		t.Fatalf("on b %v, it is %s", w.planned("b", shell), w.app(shell).State)
	}
	if notices := strings.Join(w.app(batch).Notices, "\n"); !strings.Contains(notices, "gave node b to "+string(shell)+", which waited") {
		t.Errorf("its user is told: %s", notices)
	}
	if len(w.heard("executor replaced"))+len(w.heard("executor gone")) != 0 {
		t.Errorf("%v, %v", w.heard("executor replaced"), w.heard("executor gone"))
	}
	// A node that comes is the batch run's again two minutes after it has given one, and not before.
	w.hello("c")
	w.live(80*time.Second, batch, shell)
	if len(w.counted("c", batch)) != 0 {
		t.Error("it gets a node back at once")
	}
	w.live(40*time.Second, batch, shell)
	if len(w.counted("c", batch)) != 1 || len(w.counted("c", shell)) != 0 {
		t.Errorf("c has %v and %v", w.counted("c", batch), w.counted("c", shell))
	}
}

// TestNobodyGivesByTheDefault: by the rule backfill it waits until the batch run ends, as ever.
func TestNobodyGivesByTheDefault(t *testing.T) {
	w, batch, shell := shared(t, assign.Backfill)
	w.live(2*time.Minute, batch, shell)
	if got := w.leaving(batch); len(got) != 0 || w.app(shell).State != api.AppQueued {
		t.Errorf("%v are to leave, the other one is %s", got, w.app(shell).State)
	}
}

// TestOneThatWaitsDiesWhileAUnitLeaves: its memory is anybody's then, of the one that gave it, too.
func TestOneThatWaitsDiesWhileAUnitLeaves(t *testing.T) {
	w, batch, shell := shared(t, assign.FlexiblePreemptive)
	w.control(api.VerbKill, api.ControlRequest{App: shell, User: "alice"})
	w.tell(batch, "submission of batch", gone(36, "2"))
	w.live(time.Second, batch)
	third := large("third")
	id := w.mustRegister(third).AppID
	if w.app(id).State != api.AppRunning || len(w.counted("b", id)) != 1 {
		t.Errorf("it is %s on %v", w.app(id).State, w.counted("b", id))
	}
	w.tell(id, third.Submission, end(2))
	w.live(3*time.Minute, batch)
	if len(w.counted("b", batch)) != 1 {
		t.Error("who gave it does not get it again when nobody waits")
	}
}

// TestAUnitThatDoesNotLeave: after two minutes that is told, and another one is asked.
func TestAUnitThatDoesNotLeave(t *testing.T) {
	cfg := planner.Default()
	cfg.Queue.Rule = assign.FlexiblePreemptive
	w := newWorldOf(t, cfg, "a", "b", "c")
	first, second := large("batch"), large("shell")
	second.Class = api.ClassInteractive
	batch := w.mustRegister(first).AppID
	w.tell(batch, first.Submission, up("1"), up("2"), up("3"), ready(1, 0, "read", 1000, "1", "2", "3"))
	w.live(time.Second, batch)
	shell := w.mustRegister(second).AppID
	w.live(110*time.Second, batch, shell)
	if got := w.leaving(batch); !slices.Equal(got, []api.ExecutorID{"3"}) {
		t.Fatalf("%v are to leave", got)
	}
	w.live(15*time.Second, batch, shell)
	if said := w.heard("executor stayed"); len(said) != 1 || said[0].fact.(waiting.Stayed).Node != "c" {
		t.Errorf("said: %v", said)
	}
	if got := w.leaving(batch); !slices.Equal(got, []api.ExecutorID{"2", "3"}) {
		t.Errorf("%v are to leave", got)
	}
	w.tell(batch, first.Submission, gone(130, "2"))
	w.live(time.Second, batch, shell)
	if w.app(shell).State != api.AppRunning {
		t.Errorf("it is %s", w.app(shell).State)
	}
}

// TestGrowthFollowsTheRule: nobody grows beyond what the rule gives it, and what is left goes to who started first.
func TestGrowthFollowsTheRule(t *testing.T) {
	cfg := planner.Default()
	cfg.Queue.Rule = assign.Flexible
	w := newWorldOf(t, cfg, "a", "b")
	first, second := large("first"), large("second")
	first.Nodes = &api.NodeRange{Most: 1}
	one := w.mustRegister(first).AppID
	w.live(time.Second, one)
	two := w.mustRegister(second).AppID
	w.live(time.Second, one, two)
	third := large("third")
	three := w.mustRegister(third).AppID
	w.hello("c") // The second one can fill the whole: the line is closed.
	w.live(70*time.Second, one, two, three)
	if len(w.counted("c", two)) != 1 || len(w.counted("c", one)) != 0 || w.app(three).State != api.AppQueued {
		t.Errorf("c has %v and %v, the third is %s", w.counted("c", one), w.counted("c", two), w.app(three).State)
	}
	w.tell(one, first.Submission, end(75))
	w.says("a", api.ExecutorExited, one)
	w.live(5*time.Second, two, three)
	if len(w.counted("a", two)) != 1 || w.app(three).State != api.AppQueued {
		t.Errorf("a has %v, the third is %s", w.counted("a", two), w.app(three).State)
	}
}

// TestAGiftThatNobodyHasHeardOf: a planner that dies when it has stored what is given back, and told nobody, tells it when it
// is back, and asks for nothing more.
func TestAGiftThatNobodyHasHeardOf(t *testing.T) {
	cfg := planner.Default()
	cfg.Queue.Rule = assign.FlexiblePreemptive
	w := newWorldOf(t, cfg, "a", "b", "c")
	first, second := large("batch"), large("shell")
	second.Class = api.ClassInteractive
	batch := w.mustRegister(first).AppID
	w.tell(batch, first.Submission, up("1"), up("2"), up("3"))
	w.cut(planner.Register{To: 1, Request: second})
	for _, n := range []string{"a", "b", "c"} {
		w.hello(n)
	}
	shell := w.mustRegister(second).AppID
	w.live(10*time.Second, batch, shell)
	if got := w.leaving(batch); !slices.Equal(got, []api.ExecutorID{"3"}) || len(waiting.Given(w.e.View())[shell]) != 1 {
		t.Errorf("%v are to leave, given %+v", got, waiting.Given(w.e.View())[shell])
	}
	w.tell(batch, first.Submission, gone(12, "3"))
	w.live(time.Second, batch, shell)
	if w.app(shell).State != api.AppRunning {
		t.Errorf("it is %s", w.app(shell).State)
	}
}
