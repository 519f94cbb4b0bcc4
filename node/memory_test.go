package node

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// jvm is an executor's memory as the world sees it: it goes by the newest wish when it is
// let, and gives back in pieces.
type jvm struct {
	inForce, limit units.Bytes
	says           units.Bytes // What it shows as in force, 0 for the truth.
	wanted, target units.Bytes
	wish, seen     uint64
	static         units.Bytes
	resident       units.Bytes
	lent           bool
	// shown says that a Sample has shown it, bound that its limit cannot be raised.
	starts, deaf, fixed, shown, bound bool
	leaving                           bool // It has been stopped and will exit.
}

// machine is a node of so much memory with JVMs, around an engine.
type machine struct {
	tb
	e      *Engine
	memory units.Bytes
	now    units.Instant
	jvms   map[Key]*jvm
	plan   api.Plan
	status *api.NodeStatus // Of the newest call, if it had one.
	saved  *State          // The newest that was saved, nil for none.
	// doomed is how many more actions are carried out before the node controller is killed, and
	// torn that it is in the middle of the last one; -1 for none.
	doomed  int
	torn    bool
	lingers bool // Executors that are stopped exit at the next tick.
}

const (
	gib = units.GiB
	mib = units.MiB
)

func newMachine(t tb, memory units.Bytes) *machine {
	t.Helper()
	cfg := testConfig(4)
	cfg.Memory = memory
	e, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{tb: t, e: e, memory: memory, now: units.Instant(time.Second), jvms: map[Key]*jvm{}, doomed: -1}
	m.tick()
	return m
}

// memoryApp is an application of so many executors with 512 MiB of heap and 512 of overhead.
func memoryApp(id api.AppID, executors int, floor units.Bytes, weight float64) api.PlanApp {
	a := api.PlanApp{ID: id, Launch: &api.Launch{Cores: 2, Heap: 512 * mib, Overhead: 512 * mib, OffHeap: floor, OffHeapWeight: weight}}
	for i := range executors {
		a.Executors = append(a.Executors, api.ExecutorID(fmt.Sprint(i+1)))
	}
	return a
}

func (m *machine) apply(apps ...api.PlanApp) {
	m.Helper()
	m.plan.V, m.plan.Node, m.plan.Apps = api.Version, "n1", apps
	m.plan.Epoch++
	m.plan.Over = m.e.missing(&m.plan)
	m.do(m.e.Apply(m.now, m.plan))
}

func (m *machine) sample() *Sample {
	s := &Sample{}
	for _, key := range slices.SortedFunc(maps.Keys(m.jvms), Key.Compare) {
		j := m.jvms[key]
		j.shown = true
		x := ExecutorSample{Key: key, PID: 1, Measured: true, Quota: units.Unlimited,
			Memory: ExecutorMemory{Limit: j.limit, Wanted: j.wanted, Wish: j.wish, Bound: j.bound, Resident: j.resident}}
		if !j.starts {
			x.Page = meter.Page{At: m.now, Generation: uint64(m.now), Memory: meter.Memory{Known: true, Moves: !j.fixed, InForce: j.inForce,
				Owed: max(0, j.inForce-j.target), Acknowledged: j.seen}}
			if j.says > 0 {
				x.Page.Memory.InForce = j.says
			}
			if j.fixed {
				x.Page.Memory = meter.Memory{Known: true}
			}
		}
		s.Executors = append(s.Executors, x)
	}
	return s
}

// do carries out and checks that the limits never are more than the node has, and that no JVM
// may have more than its limit.
func (m *machine) do(actions []Action) {
	m.Helper()
	m.status = nil
	for _, a := range actions {
		if m.doomed == 0 && !(m.torn && a.Kind == ActWantMemory) {
			m.doomed = -1
			m.restart()
			return
		}
		j := m.jvms[a.Key]
		switch a.Kind {
		case ActSave:
			m.saved = a.State.Clone()
		case ActStart:
			l := a.Launch
			m.jvms[a.Key] = &jvm{inForce: l.OffHeap, target: l.OffHeap, static: l.Heap + l.Overhead, limit: l.Heap + l.Overhead + l.OffHeap, starts: true, lent: a.Lent}
		case ActStop:
			if m.lingers {
				if j != nil {
					j.leaving = true
				}
				break
			}
			delete(m.jvms, a.Key)
		case ActWantMemory:
			if j == nil || j.fixed || j.starts {
				m.Fatal("a wish for one that cannot move: ", a.Key)
			}
			if a.Limit > j.limit {
				j.limit = a.Limit
			}
			if m.doomed == 0 { // Between the limit and the wish.
				m.doomed = -1
				m.check()
				m.restart()
				return
			}
			j.wanted, j.wish = a.Memory, j.wish+1
		case ActSetMemoryLimit:
			j.limit = a.Limit
		case ActReport:
			m.status = clone(a.Status)
		}
		m.check()
		m.doomed = max(-1, m.doomed-1)
	}
}

