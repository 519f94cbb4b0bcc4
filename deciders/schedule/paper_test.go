package schedule_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/schedule"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// paper is the source's policy: alpha 0.97, beta 0.3, cq 0.05, one stage after the other.
func paper() estimate.Policy {
	return estimate.Policy{Equations: dag.Params{Alpha: 0.97, Beta: 0.3, Quantum: 0.05, Split: dag.SplitPaper}, Branches: estimate.BranchesTogether, MaxPool: 4}
}

// section 4, Eq 1-3, 6 and 7, of the first of three stages of 20, 10 and 30 s with a
// deadline of 100 s on two nodes of four cores, by hand: d = (20+10+30)/20 = 3; w = 0.3*3 +
// 0.7*3 = 3; gaps to come 2+3, tail 1; (97-2-6)/3 = 29.667; 60/29.667 = 2.022 cores, half of
// which is 1.011, rounded up to 1.05.
func TestEquationsOfTheFirstStage(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 100, "a", "b")
	c.To(2)
	s := c.Ready(a, 10, "read", 3000, "1", "2")
	p := schedule.Ready(paper().Outlook(c.View()), a, s)
	if math.Abs(float64(p.Left)-29.66667) > 1e-4 || math.Abs(float64(p.Cores)-2.0225) > 1e-3 || p.Aim.Last || math.Abs(float64(p.First-p.Left)) > 1e-9 {
		t.Errorf("planned %+v", p)
	}
	for i, target := range p.Targets {
		if want := []string{"a", "b"}[i]; target.Node != want || target.InitCores != 1.05 || target.Work != 30 || target.Weight != 4 || target.Tasks != 4 {
			t.Errorf("target %+v", target)
		}
	}
	if len(a.Stages[s.Key()].Targets) != 0 {
		t.Error("a decider has changed the stage")
	}
}

// A stage that has waited for an executor is given its first deadline when it gets one.
func TestAStageThatWaitedBeginsLate(t *testing.T) {
	c := ledgertest.New(t, "a")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 100, "a")
	c.To(2)
	s := c.Ready(a, 10, "read", 3000)
	p := schedule.Ready(paper().Outlook(c.View()), a, s)
	if len(p.Targets) != 0 {
		t.Fatalf("targets %+v of a stage without executors", p.Targets)
	}
	c.Know(ledger.StageAimed{App: a.ID, Stage: s.Key(), Aim: p.Aim, First: p.First})
	c.To(12)
	c.Know(ledger.StageRebound{App: a.ID, Stage: s.Key(), Bindings: []api.Binding{{Executor: "1", Weight: 4, Tasks: 4}}})
	late := schedule.Late(paper().Outlook(c.View()), a, s)
	if len(late) != 1 {
		t.Fatalf("planned %+v", late)
	}
	f := late[0].(ledger.StageAimed)
	if len(f.Targets) != 1 || f.First != f.Left+10 || f.Aim.DeadlineAt != c.Now.Add(f.Left.Duration()) {
		t.Errorf("planned %+v", f)
	}
}

// Whatever the bindings: targets are in order of executor, their works and records sum up to
// the stage's, and nobody is asked for more cores than its node offers.
func TestTargetsDivideTheStage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := ledgertest.New(t, "a", "b")
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		a := c.App("app-1", "p", units.Seconds(rapid.Float64Range(3, 500).Draw(rt, "deadline")), "a", "b", "a", "b")
		s := c.Ready(a, 1, "read", 3000)
		var bindings []api.Binding
		for _, id := range rapid.Permutation([]api.ExecutorID{"1", "2", "3", "4"}).Draw(rt, "order")[:rapid.IntRange(1, 4).Draw(rt, "executors")] {
			bindings = append(bindings, api.Binding{Executor: id, Weight: rapid.Float64Range(0.1, 50).Draw(rt, "weight"), Tasks: rapid.IntRange(1, 50).Draw(rt, "tasks")})
		}
		c.Know(ledger.StageRebound{App: a.ID, Stage: s.Key(), Bindings: bindings})
		c.To(units.Seconds(rapid.Float64Range(0, 600).Draw(rt, "now")))
		p := schedule.Ready(paper().Outlook(c.View()), a, s)
		var work units.Work
		var records float64
		for i, target := range p.Targets {
			work += target.Work
			records += target.Records
			if target.InitCores > 4 || target.InitCores < 0 || i > 0 && api.CompareExecutors(p.Targets[i-1].Executor, target.Executor) >= 0 {
				rt.Fatalf("targets %+v", p.Targets)
			}
		}
		if len(p.Targets) != len(bindings) || math.Abs(float64(work-p.Aim.Work)) > 1e-6 || math.Abs(records-p.Aim.Records) > 1e-6 {
			rt.Fatalf("%v of %v core-seconds and %v of %v records in %d targets", work, p.Aim.Work, records, p.Aim.Records, len(p.Targets))
		}
		// What was decided can be true.
		c.Know(ledger.StageAimed{App: a.ID, Stage: s.Key(), Aim: p.Aim, First: p.First, Targets: p.Targets})
	})
}

