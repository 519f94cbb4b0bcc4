package planner_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// losses lets time pass until end, and calls lost, in its tick, for each node that is lost.
func (w *world) losses(end units.Instant, lost func(ledger.NodeLost)) {
	w.Helper()
	for w.now < end {
		w.said = nil
		w.pass(planner.TickInterval)
		for _, o := range w.said {
			if l, ok := o.fact.(ledger.NodeLost); ok {
				lost(l)
			}
		}
	}
}

// Who takes over goes on from what it has heard while it stood by: a node that was lost with the
// planner before is lost when it has been silent for long enough, not for as long again. What
// could not be heard does not count.
func TestSilenceBeforeATakeoverCounts(t *testing.T) {
	for _, c := range []struct {
		silence planner.Silence
		want    map[string]time.Duration
	}{
		{planner.Silence{Listened: 3 * time.Second, Last: map[string]time.Duration{"a": 500 * time.Millisecond}},
			map[string]time.Duration{"a": 4500 * time.Millisecond, "b": 2 * time.Second}},
		{planner.Silence{Listened: 3 * time.Second, Last: map[string]time.Duration{"a": 4 * time.Second, "c": 0}},
			map[string]time.Duration{"a": 2 * time.Second, "b": 2 * time.Second}},
		{planner.Silence{}, map[string]time.Duration{"a": 5 * time.Second, "b": 5 * time.Second}},
	} {
		cfg := planner.Default()
		cfg.NodeLost = 5 * time.Second
		w := newWorldOf(t, cfg, "a", "b")
		w.restart()
		w.step(c.silence)
		w.step(planner.Tick{})
		began, lost := w.now, map[string]time.Duration{}
		w.losses(began.Add(cfg.NodeLost+time.Second), func(l ledger.NodeLost) { lost[l.Node] = w.now.Sub(began) })
		if !maps.Equal(lost, c.want) {
			t.Errorf("%+v: lost after %v, want %v", c.silence, lost, c.want)
		}
	}
}

// Nodes that fall silent one after the other are lost each at its own time and
// forgotten an hour after it was heard last, whenever the planner has looked for
// silent ones in between.
func TestSilentNodesAreLostEachOnTime(t *testing.T) {
	cfg := planner.Default()
	cfg.NodeLost = 10 * time.Second
	w := newWorldOf(t, cfg, "a", "b")
	w.step(planner.Tick{}) // From the first tick on time counts.
	began := w.now
	lost := map[string]time.Duration{}
	until := func(end time.Duration) {
		w.losses(began.Add(end), func(l ledger.NodeLost) {
			lost[l.Node] = w.now.Sub(began)
			if want := cfg.NodeLost; l.Silent != want {
				t.Errorf("node %s was silent for %v, want %v", l.Node, l.Silent, want)
			}
		})
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

// moving has node a say that id's executor 1 is there, with that much CPU time and a page
// that is too old or not.
func (w *world) moving(node string, id api.AppID, cpu units.Work, stale bool) {
	w.Helper()
	s := w.status(node)
	s.Executors = []api.ExecutorStatus{{App: id, ID: "1", State: api.ExecutorRunning, CPU: cpu, Stale: stale, Quota: api.Unknown}}
	w.step(planner.Status{Status: &s})
}

// A driver that is not heard for ten minutes while its executors' pages move, or their CPU
// time does, has all cores from the time on after which it would be gone, and is paced
// again when it speaks.
func TestASilentDriverWhoseExecutorsMoveHasAllCores(t *testing.T) {
	for name, stale := range map[string]bool{"by their pages": false, "by their CPU time": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a")
			w.put(chain("p"))
			r := registration("p", 2000)
			id := w.mustRegister(r).AppID
			w.tell(id, r.Submission, ready(1, 0, "read", 1000, "1"))
			w.step(planner.Tick{})
			for s := range 600 {
				w.pass(time.Second)
				cpu := units.Work(7)
				if stale {
					cpu = units.Work(s)
				}
				w.moving("a", id, cpu, stale)
				if silent := s + 1; (len(w.targets(id)) == 0) != (silent >= 60) {
					t.Fatalf("after %d s it has targets %v", silent, w.targets(id))
				}
			}
			if d := w.app(id); d.State != api.AppRunning || w.directives[id].Gated || !strings.Contains(strings.Join(d.Notices, "\n"), "was not heard for 1m0s") {
				t.Fatalf("%s, %v, directive %+v", d.State, d.Notices, w.directives[id])
			}
			w.restart() // It goes on in the next process, too.
			w.hello("a")
			if reply := w.send(id, r.Submission); reply.Error != nil || !reply.Directive.Gated || len(w.targets(id)) != 1 {
				t.Errorf("when it speaks: %+v, targets %v", reply, w.targets(id))
			}
		})
	}
}

// A deaf planner accuses nobody: not a node, not a driver, however long it lasts.
func TestADeafPlannerAccusesNobody(t *testing.T) {
	w := newWorld(t, "a")
	w.put(chain("p"))
	r := registration("p", 2000)
	id := w.mustRegister(r).AppID
	w.tell(id, r.Submission, ready(1, 0, "read", 1000, "1"))
	w.step(planner.Tick{})
	for range 4 * 600 {
		w.now = w.now.Add(planner.TickInterval)
		w.step(planner.Tick{Deaf: true})
	}
	if d := w.app(id); d.State != api.AppRunning || len(w.heard("node lost")) != 0 || len(w.targets(id)) == 0 {
		t.Errorf("%s, nodes lost %v, targets %v", d.State, w.heard("node lost"), w.targets(id))
	}
}

// Where a node is away as well nobody knows what runs there: that counts for DriverAway.
func TestADriverAwayWithItsNode(t *testing.T) {
	cfg := planner.Default()
	cfg.DriverAway = 5 * time.Minute
	w := newWorldOf(t, cfg, "a", "b")
	id := w.mustRegister(registration("p", 0)).AppID
	w.step(planner.Tick{})
	until := func(d time.Duration) {
		for end := epoch.Add(d); w.now < end; {
			w.pass(time.Second)
			w.step(planner.Status{Status: new(w.status("b"))}) // With executor 2, which stands still.
		}
	}
	until(cfg.DriverAway - 2*time.Second)
	if d := w.app(id); d.State != api.AppRunning {
		t.Errorf("%s: %v", d.State, d.Notices)
	}
	until(cfg.DriverAway + 2*time.Second)
	if d := w.app(id); d.State != api.AppFailed {
		t.Errorf("%s after %v", d.State, cfg.DriverAway)
	}
}

// What an executor did while its node was away nobody knows: when the node is back, its driver
// is given up only after it has been seen to stand still for as long as any other.
func TestANodeThatIsBackAccusesNobody(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	w.moving("a", id, 7, false)
	for range 90 {
		w.pass(time.Second)
	}
	w.moving("a", id, 7, true) // Its pages are frozen, and it has no task.
	for range 50 {
		w.pass(time.Second)
		w.moving("a", id, 7, true)
	}
	if d := w.app(id); d.State != api.AppRunning {
		t.Errorf("50 s after its node is back it has %s: %v", d.State, d.Notices)
	}
	for range 20 {
		w.pass(time.Second)
		w.moving("a", id, 7, true)
	}
	if d := w.app(id); d.State != api.AppFailed {
		t.Errorf("70 s after its node is back it is %s", d.State)
	}
}