// restart is kill -9 and a node controller that goes on from what was saved last, and from what it
// finds: pages, wishes and limits. It greets the planner, which sends the Plan again.
func (m *machine) restart() {
	m.Helper()
	cfg := testConfig(4)
	cfg.Memory = m.memory
	e, err := New(cfg, m.saved)
	if err != nil {
		m.Fatal(err)
	}
	m.e = e
	m.tick()
	if m.plan.Epoch > 0 {
		m.apply(m.plan.Apps...)
	}
}

func (m *machine) check() {
	m.Helper()
	sum := units.Bytes(0)
	for key, j := range m.jvms {
		if !j.lent { // What they have others leave.
			sum += j.limit
		}
		if most := max(j.inForce, j.target); j.static+most > j.limit {
			m.Fatal(fmt.Sprintf("%s may have %v of a limit of %v", key, j.static+most, j.limit))
		}
	}
	if sum > m.memory {
		m.Fatal(fmt.Sprintf("limits of %v on a node of %v", sum, m.memory))
	}
}

func (m *machine) tick() {
	m.Helper()
	m.now += units.Instant(500 * time.Millisecond)
	s := m.sample()
	maps.DeleteFunc(m.jvms, func(_ Key, j *jvm) bool { return j.leaving && j.shown })
	m.do(m.e.Step(m.now, s))
}

// answer lets every JVM that is not deaf see the newest wish and move by piece towards it.
func (m *machine) answer(piece units.Bytes) {
	for _, j := range m.jvms {
		j.starts = false
		if j.deaf || j.fixed {
			continue
		}
		if j.wish > j.seen {
			j.seen, j.target = j.wish, j.wanted
		}
		if j.inForce < j.target {
			j.inForce = j.target
		} else {
			j.inForce = max(j.target, j.inForce-piece)
		}
	}
}

func (m *machine) settle() {
	m.Helper()
	for range 40 {
		m.answer(200 * mib)
		m.tick()
	}
}

func (m *machine) inForce(app api.AppID) units.Bytes {
	m.Helper()
	j := m.jvms[Key{app, "1"}]
	if j == nil {
		m.Fatal("no executor of ", app)
	}
	return j.inForce
}

// Section 3.2 on a node: O = M - h|A|, o = O/|A|; an arrival shrinks everybody, a departure
// lets everybody grow.
func TestMemoryFollowsArrivalsAndDepartures(t *testing.T) {
	m := newMachine(t, 8*gib)
	a, b := memoryApp("a", 1, 256*mib, 0), memoryApp("b", 1, 256*mib, 0)
	m.apply(a)
	m.settle()
	if got := m.inForce("a"); got != 7*gib {
		t.Errorf("alone: %v, want O = 7g", got)
	}
	m.apply(a, b)
	m.tick()
	if len(m.jvms) != 1 {
		t.Error("the newcomer starts before there is room")
	}
	m.settle()
	if got := []units.Bytes{m.inForce("a"), m.inForce("b")}; got[0] != 3*gib || got[1] != 3*gib {
		t.Errorf("two: %v, want o' = 3g", got)
	}
	m.apply(b)
	m.settle()
	if got := m.inForce("b"); got != 7*gib {
		t.Errorf("after the departure: %v, want 7g", got)
	}
}

// One that does not answer keeps its share from the others until it is gone, and is told of.
func TestMemoryOfTheDeafCountsAsUsed(t *testing.T) {
	m := newMachine(t, 8*gib)
	a, b := memoryApp("a", 1, 256*mib, 0), memoryApp("b", 1, 256*mib, 0)
	m.apply(a)
	m.settle()
	m.jvms[Key{"a", "1"}].deaf = true
	m.apply(a, b)
	told := 0
	for range 60 {
		m.answer(gib)
		m.tick()
		for _, e := range m.e.Events() {
			if e.Kind == EventMemoryOwed {
				told++
			}
		}
	}
	if len(m.jvms) != 1 || told != 1 {
		t.Errorf("%d executors, told %d times", len(m.jvms), told)
	}
	// It dies while its memory is to move: what it had is free within 2 s.
	delete(m.jvms, Key{"a", "1"})
	for range 4 {
		m.tick()
		m.answer(gib)
	}
	if got := m.inForce("b"); got != 7*gib {
		t.Errorf("after its death: %v, want 7g", got)
	}
}

