package testenv_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/test/testenv"
)

// two is a planner with two machines of two cores.
func two(e *testenv.Env) (*testenv.Node, *testenv.Node) {
	e.T.Helper()
	e.StartPlanner()
	return e.StartNode(testenv.NodeSpec{Name: "n1", Cores: 2}), e.StartNode(testenv.NodeSpec{Name: "n2", Cores: 2})
}

// summary is what `pacer nodes` says of a node.
func summary(e *testenv.Env, name string) api.NodeSummary {
	e.T.Helper()
	r, err := e.Ask(api.VerbNodes, api.ControlRequest{})
	if err != nil {
		e.T.Fatal(err)
	}
	for _, n := range r.Nodes {
		if n.Node == name {
			return n
		}
	}
	e.T.Fatalf("node %s is not in %+v", name, r.Nodes)
	return api.NodeSummary{}
}

// ready is how many stages have become ready: the others are to come.
func ready(a api.AppDetail) (n int) {
	for _, s := range a.Stages {
		if s.State != "coming" {
			n++
		}
	}
	return n
}

// stagesOn are the stages that an executor had a part in.
func stagesOn(a api.AppDetail, node string) int {
	n := 0
	for _, s := range a.Stages {
		for _, x := range a.Executors {
			if x.Node == node && slices.Contains(s.Executors, x.ID) {
				n++
				break
			}
		}
	}
	return n
}

func TestANodeThatJoinsTakesItsPart(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		one(e)
		app := testenv.Chain("chain", 4, 40)
		d := paced(e, app, 1.5)
		e.Until("it runs", func() bool { return ready(e.App(d.ID())) == 1 })
		n2 := e.StartNode(testenv.NodeSpec{Name: "n2", Cores: 2})
		underQuota(e, n2, d)
		done := d.Wait()
		wantPaced(t, done)
		if got := stagesOn(done, "n2"); got != 4 {
			t.Errorf("%d of 4 stages ran on the node that joined, the one that was running included", got)
		}
	})
}

func TestADrainedNodeIsLeftWithoutALoss(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		_, n2 := two(e)
		app := testenv.Chain("chain", 4, 40)
		d := paced(e, app, 2.5)
		underQuota(e, n2, d)
		if _, err := e.Ask(api.VerbDrain, api.ControlRequest{Node: "n2"}); err != nil {
			t.Fatal(err)
		}
		e.Until("the node is empty", func() bool { return len(n2.Executors()) == 0 })
		e.Pass(2 * time.Second)
		if n := summary(e, "n2"); n.State != "drained" || n.Executors != 0 {
			t.Errorf("n2: %+v", n)
		}
		if a := e.App(d.ID()); a.State != api.AppRunning || len(a.Executors) != 2 {
			t.Errorf("%s with executors %+v: want none started anew", a.State, a.Executors)
		}
		done := d.Wait()
		wantPaced(t, done)
		if len(done.Stages) != 4 || stagesOn(done, "n1") != 4 {
			t.Errorf("%d stages, %d on n1", len(done.Stages), stagesOn(done, "n1"))
		}
		if left := n2.Groups(); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func TestALostNodeCostsItsWorkOnly(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n1, n2 := two(e)
		app := testenv.Chain("chain", 4, 30)
		d := paced(e, app, 3)
		underQuota(e, n2, d)
		n2.Lose()
		e.Until("the node is lost", func() bool { return summary(e, "n2").State == "lost" })
		done := d.Wait()
		wantPaced(t, done)
		if len(done.Stages) != 4 || len(n1.Groups()) != 0 {
			t.Errorf("%d stages, left behind %v", len(done.Stages), n1.Groups())
		}
	})
}

func TestUnequalNodesEndTheirSharesTogether(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		e.StartPlanner()
		e.StartNode(testenv.NodeSpec{Name: "small", Cores: 1})
		e.StartNode(testenv.NodeSpec{Name: "large", Cores: 3})
		app := testenv.Chain("chain", 3, 60)
		done := paced(e, app, 1.5).Wait()
		wantPaced(t, done)
		for _, s := range done.Stages {
			if s.ErrorPct == nil || *s.ErrorPct < -5 || *s.ErrorPct > 5 {
				t.Errorf("stage %d: error %v", s.Stage, s.ErrorPct)
			}
		}
	})
}

// Two nodes of 0.75 core: one loses half of it in mid-stage. What it cannot do in
// time is handed to the other one, and the stage ends at its set point.
func TestTheTailGoesToTheFreeNode(t *testing.T) {
	for name, slow := range map[string]func(*testenv.Node){
		"another program takes it":   func(n *testenv.Node) { n.Disturb(0.375) },
		"it is slower than it tells": func(n *testenv.Node) { n.Slow(0.5) },
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Run(t, func(e *testenv.Env) {
				e.StartPlanner()
				e.StartNode(testenv.NodeSpec{Name: "n1", Cores: 0.75})
				n2 := e.StartNode(testenv.NodeSpec{Name: "n2", Cores: 0.75})
				app := testenv.Chain("chain", 1, 60)
				app.Stages[0].Tasks = 120
				d := paced(e, app, 1.5)
				underQuota(e, n2, d)
				e.Pass(10 * time.Second)
				slow(n2)
				done := d.Wait()
				wantPaced(t, done)
				if late := *done.Stages[0].ErrorPct; late > 5 {
					t.Errorf("the stage ended %.1f %% after its set point", late)
				}
			})
		})
	}
}

func TestASecondControllerOfANameIsRefused(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		d := submit(e, testenv.Chain("chain", 2, 20))
		refused := func(what string) {
			if err := n.Twin(); err == nil || !strings.Contains(err.Error(), "another node controller uses the name n1") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s ended with %v", what, err)
			}
		}
		refused("the second one")
		state := filepath.Join(e.Dir(), "node-n1")
		if err := errors.Join(os.RemoveAll(state+"-twin"), os.CopyFS(state+"-twin", os.DirFS(state)),
			os.Chmod(filepath.Join(state+"-twin", "credentials", "node-n1"), 0o600)); err != nil {
			t.Fatal(err)
		}
		refused("one with a copy of the state")
		if done := d.Wait(); done.State != api.AppFinished || len(done.Executors) != 1 {
			t.Errorf("%s with %d executors", done.State, len(done.Executors))
		}
	})
}

// A node has the longest name that is valid, and a state directory with a path longer than any socket's: its
// credential, its groups and its executors' files are made of these.
func TestANodeWithALongNameAndALongPath(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		name := strings.Repeat("node-7_", 9)
		e.Node = func(cfg *daemon.NodeConfig) {
			cfg.State = filepath.Join(e.Dir(), strings.Repeat("a", 200), strings.Repeat("b", 200), "state")
		}
		e.StartPlanner()
		n := e.StartNode(testenv.NodeSpec{Name: name, Cores: 2})
		d := paced(e, testenv.Chain("chain", 2, 25), 1.6)
		e.Until("it runs", func() bool { return len(n.Executors()) == 1 && ready(e.App(d.ID())) > 0 })
		wantPaced(t, d.Wait())
	})
}
