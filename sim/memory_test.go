package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

const mib = units.MiB

// crowd is a world of one node with so much memory.
func crowd(t testing.TB, memory units.Bytes) *World {
	c := Default()
	c.Nodes, c.Restarts = []NodeSpec{{Name: "n1", Cores: 8, Memory: memory}}, true
	return must(t, c)
}

// holder is an application whose executors have heaps.
func holder(name string, m plant.Memory) plant.App {
	a := chain(name, 2, 80, 160)
	a.Memory = m
	if m.Heap == 0 {
		a.Memory.Heap = units.GiB
	}
	return a
}

// come has applications come now, each with that deadline.
func come(t testing.TB, w *World, a plant.App, deadline units.Seconds) *Driver {
	t.Helper()
	a.Deadline = deadline
	d, err := w.Submit(w.Now(), a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func pass(t testing.TB, w *World, d time.Duration) {
	t.Helper()
	if err := w.Pass(d); err != nil {
		t.Fatal(err)
	}
}

// Two seconds after the executor of an application has died in the middle of a shrink the
// others are to have their shares of what is left.
func TestTheTotalIsRightAfterADeath(t *testing.T) {
	w := crowd(t, 12*units.GiB)
	a := come(t, w, holder("a", plant.Memory{Blocks: 9 * units.GiB}), 0)
	pass(t, w, 10*time.Second)
	b := come(t, w, holder("b", plant.Memory{}), 0)
	pass(t, w, 20*time.Second)
	come(t, w, holder("c", plant.Memory{}), 0)
	m := &w.agents[0].m
	for range 100 {
		pass(t, w, 50*time.Millisecond)
		if p := m.Processes()[0]; p.Driver == a.spark && p.Pools().Size() > p.Pools().Wants() {
			break
		}
	}
	victim := m.Processes()[0]
	if victim.Pools().Size() <= victim.Pools().Wants() {
		t.Fatal("nothing is owed when it dies")
	}
	w.Kill(w.Now(), a)
	for range 100 {
		if pass(t, w, 50*time.Millisecond); victim.Exited {
			break
		}
	}
	pass(t, w, 2*time.Second)
	if len(m.Processes()) != 2 || m.Processes()[0].Driver != b.spark {
		t.Fatalf("%d executors are there", len(m.Processes()))
	}
	if got, want := m.Processes()[0].Pools().Wants(), (12*units.GiB-2*1408*mib)/2; got != want {
		t.Errorf("two seconds later another one is to have %v off the heap, want %v", got, want)
	}
	if err := w.Run(); err != nil {
		t.Fatal(err)
	}
	if o, err := a.Outcome(); err != nil || o.Pacing != killed {
		t.Errorf("%+v, %v", o, err)
	}
}

// Whom a node that gives less than it has promised hits is told; it keeps what it has in any
// case, and a newcomer waits.
func TestWhomASmallerOfferHitsIsTold(t *testing.T) {
	w := crowd(t, 8*units.GiB)
	first := come(t, w, holder("first", plant.Memory{Blocks: 2 * units.GiB}), 0)
	pass(t, w, 10*time.Second)
	if err := w.Fault(w.Now(), "memory", "n1", float64(1300*mib)); err != nil {
		t.Fatal(err)
	}
	pass(t, w, 5*time.Second)
	second := come(t, w, holder("second", plant.Memory{}), 0)
	if q := w.agents[0].m.Processes()[0].Pools(); q.Wants() != 435*mib {
		t.Errorf("it is to have %v, want its floor of 435m", q.Wants())
	}
	pass(t, w, 2*time.Second)
	if second.refused == nil || !strings.Contains(second.refused.Error(), "where a heap of") {
		t.Errorf("an executor that fits no node any more: %v", second.refused)
	}
	if err := w.Fault(w.Now(), "memory", "n1", float64(3*units.GiB)); err != nil {
		t.Fatal(err)
	}
	pass(t, w, 3*time.Second)
	third := come(t, w, holder("third", plant.Memory{}), 0)
	if err := w.Run(); err != nil {
		t.Fatal(err)
	}
	if n := first.result.Notices; !slices.ContainsFunc(n, func(s string) bool { return strings.Contains(s, "less than they take there") }) {
		t.Errorf("who is hit is not told: %q", n)
	}
	if first.result.State != api.AppFinished || third.result.State != api.AppFinished || third.waited == 0 {
		t.Errorf("first %s, third %s after %v in the queue", first.result.State, third.result.State, third.waited)
	}
}

// Executors that start at one instant, and so are there at one instant, all register.
func TestExecutorsThatStartTogether(t *testing.T) {
	c := Default()
	c.Nodes, c.Net = c.Nodes[:1], des.Delays{Delay: time.Millisecond}
	w := must(t, c)
	for i := range 4 {
		come(t, w, chain(fmt.Sprint("app", i), 1, 40, 100), 0)
	}
	if err := w.Run(); err != nil {
		t.Fatal(err)
	}
}

// The check finds what must not be, whoever is to blame.
func TestTheCheckLooksAtMemory(t *testing.T) {
	for want, meddle := range map[string]func(w *World, a *agent, p *plant.Process){
		"has promised":       func(_ *World, a *agent, _ *plant.Process) { a.starting += 4 * units.GiB },
		"of a limit of":      func(_ *World, _ *agent, p *plant.Process) { p.Pools().Limit = p.Pools().Static },
		"of it is anybody's": func(_ *World, a *agent, _ *plant.Process) { a.cfg.Memory += units.GiB },
		"of the shrink before": func(w *World, a *agent, p *plant.Process) {
			p.Pools().Want(p.Pools().Size()/2, 0, w.clock.Now())
			w.check.wish(a, p, p.Pools().Wants()+1)
		},
		"are to have": func(w *World, a *agent, p *plant.Process) {
			p.Pools().Want(8*units.GiB, 0, w.clock.Now())
			a.seen.beyond, a.seen.promised = w.clock.Now().Add(-5*time.Second), 1<<50
			w.check.memory(a)
		},
		"are promised beside": func(w *World, a *agent, p *plant.Process) {
			strange := w.plant.Launch(&a.m, p.Driver, node.Key{App: "strange", ID: "1"}, &api.Launch{Cores: 1, Heap: 8 * units.GiB})
			w.check.promises(w.control)
			a.seen.doubled = w.clock.Now().Add(-startsWithin - 1)
			w.check.promises(w.control)
			a.m.Remove(strange)
		},
		"waits and can be heard": func(w *World, _ *agent, _ *plant.Process) {
			w.check.givenUp(w.drivers[1].reply.AppID)
		},
		"and the rule is backfill": func(w *World, _ *agent, p *plant.Process) {
			w.check.recorded(w.control, ledger.ExecutorLeaving{App: p.Key.App, ID: p.Key.ID, For: w.drivers[1].reply.AppID})
		},
		"of 1 that it needs": func(w *World, _ *agent, p *plant.Process) {
			w.cfg.Planner.Queue.Rule = assign.Flexible
			w.control.engine.View().App(p.Key.App).Executor(p.Key.ID).Leaving = true
			w.check.recorded(w.control, ledger.ExecutorLeaving{App: p.Key.App, ID: p.Key.ID, For: w.drivers[1].reply.AppID})
		},
		"after it gave one back": func(w *World, _ *agent, p *plant.Process) {
			w.cfg.Planner.Queue.Rule = assign.Malleable
			w.check.gave[storeApp{w.control.name, p.Key.App}] = w.clock.Now()
			w.check.recorded(w.control, ledger.Seated{App: p.Key.App, Nodes: []string{"n1"}})
		},
		"waits for those behind": func(w *World, _ *agent, _ *plant.Process) { w.check.front.since, w.check.front.passed = 0, 1 },
	} {
		w := crowd(t, 4*units.GiB)
		come(t, w, holder("a", plant.Memory{Heap: 1500 * mib}), 0)
		pass(t, w, 10*time.Second)
		come(t, w, holder("b", plant.Memory{Heap: 1500 * mib}), 300)
		pass(t, w, 10*time.Second)
		a := w.agents[0]
		meddle(w, a, a.m.Processes()[0])
		if err := w.Pass(10 * time.Second); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Whatever applications with heaps come, wait, are killed and lose executors, and whatever
// nodes offer, the invariants hold and everybody comes to an end.
func TestMemoryHoldsInRandomWorlds(t *testing.T) {
	if slow {
		t.Skip("takes too long with the race detector")
	}
	rapid.Check(t, func(t *rapid.T) {
		c := Default()
		c.Seed, c.Nodes, c.Restarts, c.Limit = rapid.Uint64().Draw(t, "seed"), nil, true, 2*time.Hour
		of := func(what string, least, most int) units.Bytes {
			return units.Bytes(rapid.IntRange(least, most).Draw(t, what)) * mib
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			c.Nodes = append(c.Nodes, NodeSpec{Name: fmt.Sprintf("n%d", i+1), Cores: 8, Memory: of("memory", 2500, 12000)})
		}
		if rapid.Bool().Draw(t, "bad network") {
			c.Net = des.Delays{Delay: time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05, Duplicate: 0.05, Reorder: true}
		}
		w, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		at := func(what string) units.Seconds { return units.Seconds(rapid.Float64Range(0, 100).Draw(t, what)) }
		for i := range rapid.IntRange(2, 8).Draw(t, "applications") {
			a := chain(fmt.Sprint("app", i%3), rapid.IntRange(1, 2).Draw(t, "stages"), 40, units.Work(rapid.IntRange(20, 200).Draw(t, "work")))
			a.Deadline = units.Seconds(rapid.SampledFrom([]int{0, 60, 200}).Draw(t, "deadline"))
			a.Memory = plant.Memory{Heap: of("heap", 500, 3000), Floor: of("floor", 0, 1000), Blocks: of("blocks", 0, 6000), Task: of("task", 0, 300),
				Weight: float64(rapid.IntRange(0, 3).Draw(t, "weight")), Foreign: rapid.IntRange(0, 4).Draw(t, "foreign") == 0}
			if rapid.IntRange(0, 4).Draw(t, "fixed") == 0 {
				a.Memory.Floor, a.Memory.OffHeap = 0, of("off-heap", 100, 1500)
			}
			d, err := w.Submit(at("comes"), a)
			if err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 3).Draw(t, "killed") == 0 {
				w.Kill(at("kill"), d)
			}
		}
		for range rapid.IntRange(0, 5).Draw(t, "faults") {
			n := rapid.SampledFrom(c.Nodes).Draw(t, "node")
			begins := at("fault")
			ends := begins + units.Seconds(rapid.Float64Range(1, 20).Draw(t, "lasts"))
			f := rapid.SampledFrom([][2]string{{"wishes-unread", "wishes-read"}, {"memory", "memory"}, {"executor-lost", ""}, {"controller-down", "controller-up"},
				{"planner-down", "planner-up"}, {"pages-frozen", "pages-thawed"}, {"link-cut", "link-up"}, {"drain", "undrain"}}).Draw(t, "kind")
			for i, at := range []units.Seconds{begins, ends} {
				size := n.Memory
				if i == 0 {
					size = of("offer", 1500, int(n.Memory/mib)) // What it had at the start is the most: else some could wait for ever.
				}
				if f[i] != "" {
					if err := w.Fault(at, f[i], n.Name, float64(size)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for _, n := range c.Nodes { // A planner that was down has not heard it.
			if err := w.Fault(125, "undrain", n.Name, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Run(); err != nil {
			t.Fatal(err)
		}
	})
}