// What a Spark or a plugin does not let move counts as it was started.
func TestMemoryThatIsFixedIsUsed(t *testing.T) {
	m := newMachine(t, 8*gib)
	a, b := memoryApp("a", 1, gib, 0), memoryApp("b", 1, 256*mib, 0)
	m.apply(a, b)
	m.jvms[Key{"a", "1"}].fixed = true
	m.settle()
	if got := []units.Bytes{m.inForce("a"), m.inForce("b")}; got[0] != gib || got[1] != 5*gib {
		t.Errorf("%v, want 1g and 5g", got)
	}
}

// One whose limit cannot be raised is left as it was started: it would be killed.
func TestMemoryThatIsBoundStays(t *testing.T) {
	m := newMachine(t, 8*gib)
	a, b := memoryApp("a", 1, gib, 0), memoryApp("b", 1, 256*mib, 0)
	m.apply(a, b)
	m.jvms[Key{"a", "1"}].bound = true
	m.settle()
	if got := []units.Bytes{m.inForce("a"), m.inForce("b")}; got[0] != gib || got[1] != 5*gib {
		t.Errorf("%v, want 1g and 5g", got)
	}
}

// One that says to have more than it was ever told to have takes nothing from others by that.
func TestMemoryThatIsOnlySaidIsNotUsed(t *testing.T) {
	m := newMachine(t, 8*gib)
	a, b := memoryApp("a", 1, 256*mib, 0), memoryApp("b", 1, 256*mib, 0)
	m.apply(a, b)
	m.settle()
	m.jvms[Key{"a", "1"}].says = 100 * gib
	m.apply(a, b, memoryApp("c", 1, 256*mib, 0))
	m.settle()
	// It keeps what it had, 3 GiB: of 8, the second has its share, and the third the rest.
	if got, want := m.inForce("c"), 2*gib-m.inForce("b"); got < want-mib {
		t.Errorf("the third has %v, want %v", got, want)
	}
}

// The executors of an application share what is its own, whichever of them are fixed.
func TestAnApplicationHasOneShare(t *testing.T) {
	m := newMachine(t, 12*gib)
	a, b := memoryApp("a", 3, gib, 0), memoryApp("b", 1, 256*mib, 0)
	m.apply(a, b)
	m.jvms[Key{"a", "2"}].fixed = true
	m.settle()
	// Of 12 GiB four are heaps and overheads and one is fixed: 3.5 for each application.
	for key, want := range map[Key]units.Bytes{{"a", "1"}: 1792 * mib, {"a", "2"}: gib, {"a", "3"}: 1792 * mib, {"b", "1"}: 3584 * mib} {
		if got := m.jvms[key].inForce; got != want {
			t.Errorf("%s has %v, want %v", key, got, want)
		}
	}
}

// An executor that waits for memory was not started: a node controller that restarts
// meanwhile starts it when there is room.
func TestOneThatWaitsForMemoryIsStartedAfterARestart(t *testing.T) {
	m := newMachine(t, 3*gib)
	a, b := memoryApp("a", 1, 256*mib, 0), memoryApp("b", 1, 256*mib, 0)
	m.apply(a)
	m.settle()
	m.apply(a, b)
	m.tick()
	if len(m.jvms) != 1 {
		t.Fatal("the newcomer did not wait")
	}
	if s := m.e.Status(m.now).Executors; s[0].Waiting || !s[1].Waiting {
		t.Errorf("it is told %+v", s)
	}
	cfg := testConfig(4)
	cfg.Memory = m.memory
	var state State
	m.e.roster.save(&state)
	again, err := New(cfg, &state)
	if err != nil {
		t.Fatal(err)
	}
	m.e = again
	m.settle()
	if got := []units.Bytes{m.inForce("a"), m.inForce("b")}; got[0] != 512*mib || got[1] != 512*mib {
		t.Errorf("%v, want 512m each", got)
	}
	if s := m.e.Status(m.now).Executors; s[0].Waiting || s[1].Waiting {
		t.Errorf("when both run it is told %+v", s)
	}
}

