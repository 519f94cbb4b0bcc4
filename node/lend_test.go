package node

import (
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// uses has executors of an application use so much from now on.
func (m *machine) uses(app api.AppID, resident units.Bytes) {
	for key, j := range m.jvms {
		if key.App == app {
			j.resident = resident
		}
	}
}

// lender is a machine of 8 GiB that samples each second, with an executor of 4 GiB that is promised them and uses one.
func lender(t *testing.T) (m *machine, first api.PlanApp) {
	m = newMachine(t, 8*gib)
	m.plan.Lend = api.Lending{By: "peak", Every: 1}
	first = memoryApp("app-1", 1, 0, 0)
	first.Launch.Heap = 3*gib + 512*mib
	m.apply(first)
	m.settle()
	m.uses("app-1", gib)
	return m, first
}

func (m *machine) pass(d time.Duration) {
	m.Helper()
	for end := m.now.Add(d); m.now < end; {
		m.tick()
		m.answer(gib)
	}
}

func (m *machine) runs(app api.AppID) bool { _, runs := m.jvms[Key{app, "1"}]; return runs }

// batch is an application that is lent what its executor takes.
func batch(id api.AppID, heap units.Bytes) api.PlanApp {
	a := memoryApp(id, 1, 0, 0)
	a.Launch.Heap, a.Loans = heap, a.Executors
	return a
}

// After ten samples an executor leaves what it claims, less the greater of what it uses and is foretold, less the buffer;
// the node lends that but for a part of it. So a lent executor starts that had to wait.
func TestWhatExecutorsLeaveIsLent(t *testing.T) {
	m, first := lender(t)
	second := batch("app-2", 5*gib)
	m.apply(first, second)
	m.pass(5 * time.Second)
	if m.runs("app-2") || m.e.pool.lendable != 0 {
		t.Fatalf("with few samples %v are lendable, and the lent executor runs: %v", m.e.pool.lendable, m.runs("app-2"))
	}
	m.pass(15 * time.Second)
	spare := 4*gib - gib - 4*gib/20
	if got, want := m.e.pool.lendable, spare-8*gib/20; (got-want)/mib != 0 || !m.runs("app-2") {
		t.Errorf("%v are lendable, want %v; the lent executor runs: %v", got, want, m.runs("app-2"))
	}
	told := m.e.Status(m.now).Executors
	if got := m.e.roster.execs[0].memory.describe().Spare; (got-spare)/mib != 0 || told[0].Lent || !told[1].Lent {
		t.Errorf("the status tells of %v, want %v; lent: %v and %v", got, spare, told[0].Lent, told[1].Lent)
	}
	if m.e.ReadsMemory() != time.Second {
		t.Errorf("memory is read each %v", m.e.ReadsMemory())
	}
	// A restart forgets no samples: what is lent is not taken back for it.
	m.restart()
	m.pass(2 * time.Second)
	if m.e.pool.lendable == 0 || !m.runs("app-2") {
		t.Errorf("after a restart %v are lendable", m.e.pool.lendable)
	}
	m.plan.Lend = api.Lending{}
	m.apply(first, second)
	m.pass(time.Second)
	if m.e.pool.lendable != 0 || m.e.ReadsMemory() != residentEvery {
		t.Error("it lends though nobody wants that")
	}
}

// An executor that is promised its memory starts when the node has stopped one that lent it, whoever is killed between.
func TestAPromiseWaitsForWhatIsTaken(t *testing.T) {
	for _, x := range []struct {
		name  string
		kills bool
	}{{"undisturbed", false}, {"the node controller is killed", true}} {
		m, first := lender(t)
		second := batch("app-2", 5*gib)
		m.apply(first, second)
		m.pass(20 * time.Second)
		m.uses("app-2", 5*gib)
		second.Taken = second.Executors
		third := memoryApp("app-3", 1, 0, 0)
		third.Launch.Heap = 3 * gib
		m.apply(first, second, third)
		m.pass(time.Second)
		if !m.runs("app-2") || m.runs("app-3") {
			t.Fatalf("%s: at once the lent one runs: %v, the promised one: %v", x.name, m.runs("app-2"), m.runs("app-3"))
		}
		if x.kills {
			m.restart()
		}
		m.pass(4 * time.Second)
		if m.runs("app-2") || !m.runs("app-3") {
			t.Errorf("%s: after 5 s the lent one runs: %v, the promised one: %v", x.name, m.runs("app-2"), m.runs("app-3"))
		}
		i := slices.IndexFunc(m.e.roster.execs, func(x *executor) bool { return x.key.App == "app-2" })
		if life := m.e.roster.execs[i].life; life.exit != "the memory that it was lent was taken back" {
			t.Errorf("%s: it ended by %q", x.name, life.exit)
		}
	}
}

// An executor whose loan is taken back before it has started has no share: others have all there is, and newcomers start.
func TestALoanThatIsTakenBeforeItsStart(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		m := newMachine(t, 8*gib)
		first, never, third := memoryApp("app-1", 1, gib, 1), batch("app-2", 3*gib), memoryApp("app-3", 1, 0, 0)
		never.Taken, third.Launch.Heap = never.Executors, 2*gib
		m.apply(first, never)
		m.settle()
		if restarts {
			m.restart()
			m.settle()
		}
		if got := m.inForce("app-1"); got != 7*gib {
			t.Errorf("restarted: %v: %v of 8 GiB in force off a heap of 1 GiB", restarts, got)
		}
		m.apply(first, never, third)
		m.settle()
		if got := m.inForce("app-1"); got != 7*gib-third.Launch.Heap-third.Launch.Overhead || m.runs("app-2") || !m.runs("app-3") {
			t.Errorf("restarted: %v: %v in force; the taken one runs: %v, the newcomer: %v", restarts, got, m.runs("app-2"), m.runs("app-3"))
		}
	}
}

// Where executors use nearly all memory the node takes back by itself, one at a time, and says so.
func TestANodeTakesBackByItself(t *testing.T) {
	m, first := lender(t)
	second, third := batch("app-2", 2*gib), batch("app-3", 2*gib)
	m.apply(first, second, third)
	m.pass(20 * time.Second)
	if !m.runs("app-3") {
		t.Fatal("nothing is lent")
	}
	m.uses("app-1", 4*gib)
	m.uses("app-2", 2*gib)
	m.uses("app-3", 2*gib)
	m.pass(time.Second)
	s := m.e.Status(m.now)
	if s.Executors[1].Taken || !s.Executors[2].Taken || !m.runs("app-3") {
		t.Fatalf("%+v: want the last one taken, and told before it is stopped", s.Executors)
	}
	m.pass(4 * time.Second)
	if m.runs("app-3") || !m.runs("app-2") || !m.runs("app-1") {
		t.Errorf("promised %v, lent %v and %v", m.runs("app-1"), m.runs("app-2"), m.runs("app-3"))
	}
}

// A node without a memory controller sees nothing of what executors use, and lends nothing.
func TestWhatIsNotSeenIsNotLent(t *testing.T) {
	m, _ := lender(t)
	m.uses("app-1", 0)
	m.pass(30 * time.Second)
	if m.e.pool.lendable != 0 {
		t.Errorf("%v are lendable", m.e.pool.lendable)
	}
}
