package heap_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/heap"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/memory"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

const mib = units.MiB

// ran is a run with so much heap, of which a part was in use.
func ran(heapOf units.Bytes, work units.Work, collecting, live float64, slots int) heap.Ran {
	used := units.Bytes(live * float64(heapOf))
	return heap.Ran{OfProfile: ledger.OfProfile{Name: "p"}, App: "app-1", Slots: slots, Stages: []string{"map"},
		Run: memory.Run{Heap: heapOf, Live: used, Work: work, Collecting: collecting,
			Stages: []memory.StageUse{{Slots: slots, Container: []memory.Bin{{Used: used, Part: 1}}}}}}
}

func cluster(t testing.TB) *ledgertest.Cluster {
	t.Helper()
	c := ledgertest.New(t, "a")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	return c
}

func state(c *ledgertest.Cluster) heap.State { return heap.Of(c.View().ProfileOf("", "p")) }

// A search over runs ends at the last good heap. A run with a deadline has that one all the time, and a fifth free beside
// the greatest live set.
func TestASearchOverRuns(t *testing.T) {
	c := cluster(t)
	if size := state(c).Choose(4*units.GiB, true); size != 4*units.GiB {
		t.Errorf("before any run %v", size)
	}
	good, knee := 4*units.GiB, 1500*mib
	for next, n := 4*units.GiB, 0; !state(c).Search.Done; n++ {
		if n > 10 {
			t.Fatalf("no end after %d runs: %+v", n, state(c))
		}
		if next >= knee {
			good = min(good, next)
			c.Know(ran(next, 100, 0.05, float64(900*mib)/float64(next), 4))
		} else {
			c.Know(ran(next, 560, 0.75, 0.97, 4))
		}
		s := state(c)
		if safe := s.Choose(0, true); safe < good || safe < 900*mib*10/8 || safe > good+mib {
			t.Errorf("with a deadline %v, the last good one is %v", safe, good)
		}
		if n == 0 && s.Next < next*65/100 {
			t.Errorf("from %v to %v at once", next, s.Next)
		}
		next = s.Choose(0, false)
	}
	s := state(c)
	if s.Search.Good < knee || float64(s.Search.Good) > 1.12*float64(knee) {
		t.Errorf("ends at %v, the knee is %v", s.Search.Good, knee)
	}
	k := heap.Report(c.View().ProfileOf("", "p"))
	if !strings.Contains(k.Advice, "the knee is found: a heap of "+k.Next.String()) || !strings.Contains(k.Sure, "apart") || !k.Done ||
		!slices.IsSortedFunc(k.Runs, func(a, b api.KneeRun) int { return int(a.Heap - b.Heap) }) {
		t.Errorf("%+v", k)
	}
	// What was good is not any more: the search begins anew, with more.
	c.Know(ran(s.Search.Good, 560, 0.75, 0.97, 4))
	if after := state(c); after.Search.Done || after.Next != 2*s.Search.Good || len(after.Runs) != 1 {
		t.Errorf("after a bad run at the knee: %+v", after)
	}
}

// A program that computes again what its heap cannot keep collects little: its work says that the heap is too small.
func TestWorkAloneSaysThatAHeapIsTooSmall(t *testing.T) {
	c := cluster(t)
	for next, n := 2*units.GiB, 0; !state(c).Search.Done; n++ {
		if n > 10 {
			t.Fatalf("no end after %d runs: %+v", n, state(c))
		}
		work := units.Work(100)
		if next < 1100*mib {
			work = 210
		}
		c.Know(ran(next, work, 0.05, 0.7, 4))
		next = state(c).Choose(0, false)
	}
	if good := state(c).Search.Good; good < 1100*mib || good > 1250*mib {
		t.Errorf("ends at %v, below 1100 MiB work is twice as much", good)
	}
}

// A program that no heap is too small for is not asked for less than executors are started with: its search ends there.
func TestASearchEndsAtTheLeastHeap(t *testing.T) {
	c := cluster(t)
	for next, n := 2*units.GiB, 0; !state(c).Search.Done; n++ {
		if n > 6 {
			t.Fatalf("no end after %d runs: %+v", n, state(c))
		}
		c.Know(ran(next, 100, 0.05, float64(50*mib)/float64(next), 4))
		next = state(c).Choose(0, false)
	}
	k := heap.Report(c.View().ProfileOf("", "p"))
	if k.Good != api.LeastHeap || k.Next != api.LeastHeap || !strings.Contains(k.Advice, "the knee is found") || !strings.Contains(k.Sure, "smallest heap") {
		t.Errorf("%+v", k)
	}
}