// An executor that takes the place of one that is being stopped starts when that one has
// exited, though the node could not hold both.
func TestOneThatFollowsAnotherWaitsForItsExit(t *testing.T) {
	m := newMachine(t, 2*gib)
	m.lingers = true
	m.apply(memoryApp("a", 1, 256*mib, 0))
	m.settle()
	m.apply(memoryApp("b", 1, 256*mib, 0))
	if m.jvms[Key{"b", "1"}] != nil {
		t.Error("it starts beside the one that is being stopped")
	}
	m.settle()
	if got := m.inForce("b"); len(m.jvms) != 1 || got != gib {
		t.Errorf("%d executors, it has %v", len(m.jvms), got)
	}
}

// One that the Plan drops before its process is there has its memory until it has exited.
func TestOneThatIsDroppedWhileItStartsCounts(t *testing.T) {
	m := newMachine(t, 2*gib)
	m.lingers = true
	m.apply(memoryApp("a", 1, 256*mib, 0))
	m.apply(memoryApp("b", 1, 256*mib, 0))
	if m.jvms[Key{"a", "1"}] == nil || m.jvms[Key{"b", "1"}] != nil {
		t.Error("the second one starts beside the first one's start")
	}
	m.settle()
	if got := m.inForce("b"); len(m.jvms) != 1 || got != gib {
		t.Errorf("%d executors, it has %v", len(m.jvms), got)
	}
}

// A node controller that restarts while an executor is being stopped knows what that one has:
// it neither cuts its limit nor gives its memory away. Without the state it leaves it alone.
func TestARestartKnowsWhatOneHasThatIsBeingStopped(t *testing.T) {
	for _, remembers := range []bool{true, false} {
		m := newMachine(t, 4*gib)
		m.lingers = true
		a, b := memoryApp("a", 1, 256*mib, 0), memoryApp("b", 1, 256*mib, 0)
		m.apply(a, b)
		m.settle()
		m.apply(b)
		cfg := testConfig(4)
		cfg.Memory = m.memory
		var state State
		m.e.roster.save(&state)
		if !remembers {
			for i := range state.Executors {
				state.Executors[i].Memory = HoldingState{}
			}
		}
		again, err := New(cfg, &state)
		if err != nil {
			t.Fatal(err)
		}
		m.e = again
		for range 3 { // It takes its time to exit.
			m.answer(gib)
			m.do(m.e.Step(m.now, m.sample()))
			m.now += units.Instant(500 * time.Millisecond)
		}
		if j := m.jvms[Key{"a", "1"}]; j == nil || j.limit != j.static+j.inForce {
			t.Errorf("remembers %v: it has %+v", remembers, j)
		}
		m.settle()
		if got := m.inForce("b"); got != 3*gib {
			t.Errorf("remembers %v: the other one has %v once it has gone", remembers, got)
		}
	}
}

// How an executor was started does not change by what another planner makes of it, which lacks
// what it has off the heap: its limit would end it.
func TestAnExecutorKeepsWhatItWasStartedWith(t *testing.T) {
	m := newMachine(t, 4*gib)
	a := memoryApp("a", 1, gib, 0)
	m.apply(a)
	m.settle()
	again := memoryApp("a", 1, 0, 0)
	again.Launch.OffHeapFixed = true
	m.apply(again, memoryApp("b", 1, 256*mib, 0))
	m.settle() // A limit below what one may have is a fault (machine.check).
	if got := []units.Bytes{m.inForce("a"), m.inForce("b")}; got[0] != gib || got[1] != gib {
		t.Errorf("%v, want a gigabyte each", got)
	}
}

// A newcomer waits for the memory of executors that the Plan does not know, though both together
// are more than the node has: nobody has planned that.
func TestANewcomerWaitsForOrphans(t *testing.T) {
	m := newMachine(t, 4*gib)
	m.apply(memoryApp("a", 1, 2*gib, 0))
	m.settle()
	m.plan.Epoch, m.plan.Over, m.plan.Apps = m.plan.Epoch+1, nil, []api.PlanApp{memoryApp("b", 1, gib, 0)}
	m.do(m.e.Apply(m.now, m.plan))
	if m.tick(); len(m.jvms) != 1 || len(m.e.roster.orphans) != 1 {
		t.Fatalf("%d executors, orphans %v", len(m.jvms), m.e.roster.orphans)
	}
	m.apply(memoryApp("b", 1, gib, 0)) // It has heard that a is over.
	m.settle()
	if got := m.inForce("b"); len(m.jvms) != 1 || got != 3*gib {
		t.Errorf("%d executors, it has %v", len(m.jvms), got)
	}
}