// Beside another application the first stages of a run keep a larger reserve, unless the other one
// has an earlier deadline that can be kept on nodes that do not serve by deadline. Its last stage
// is aimed as alone. One of other nodes changes nothing, and the source's alpha knows no reserve.
func TestBesideOthersStagesEndEarlierAndTheLastOneDoesNot(t *testing.T) {
	ours := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}
	ours.Equations.Split = dag.SplitCriticalPath
	var first float64 // What the first stage has.
	strategy := ""
	left := func(p estimate.Policy, deadline units.Seconds, mode api.Mode, nodes ...string) float64 {
		c := ledgertest.New(t, "a", "b")
		c.Divides("a", strategy)
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		a := c.App("app-1", "p", 100, "a")
		if len(nodes) > 0 {
			b := c.App("app-2", "p", deadline, nodes...)
			b.Tenant.Launch.Mode = mode
		}
		c.To(2)
		for i, id := range []string{"read", "map"} {
			s := c.Ready(a, i, id, 3000, "1")
			if i == 0 {
				first = float64(schedule.Ready(p.Outlook(c.View()), a, s).Left)
			}
			c.Done(a, s, 20, units.Seconds(i))
		}
		return float64(schedule.Ready(p.Outlook(c.View()), a, c.Ready(a, 2, "sum", 3000, "1")).Left)
	}
	alone := left(ours, 0, "")
	firstAlone := first
	for _, k := range []struct {
		why      string
		deadline units.Seconds
		mode     api.Mode
		nodes    []string
		strategy string
		reserves bool
	}{
		{"a first run", 0, "", []string{"a"}, "", true},
		{"a first run of another node", 0, "", []string{"b"}, "", false},
		{"one with a deadline", 1000, "", []string{"a"}, "", true},
		{"one that is due later, by request", 1000, "", []string{"a"}, "proportional", true},
		{"one that is due earlier, by request", 95, "", []string{"a"}, "proportional", false},
		{"a first run, by request", 0, "", []string{"a"}, "proportional", true},
		{"one that is observed", 1000, api.ModeObserve, []string{"a"}, "", true},
	} {
		strategy = k.strategy
		if got := left(ours, k.deadline, k.mode, k.nodes...); math.Abs(got-alone) > 1e-6 {
			t.Errorf("beside %s: the last stage has %v s, alone %v", k.why, got, alone)
		}
		if reserves := first < firstAlone-0.5; reserves != k.reserves {
			t.Errorf("beside %s: the first stage has %v s, alone %v", k.why, first, firstAlone)
		}
	}
	if with, without := left(paper(), 0, "", "a"), left(paper(), 0, ""); with != without {
		t.Errorf("the source's stage has %v s beside another, %v alone", with, without)
	}
}

// By request, a stage that others follow has later deadlines beside one that is due earlier;
// the last one ends with its application.
func TestBesideOneThatIsDueEarlierAStageYields(t *testing.T) {
	ours := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}
	ours.Equations.Split = dag.SplitCriticalPath
	left := func(strategy string) (first, last units.Seconds) {
		c := ledgertest.New(t, "a", "b")
		c.Divides("a", strategy)
		c.Divides("b", strategy)
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
		c.App("app-1", "p", 120, "a", "b")
		a := c.App("app-2", "p", 400, "a", "b")
		c.To(2)
		s := c.Ready(a, 0, "read", 3000, "1")
		planned := schedule.Ready(ours.Outlook(c.View()), a, s)
		if again := schedule.Anew(ours.Outlook(c.View()), a); len(again) != 1 || math.Abs(float64(again[0].(ledger.StageAimed).Left-planned.Left)) > 1 {
			t.Errorf("%s: planned once more it has %v, %v s when it was ready", strategy, again, planned.Left)
		}
		c.Done(a, s, 60, 2)
		c.To(110)
		c.Done(a, c.Ready(a, 1, "map", 1000, "1"), 10, 105)
		return planned.Left, schedule.Ready(ours.Outlook(c.View()), a, c.Ready(a, 2, "sum", 2000, "1")).Left
	}
	first, last := left("proportional")
	byDeadline, lastByDeadline := left("edf-pure")
	if first < byDeadline+5 || math.Abs(float64(last-lastByDeadline)) > 1e-6 {
		t.Errorf("by request its stages have %v and %v s, by deadline %v and %v", first, last, byDeadline, lastByDeadline)
	}
}