// Another variant of the profile, or more slots, begin a new search. Fewer slots teach what one task needs, and nothing
// else.
func TestWhatBeginsANewSearch(t *testing.T) {
	c := cluster(t)
	c.Know(ran(4*units.GiB, 100, 0.05, 0.2, 4))
	if k := heap.Report(c.View().ProfileOf("", "p")); !strings.Contains(k.Advice, "a run with one slot") || k.Samples != 0 || !strings.Contains(k.Sure, "no run was bad, of 1") {
		t.Errorf("%+v", k)
	}
	one := ran(4*units.GiB, 100, 0.05, 0.1, 1)
	one.Tasks = []heap.Footprint{{Stage: "map", Samples: 40, Mean: 200 * mib, Deviation: 20 * mib}}
	c.Know(one)
	s := state(c)
	if len(s.Runs) != 1 || len(s.Tasks) != 1 || s.Slots != 4 {
		t.Errorf("after a run with one slot: %+v", s)
	}
	if k := heap.Report(c.View().ProfileOf("", "p")); strings.Contains(k.Advice, "one slot") || k.Samples != 40 {
		t.Errorf("%+v", k)
	}
	c.Know(ran(s.Next, 100, 0.05, 0.25, 4))
	if s = state(c); len(s.Runs) != 2 {
		t.Fatalf("%+v", s)
	}
	body := ledgertest.Chain("p")
	other := ledgertest.Diamond("p")
	other.Variants, other.Share, body.Share = nil, 0.3, 0.7
	body.Variants = []api.Profile{other}
	c.Know(ledger.ProfileSaved{Body: body}, ran(3*units.GiB, 100, 0.05, 0.3, 4))
	if s = state(c); len(s.Runs) != 1 || s.Search.Good != 3*units.GiB || len(s.Tasks) != 1 {
		t.Errorf("with another variant: %+v", s)
	}
	c.Know(ran(3*units.GiB, 100, 0.05, 0.3, 8))
	if s = state(c); len(s.Runs) != 1 || s.Slots != 8 {
		t.Errorf("with more slots: %+v", s)
	}
	if size := (heap.State{Next: 100 * mib}).Choose(units.GiB, false); size != api.LeastHeap {
		t.Errorf("less than Spark takes: %v", size)
	}
}

// The words of nodes about an application's stages are the run: parts of the heap, the greatest live set, time in
// collections, and executors without memory.
func TestARunIsWhatNodesHaveTold(t *testing.T) {
	c := cluster(t)
	a := c.App("app-1", "p", 0, "a")
	c.To(4)
	st := c.Ready(a, 0, "map", 1000, "1")
	status := ledgertest.Status("a", 2)
	use := api.HeapUse{Live: 700 * mib, Busy: 10, Collecting: 2, Alone: 30, Mean: 300 * mib, Deviation: 10 * mib}
	use.Bins[31], use.Bins[47] = 3, 1
	status.Executors = []api.ExecutorStatus{{App: a.ID, ID: "1", State: api.ExecutorRunning, CPU: 42}}
	status.Stages = []api.StageStatus{{App: a.ID, StageKey: st.Key(), Executor: "1", CPU: 40, Heap: use}}
	c.Know(ledger.NodeSaid{Status: status})
	if _, ok := heap.Learn(c.View(), a); ok {
		t.Error("a run that goes on teaches")
	}
	c.To(20)
	c.Done(a, st, 40, 4)
	c.Know(ledger.ContextStopped{App: a.ID, At: 21}, ledger.Exited{App: a.ID, At: 22, By: api.EndedByExit})
	f, ok := heap.Learn(c.View(), a)
	if !ok || f.Run.Heap != units.GiB || f.Run.Live != 700*mib || f.Run.Work != 42 || math.Abs(f.Run.Collecting-0.2) > 1e-9 || f.Slots != 4 ||
		len(f.Run.Stages) != 1 || len(f.Tasks) != 1 || f.Tasks[0] != (heap.Footprint{Stage: "map", Samples: 30, Mean: 300 * mib, Deviation: 10 * mib}) {
		t.Fatalf("%v, %+v", ok, f)
	}
	if bins := f.Run.Stages[0].Container; len(bins) != 2 || bins[0] != (memory.Bin{Used: 504 * mib, Part: 0.75}) || bins[1].Used != 760*mib {
		t.Errorf("%+v", bins)
	}
	c.Know(f)
	if s := state(c); len(s.Runs) != 1 || s.Search.Good != units.GiB || s.Next < 665*mib {
		t.Errorf("%+v", s)
	}
}

// Whatever runs tell, a run with a deadline has at least the smallest heap that was good, and no run less than Spark takes.
func TestADeadlineNeverFallsOff(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := cluster(t)
		for range rapid.IntRange(1, 12).Draw(rt, "runs") {
			size := units.Bytes(rapid.IntRange(512, 8192).Draw(rt, "heap")) * mib
			if s := state(c); rapid.Bool().Draw(rt, "as advised") && s.Next > 0 {
				size = s.Choose(0, false)
			}
			f := ran(size, units.Work(rapid.Float64Range(1, 900).Draw(rt, "work")), rapid.Float64Range(0, 1).Draw(rt, "collecting"),
				rapid.Float64Range(0, 1).Draw(rt, "live"), 4)
			f.Run.OutOfMemory = rapid.IntRange(0, 5).Draw(rt, "out of memory") == 0
			c.Know(f)
			s := state(c)
			safe, next := s.Choose(0, true), s.Choose(0, false)
			if s.Search.Good > 0 && (safe < s.Search.Good || float64(safe) < float64(s.Search.Live)/0.8) || next < api.LeastHeap || s.Search.Good > 0 && next > max(s.Search.Good+mib, api.LeastHeap) {
				rt.Fatalf("next %v, with a deadline %v: %+v", next, safe, s)
			}
			if s.Search.Good > 0 && float64(next) < 0.65*float64(s.Search.Good)-float64(mib) && s.Search.Bad == 0 {
				rt.Fatalf("from %v to %v at once", s.Search.Good, next)
			}
		}
	})
}