// One that grows again before its limit was lowered has at once what that limit holds beside
// what is free.
func TestGrowthTakesWhatTheLimitHolds(t *testing.T) {
	m := newMachine(t, 8*gib)
	a, b, c := memoryApp("a", 1, 256*mib, 0), memoryApp("b", 1, 256*mib, 0), memoryApp("c", 1, 256*mib, 0)
	m.apply(a, b)
	m.settle()
	m.apply(a, b, c)
	m.tick()
	m.answer(8 * gib)
	m.apply(a)
	m.tick()
	if got := m.jvms[Key{"a", "1"}].wanted; got != 7*gib {
		t.Errorf("it is to have %v, want 7g", got)
	}
}

// An executor that the Plan names no more when the node controller is killed keeps its limit until
// it is stopped (machine.check): how it was started is not known to the next one.
func TestAnExecutorThatIsToStopKeepsItsLimitThroughARestart(t *testing.T) {
	m := newMachine(t, 8*gib)
	m.apply(memoryApp("a", 1, 256*mib, 0))
	m.settle()
	m.doomed = 1 // After the save, before the stop.
	m.apply()
	m.settle()
	if len(m.jvms) != 0 {
		t.Error("it runs on")
	}
}

// A status tells of an executor's memory once a minute, when it has moved, and at its end.
func TestStatusesTellOfMemory(t *testing.T) {
	m := newMachine(t, 8*gib)
	m.apply(memoryApp("a", 1, 256*mib, 0))
	told := 0
	for range 400 {
		m.answer(gib)
		m.tick()
		if s := m.status; s != nil && len(s.Executors) == 1 && s.Executors[0].Memory != (api.ExecutorMemory{}) {
			told++
			if got := s.Executors[0].Memory; told > 1 && (got.OffHeap != 7*gib || got.Fixed) {
				t.Errorf("it tells of %+v", got)
			}
		}
	}
	// At the first page, and then in each of the 200 s' minutes.
	if told < 4 || told > 5 {
		t.Errorf("told %d times in 200 s", told)
	}
}

// Whatever comes, goes, dies and is slow, the node controller itself at any step of a move among
// them, nobody has more than its limit and the limits
// together are no more than the node's memory (machine.check); once all is quiet everybody
// has its share.
func TestMemoryIsNeverPromisedTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t, 12*gib)
		there := map[string]api.PlanApp{} // By name; an application that comes again has a new id.
		come := 0
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "app")
			key := Key{there[name].ID, "1"}
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0:
				if _, ok := there[name]; ok {
					delete(there, name)
				} else {
					come++
					there[name] = memoryApp(api.AppID(fmt.Sprint(name, come)), rapid.IntRange(1, 2).Draw(t, "executors"), 256*mib, float64(rapid.IntRange(0, 3).Draw(t, "weight")))
				}
				var apps []api.PlanApp
				for _, key := range slices.Sorted(maps.Keys(there)) {
					apps = append(apps, there[key])
				}
				m.apply(apps...)
			case 1:
				if j := m.jvms[key]; j != nil {
					j.deaf = !j.deaf
				}
			case 2:
				if j := m.jvms[key]; j != nil && j.shown {
					delete(m.jvms, key)
				}
			case 3, 4:
				m.answer(units.Bytes(rapid.IntRange(0, 2000).Draw(t, "piece")) * mib)
				m.check()
			case 5: // The node controller is killed after that many actions.
				m.doomed, m.torn = rapid.IntRange(0, 6).Draw(t, "actions"), rapid.Bool().Draw(t, "in the middle")
			default:
				m.tick()
			}
		}
		m.doomed = -1
		for _, j := range m.jvms {
			j.deaf = false
		}
		m.settle()
		m.settle()
		left := m.memory
		for _, j := range m.jvms {
			left -= j.limit
			if j.inForce != j.target || j.limit != j.static+j.inForce {
				t.Fatalf("not settled: %+v", *j)
			}
		}
		if len(m.jvms) > 0 && left > units.Bytes(len(m.jvms))*mib {
			t.Fatalf("%v of %v are nobody's", left, m.memory)
		}
	})
}

func clone(s *api.NodeStatus) *api.NodeStatus {
	c := s.Clone()
	return &c
}
