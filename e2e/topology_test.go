package e2e

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/internal/realenv"
	"github.com/sparkpacer/pacer/units"
)

// busyOn waits until an executor of the application on the node has registered
// and worked for a stage.
func busyOn(t *testing.T, s *realenv.System, node string) (api.AppDetail, api.AppExecutor) {
	t.Helper()
	var found api.AppExecutor
	app := s.AwaitApp("tasks on "+node, 2*time.Minute, func(a api.AppDetail) bool {
		for _, x := range a.Executors {
			if x.Node != node || !x.Registered {
				continue
			}
			for _, stage := range a.Stages {
				for _, sample := range stage.Samples {
					if sample.Executor == x.ID && sample.Used > 0 {
						found = x
						return true
					}
				}
			}
		}
		return false
	})
	return app, found
}

// TestNodesComeAndGo paces real Spark over two node controllers in network
// namespaces of their own. While the first application runs, its second node
// joins and its first one drains; while the next runs, a node dies with its
// executors. The answers are stock Spark's, and the deadlines are met.
func TestNodesComeAndGo(t *testing.T) {
	realenv.RequireSpark(t)
	s := realenv.NewOn(t, realenv.NewNetwork(t, "n1", "n2"))
	s.StartPlanner()
	half := []string{"--cores", "0.9", "--memory", "4g"}
	s.StartNamed("n1", half...)
	want := results(realenv.Stock(t, "testdata/branches.py", scale))
	recorded, _ := s.Record("testdata/branches.py", scale)
	// One node is enough for the work. Starting two executors on it, and compiling
	// in each, take their time besides, after a drain twice.
	submit := func(starts units.Seconds) *realenv.Process {
		deadline := starts + units.Seconds(recorded.CoreSeconds/0.9*1.45)
		return s.Submit("--pacer-deadline", deadline.Duration().Round(time.Millisecond).String(), "testdata/branches.py", scale)
	}
	met := func(t *testing.T, app api.AppID) {
		ended := s.AwaitApp("the end", 10*time.Second, func(a api.AppDetail) bool { return a.ID == app && a.State == api.AppFinished })
		if err := realenv.Held(ended); err != nil {
			t.Error(err)
			return
		}
		t.Logf("deadline %v, error %.2f %%", ended.Deadline, *ended.ErrorPct)
	}

	var second *realenv.Process
	t.Run("join and drain", func(t *testing.T) {
		run := submit(40)
		busyOn(t, s, "n1")
		second = s.StartNamed("n2", half...)
		app, _ := busyOn(t, s, "n2")
		began := time.Now()
		if code, out := s.Pacer("nodes", "drain", "n1"); code != 0 {
			t.Fatalf("drain: exit %d: %s", code, out)
		}
		s.Await("n1 to be empty", time.Minute, func() bool { return s.Nodes()["n1"].State == "drained" })
		t.Logf("n1 was empty after %v", time.Since(began))
		if a := s.App(app.ID); a.State != api.AppRunning {
			t.Fatalf("the application is %s before the node was empty: the test shows nothing", a.State)
		}
		wantAnswer(t, run, want)
		met(t, app.ID)
		log := realenv.ReadLog(t, s.Events(), app.ID)
		for _, x := range s.App(app.ID).Executors {
			if slices.Contains(log.Removed, x.ID) != (x.Node == "n1") {
				t.Errorf("executor %s of %s: removed are %v, want those of n1 to leave and those of n2 to stay", x.ID, x.Node, log.Removed)
			}
		}
		for _, task := range log.Tasks {
			if !task.OK {
				t.Errorf("a task of stage %d failed on executor %s", task.Stage, task.Executor)
			}
		}
	})
	if second == nil {
		t.Fatal("there is no second node")
	}
	t.Run("loss", func(t *testing.T) {
		if code, out := s.Pacer("nodes", "undrain", "n1"); code != 0 {
			t.Fatalf("undrain: exit %d: %s", code, out)
		}
		run := submit(25)
		busyOn(t, s, "n1")
		app, victim := busyOn(t, s, "n2")
		var lost []int
		for _, x := range app.Executors {
			if x.Node == victim.Node {
				lost = append(lost, executorPID(t, s, app.ID, x.ID))
			}
		}
		second.Signal(syscall.SIGKILL)
		for _, pid := range lost {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		wantAnswer(t, run, want)
		log := realenv.ReadLog(t, s.Events(), app.ID)
		if !slices.Contains(log.Removed, victim.ID) {
			t.Errorf("executors removed %v, want %s", log.Removed, victim.ID)
		}
		met(t, app.ID)
		s.Await("n2 to be lost", 20*time.Second, func() bool { return s.Nodes()["n2"].State == "lost" })
		s.StartNamed("n2", half...)
		if n := s.Nodes()["n2"]; n.State != "ready" || n.Executors != 0 {
			t.Errorf("n2 came back as %+v", n)
		}
	})
}
