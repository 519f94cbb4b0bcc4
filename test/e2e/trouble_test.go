package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// awaitTasks waits until an executor of run's application runs tasks under the eyes
// of its node.
func awaitTasks(t *testing.T, s *realenv.System, run *realenv.Process) api.AppDetail {
	t.Helper()
	app, err := s.AwaitWhile(run, "tasks to run", func(a api.AppDetail) bool {
		for _, e := range a.Executors {
			if e.State == api.ExecutorRunning && e.Registered && len(a.Stages) > 0 && len(a.Stages[0].Samples) > 0 {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// TestExecutorCrash kills an executor in mid-stage: Spark retries its tasks,
// Pacer starts a new one, the answer does not change.
func TestExecutorCrash(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	want := realenv.Results(realenv.Stock(t, "testdata/branches.py", scale))
	s := realenv.StartUp(t)
	run := s.Submit("testdata/branches.py", scale)
	app := awaitTasks(t, s, run)
	victim := app.Executors[0]
	if err := syscall.Kill(executorPID(t, s, app.ID, victim.ID), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, run, want)
	log := s.Log(app.ID)
	if len(log.Added) < 2 || len(log.Removed) < 1 {
		t.Errorf("executors added %v, removed %v: want one lost and a new one", log.Added, log.Removed)
	}
}

// TestDriverGone kills the driver: its executors are stopped and the cores are
// back. How soon is for virtual time (package testenv).
func TestDriverGone(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	s := realenv.StartUp(t)
	run := s.Submit("testdata/branches.py", "4")
	app := awaitTasks(t, s, run)
	pids := make([]int, len(app.Executors))
	for i, e := range app.Executors {
		pids[i] = executorPID(t, s, app.ID, e.ID)
	}
	for _, pid := range driverPIDs(t, run.PID()) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	s.AwaitApp("the application to be failed", patience, func(a api.AppDetail) bool { return a.State == api.AppFailed })
	s.Await("the executors to be gone", patience, func() bool {
		for _, pid := range pids {
			if alive(pid) {
				return false
			}
		}
		return true
	})
	if code := run.Wait(patience); code == 0 {
		t.Error("a killed driver ended with exit code 0")
	}
}

// TestSubmitDetached leaves an application running when its pacer submit has returned. The one in
// the background, killed by SIGKILL, takes Spark with it.
func TestSubmitDetached(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	s := realenv.StartUp(t)
	run := s.Submit("--detach", "testdata/branches.py", "4")
	if code := run.Wait(patience); code != 0 {
		t.Fatalf("exit %d:\n%s", code, run.Output())
	}
	said := regexp.MustCompile(`(\S+) runs, detached: process (\d+), output in (\S+)`).FindStringSubmatch(run.Output())
	if said == nil {
		t.Fatalf("it says:\n%s", run.Output())
	}
	t.Cleanup(func() { _ = os.Remove(said[3]) })
	pid, _ := strconv.Atoi(said[2])
	app := s.AwaitApp("tasks to run", patience, func(a api.AppDetail) bool {
		return a.State == api.AppRunning && len(a.Stages) > 0 && len(a.Stages[0].Samples) > 0
	})
	if string(app.ID) != said[1] {
		t.Errorf("it is %s, not %s", app.ID, said[1])
	}
	left := append(driverPIDs(t, pid), executorPID(t, s, app.ID, app.Executors[0].ID))
	if len(left) < 2 {
		t.Fatalf("no driver below process %d", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.Await("Spark to be gone", patience, func() bool { return !slices.ContainsFunc(left, alive) })
	// Spark's own end at a signal is an ordered one if its driver gets that far.
	s.AwaitApp("the application to be over", patience, func(a api.AppDetail) bool { return a.State != api.AppRunning })
	if code, out := s.Pacer("profiles", "list"); code != 0 || strings.Contains(out, "e2e-branches") {
		t.Errorf("a run that was cut off has left a profile: exit %d: %s", code, out)
	}
}

// TestPythonException raises one in an application's last line: Spark's driver
// says that all went well, pacer submit tells the planner what spark-submit says.
func TestPythonException(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	s := realenv.StartUp(t)
	run := s.Submit("testdata/raises.py")
	if code := run.Wait(patience); code != 1 {
		t.Fatalf("exit %d, want 1", code)
	}
	if app := s.Newest(); app.State != api.AppFailed || app.ExitCode != 1 {
		t.Errorf("the application is %s with exit code %d", app.State, app.ExitCode)
	}
	if code, out := s.Pacer("apps"); code != 0 || !strings.Contains(out, "failed (1)") {
		t.Errorf("apps: exit %d: %s", code, out)
	}
	if code, out := s.Pacer("profiles", "list"); code != 0 || strings.Contains(out, "e2e-raises") {
		t.Errorf("a failed run has left a profile: exit %d: %s", code, out)
	}
}

// restarts restarts all daemons in mid-run, one after the other: the node controller, the
// planner and, where there is one, the NATS server between them. The work goes on, control
// comes back, and quotas are taken over; the history of both node controllers replays; with
// containers on the planner's own bus, with processes on a nats-server with TLS. It returns
// how the application was not held to its deadline, which leaves room for neighbours.
func restarts(t *testing.T, s *realenv.System) error {
	planner := s.StartPlanner()
	history := []string{"--set", "node.history=" + filepath.Join(s.Dir, "history.jsonl")}
	node := s.StartNode(history...)
	recorded, _ := s.Record(chain...) // It is longer than nobody plans.
	run := s.Submit(append([]string{"--pacer-deadline", (recorded.Duration * 1.6).String()}, chain...)...)
	app := awaitTasks(t, s, run)
	pid := executorPID(t, s, app.ID, app.Executors[0].ID)

	node.Signal(syscall.SIGTERM)
	if code := node.Wait(patience); code != 0 {
		t.Errorf("node controller: exit %d after SIGTERM", code)
	}
	if !alive(pid) {
		t.Error("the executor died with its node controller")
	}
	node = s.StartNode(history...)
	if !alive(pid) {
		t.Error("the executor was not kept by the new node controller")
	}

	planner.Signal(syscall.SIGKILL)
	planner.Wait(patience)
	planner = s.StartPlanner()
	if s.Server != nil {
		s.Server.Close()
		s.Server.Start()
		// It looks for its server once a second or so.
		s.Await("the planner to answer", patience, func() bool {
			code, _ := s.Pacer("apps")
			return code == 0
		})
	}
	known := s.AwaitApp("the application to be known again", patience, func(a api.AppDetail) bool {
		return a.ID == app.ID && (a.State == api.AppRunning || a.State == api.AppFinished)
	})
	if known.State == api.AppFinished { // What nobody plans has all cores.
		return realenv.Timing("it ended after %v, before the planner was back", known.Duration)
	}
	if code := run.Wait(patience); code != 0 {
		t.Fatalf("exit %d", code)
	}
	ended := s.AwaitApp("the end", patience, func(a api.AppDetail) bool { return a.ID == app.ID && a.State == api.AppFinished })
	log := s.Log(app.ID)
	if len(log.Removed) > 0 {
		t.Errorf("executors %v were lost by restarts", log.Removed)
	}
	for _, p := range []*realenv.Process{node, planner} {
		p.Signal(syscall.SIGTERM)
		if code := p.Wait(patience); code != 0 {
			t.Errorf("exit %d after SIGTERM", code)
		}
	}
	// What the two node controllers did is what their engines do with what they saw.
	if code, out := s.Pacer("replay", filepath.Join(s.Dir, "history.jsonl")); code != 0 || !strings.Contains(out, "in 2 starts gave") {
		t.Errorf("replay: exit %d: %s", code, out)
	} else {
		t.Log(out)
	}
	if err := realenv.Held(ended); err != nil {
		return err
	}
	// Executors and their pages outlive the daemons: what is steered is what moves
	// after both are back.
	if n := grantsSince(ended, known.Duration); n < 2 {
		t.Errorf("%d grants from %v to the end after %v: control did not come back", n, known.Duration, ended.Duration)
	}
	return nil
}

// grantsSince counts the different grants of an application from a time on its
// deadline clock on.
func grantsSince(app api.AppDetail, from units.Seconds) int {
	grants := map[units.Cores]bool{}
	for _, stage := range app.Stages {
		for _, sample := range stage.Samples {
			if sample.At > from && sample.Grant > 0 {
				grants[sample.Grant] = true
			}
		}
	}
	return len(grants)
}

// TestADriverOfALostPlanner takes the planner's state away in mid-run, on a nats-server that keeps
// the driver's connection: the driver goes back to its user's login, and the planner takes the
// application over. The work goes on, and the memory of an executor that is started then moves.
func TestADriverOfALostPlanner(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	s := realenv.NewBehind(t)
	planner := s.StartPlanner()
	s.StartNode()
	run := s.Submit("testdata/branches.py", "4")
	app := awaitTasks(t, s, run)
	pid := executorPID(t, s, app.ID, app.Executors[0].ID)
	planner.Signal(syscall.SIGKILL)
	planner.Wait(patience)
	s.Server.Forget()
	if err := os.Remove(filepath.Join(s.Dir, "planner", "planner.shared")); err != nil {
		t.Fatal(err)
	}
	s.StartPlanner()
	// What this planner knows of it, it knows from the driver.
	s.AwaitApp("the application to be taken over", patience, func(a api.AppDetail) bool { return a.ID == app.ID })
	if s.App(app.ID).State == api.AppRunning && !alive(pid) {
		t.Error("its executor was stopped")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if code := run.Wait(patience); code != 0 {
		t.Errorf("exit %d", code)
	}
	app = s.AwaitApp("the end", patience, func(a api.AppDetail) bool { return a.ID == app.ID && a.State == api.AppFinished })
	if lost := s.Log(app.ID).Removed; !slices.Equal(lost, []api.ExecutorID{"1"}) || len(app.Executors) != 2 {
		t.Fatalf("executors %v were lost of %d, want the one that was killed", lost, len(app.Executors))
	}
	if m := app.Executors[1].Memory; m.Moves == 0 || m.Fixed {
		t.Errorf("in place of the one that was killed one has started with %+v", m)
	}
}

// TestUpEndsCleanly stops `pacer up` in mid-run, as a terminal that is closed does: applications
// end, no executor and no cgroup is left.
func TestUpEndsCleanly(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	s := realenv.StartUp(t)
	run := s.Submit("testdata/branches.py", "4")
	app := awaitTasks(t, s, run)
	pid := executorPID(t, s, app.ID, app.Executors[0].ID)
	group := cgroupOf(t, pid)
	s.Up.Signal(syscall.SIGHUP)
	if code := s.Up.Wait(patience); code != 0 {
		t.Errorf("exit %d after SIGHUP", code)
	}
	if alive(pid) {
		t.Error("an executor runs on")
	}
	if exists(group) {
		t.Errorf("cgroup %s was left", group)
	}
	run.Stop()
}

// TestStreamingRunsUnpaced says so in one line and runs.
func TestStreamingRunsUnpaced(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	s := realenv.StartUp(t)
	run := s.Submit("--pacer-deadline", "5m", "testdata/stream.py")
	if code := run.Wait(patience); code != 0 {
		t.Fatalf("exit %d", code)
	}
	if realenv.Results(run.Answer()) == "" || !strings.Contains(run.Output(), "unpaced") {
		t.Errorf("want the result and a line that says unpaced:\n%s", run.Output())
	}
	if app := s.Newest(); app.Pacing != "unpaced" {
		t.Errorf("pacing %s, want unpaced", app.Pacing)
	}
}
