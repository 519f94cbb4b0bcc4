package estimate_test

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

func policy(branches string) estimate.Policy {
	q := dag.Default()
	q.Split = dag.SplitCriticalPath
	return estimate.Policy{Equations: q, Branches: branches, MaxPool: 4}
}

// Before anything has run, the end at all cores is the recorded time; while all goes as the
// profile says it holds still.
func TestTheEndHoldsStill(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 0, "a", "b")
	p := policy(estimate.BranchesTogether)
	end := func() float64 { return float64(p.Outlook(c.View()).End(a, true)) }
	if got := end(); math.Abs(got-68) > 0.5 {
		t.Fatalf("%v s, recorded are 68", got)
	}
	c.To(2)
	read := c.Ready(a, 1, "read", 3000, "1", "2")
	for _, at := range []units.Seconds{2, 7, 12, 21} {
		c.To(at)
		if got := end(); math.Abs(got-68) > 0.7 {
			t.Errorf("after %v: %v s, recorded are 68", at, got)
		}
	}
	c.To(22)
	c.Done(a, read, 60, 2)
	if got := end(); math.Abs(got-68) > 0.7 {
		t.Errorf("after the first stage: %v s, recorded are 68", got)
	}
	// Ten seconds without the next stage are ten seconds more than the gap of two.
	c.To(34)
	if got := end(); math.Abs(got-78) > 1 {
		t.Errorf("a driver that is 10 s late: %v s, want 78", got)
	}
}

// A further attempt that repeats half of a stage's tasks is half of that stage, and a stage
// that failed is to come again.
func TestCoursesOfFurtherAttempts(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 200, "a", "b")
	whole := c.Ready(a, 1, "read", 3000, "1", "2")
	if got := policy(estimate.BranchesTogether).Outlook(c.View()).Course(a); len(got.Coming) != 2 || got.Graph != a.Profile.Graph {
		t.Errorf("to come %v", got.Coming)
	}
	c.To(20)
	c.Know(ledger.StageEnded{App: a.ID, At: 20, Done: api.StageDone{StageKey: whole.Key(), Failed: true}})
	if got := policy(estimate.BranchesTogether).Outlook(c.View()).Course(a).Coming; len(got) != 3 {
		t.Errorf("after a failure %v are to come, want all three", got)
	}
	key := api.StageKey{Stage: 1, Attempt: 1}
	c.Know(ledger.StageReady{App: a.ID, At: 21, Seq: 9, Ready: api.StageReady{StageKey: key, Name: "read", Signature: "read", Tasks: 4, Records: 3000,
		Bindings: []api.Binding{{Executor: "1", Weight: 4, Tasks: 4}}}}, ledger.StageMatched{App: a.ID, Stage: key})
	course := policy(estimate.BranchesTogether).Outlook(c.View()).Course(a)
	stage, _ := course.Graph.Stage(0)
	if len(course.Coming) != 2 || stage.Records != 1500 {
		t.Errorf("%v are to come, the repeated stage has %d records: want two, and half of 3000", course.Coming, stage.Records)
	}
	annotation, _ := a.Profile.Graph.Stage(0)
	if got := estimate.Predict(a, annotation, a.Stages[key]).Work; math.Abs(float64(got-30)) > 1e-9 {
		t.Errorf("it is predicted to take %v core-seconds, want half of 60", got)
	}
}

// Branches in turn have one executor on a node, together as many as there are branches.
func TestShapes(t *testing.T) {
	c := ledgertest.New(t, "a")
	diamond := ledgertest.Diamond("p")
	diamond.ExecutorStart = 10
	c.Know(ledger.ProfileSaved{Body: diamond})
	g := c.View().Profile("", "p").Drawn().Graph
	for branches, want := range map[string]int{estimate.BranchesTogether: 2, estimate.BranchesInTurn: 1} {
		p := policy(branches)
		if got := p.PerNode(g, p.Shape(g, 1, 200, dag.Supply{Cores: 4, Slots: 4}, 0)); got != want {
			t.Errorf("%s: %d executors on a node, want %d", branches, got, want)
		}
	}
	if p := policy(estimate.BranchesAuto); p.PerNode(g, p.Shape(g, 1, 1000, dag.Supply{Cores: 4, Slots: 4}, 0)) != 1 {
		t.Error("with all the time there is a second executor is started")
	}
}
