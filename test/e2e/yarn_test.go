package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestDeadlineOnYARN is the story of who has a YARN and keeps it: a first run records the profile, a
// second one has a deadline and is held to it on the executors that YARN has started, and the answers are
// stock Spark's.
func TestDeadlineOnYARN(t *testing.T) {
	realenv.RequireSpark(t)
	want := realenv.Results(realenv.Stock(t, "testdata/branches.py", scale))
	y := realenv.NewYARN(t)
	s := realenv.New(t)
	s.On(y)
	s.StartPlanner()
	s.StartNode("--attach")
	keepsDeadline(t, s, want)
}

// keepsDeadline records an application on s and has it run under a deadline, which it returns.
func keepsDeadline(t *testing.T, s *realenv.System, want string) (deadline string) {
	t.Helper()
	wantAnswer(t, s.Submit("testdata/branches.py", scale), want)
	recorded := s.AwaitApp("the recording run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
	if recorded.Pacing != "recording" || recorded.CoreSeconds <= 0 {
		t.Errorf("the first run: pacing %s, %v core-seconds, notices %q", recorded.Pacing, recorded.CoreSeconds, recorded.Notices)
	}
	found(t, recorded)

	deadline = fmt.Sprintf("%dms", (recorded.Duration * 1.4).Duration().Milliseconds())
	realenv.Repeat(t, func() error {
		run := s.Submit("--pacer-deadline", deadline, "testdata/branches.py", scale)
		wantAnswer(t, run, want)
		app := s.AwaitApp("the paced run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
		found(t, app)
		if foreign := realenv.Foreign(s.Log(app.ID), app); len(foreign) > 0 {
			t.Errorf("tasks ran on executors that their stages did not have: %+v", foreign)
		}
		if err := realenv.AtExit(run.Took(), app); err != nil {
			t.Error(err)
		}
		if app.QuotaChanges == 0 {
			t.Error("no quota was ever written")
		}
		t.Logf("deadline %v, took %v, mean cores %.2f, notices %q", app.Deadline, app.Duration, float64(app.MeanCores), app.Notices)
		return realenv.Held(app)
	})
	return deadline
}

// TestDeadlineInYARNsGroups is that story where YARN gives each container a group and a strict quota, which is
// Pacer's ceiling: its own quotas are in the same group and below it, whatever becomes of NodeManagers, and what YARN
// wrote is there again when the node controller ends.
func TestDeadlineInYARNsGroups(t *testing.T) {
	realenv.RequireAll(t)
	want := realenv.Results(realenv.Stock(t, "testdata/branches.py", scale))
	y := realenv.NewYARN(t, realenv.Strict)
	s := realenv.New(t)
	s.On(y)
	s.StartPlanner()
	node := s.StartNode("--attach")
	keepsDeadline(t, s, want)

	// It is held back for as long as NodeManagers take to recover, on both executors.
	run := s.Submit("--pacer-deadline", "5m", "--conf", "spark.dynamicAllocation.minExecutors=2", "testdata/branches.py", scale)
	// A second of CPU time in each second for a core, and the weight of a core.
	given := realenv.Group{Quota: 1_000_000, Period: 1_000_000, Weight: 1024}
	heldBack(t, s, run, y.Executors, given)
	if n := y.Recover(); n != 3 {
		t.Errorf("NodeManagers have taken %d containers back: they are of two executors and of an ApplicationMaster", n)
	}
	leftAsFound(t, s, node, run, y.Executors, given)
	wantAnswer(t, run, want)
}

// leftAsFound has a node controller end while run has its executors below the quota given: that one is there again, and
// the executors run on.
func leftAsFound(t *testing.T, s *realenv.System, node, run *realenv.Process, executors func() map[string]realenv.Group,
	given realenv.Group) {
	t.Helper()
	app := heldBack(t, s, run, executors, given)
	unguarded := given.Weight < 1024 // Less than its core is guaranteed.
	for _, x := range app.Executors {
		if x.Ceiling != 1 || x.Unguarded != unguarded {
			t.Errorf("executor %s: ceiling %v, unguarded %t", x.ID, x.Ceiling, x.Unguarded)
		}
	}
	if strings.Contains(app.Reason, "unguarded") != unguarded {
		t.Errorf("the verdict on it: %s", app.Reason)
	}
	node.Stop()
	groups := executors()
	if len(groups) != 2 {
		t.Errorf("executors in %v after the node controller's end", groups)
	}
	for dir, group := range groups {
		if group != given {
			t.Errorf("%s is left as %+v, its manager gave it %+v", dir, group, given)
		}
	}
}

// heldBack waits until both executors of run have had quotas of Pacer's in the groups that their cluster manager has
// given a quota for a core each: they are below that one.
func heldBack(t *testing.T, s *realenv.System, run *realenv.Process, executors func() map[string]realenv.Group,
	given realenv.Group) api.AppDetail {
	t.Helper()
	lowered := map[string]bool{}
	app, err := s.AwaitWhile(run, "a quota in both executors' groups", func(app api.AppDetail) bool {
		for dir, group := range executors() {
			if group.Weight != given.Weight || group.Cores() > 1 || group.Quota < 0 {
				t.Errorf("%s has %+v, its manager gave it %+v", dir, group, given)
			}
			if group != given {
				lowered[dir] = true
			}
		}
		return len(lowered) == 2
	})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// TestDriverOnYARN is the story of cluster mode: YARN starts the driver, too, in a container of its own. The deadline is
// that of pacer submit, and the exit code is spark-submit's.
func TestDriverOnYARN(t *testing.T) {
	realenv.RequireAll(t)
	y := realenv.NewYARN(t)
	s := realenv.New(t)
	s.On(y)
	s.StartPlanner()
	s.StartNode("--attach")
	submit := func(code int, args ...string) (*realenv.Process, api.AppDetail) {
		t.Helper()
		before := len(s.Apps())
		run := s.Submit(append([]string{"--deploy-mode", "cluster", "--conf", "spark.yarn.appMasterEnv.SPARK_LOCAL_IP=127.0.0.1",
			"--py-files", "testdata/toil.py", "--pacer-profile", "cluster"}, args...)...)
		if got := run.Wait(patience); got != code {
			t.Fatalf("exit code %d, want %d: %s", got, code, run.LastWords())
		}
		if len(s.Apps()) != before+1 {
			t.Fatalf("no application has registered: %s", run.LastWords())
		}
		return run, s.Newest()
	}
	_, recorded := submit(0, "testdata/branches.py", scale)
	deadline := fmt.Sprintf("%dms", (recorded.Duration * 1.4).Duration().Milliseconds())
	realenv.Repeat(t, func() error {
		run, app := submit(0, "--pacer-deadline", deadline, "testdata/branches.py", scale)
		found(t, app)
		if err := realenv.AtExit(run.Took(), app); err != nil {
			t.Error(err)
		}
		t.Logf("deadline %v, took %v, mean cores %.2f, notices %q", app.Deadline, app.Duration, float64(app.MeanCores), app.Notices)
		return realenv.Held(app)
	})
	// spark-submit has no code of a driver elsewhere but 1. YARN would try it again, as another application of Pacer's.
	if _, failed := submit(1, "--conf", "spark.yarn.maxAppAttempts=1", "testdata/raises.py"); failed.State != api.AppFailed || failed.ExitCode != 1 {
		t.Errorf("one that fails is %s with exit code %d", failed.State, failed.ExitCode)
	}
}

// found says which executors of an application no node has found.
func found(t *testing.T, app api.AppDetail) {
	t.Helper()
	if len(app.Executors) == 0 {
		t.Error("it had no executors")
	}
	for _, x := range app.Executors {
		if x.Node == "" || x.Unpaced != "" {
			t.Errorf("executor %s on %s: node %q, %s", x.ID, x.Host, x.Node, x.Unpaced)
		}
	}
}
