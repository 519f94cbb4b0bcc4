package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestModeObserve is the story of who wants to see first: everything is worked out
// and said, and not one file of an executor's group is written but to put
// processes into it. Its JVMs start from the class-data archive, as all of the suite's.
func TestModeObserve(t *testing.T) {
	realenv.RequireSpark(t)
	realenv.Beside(t)
	want := realenv.Results(realenv.Stock(t, "testdata/branches.py", scale))
	s := realenv.StartUp(t)
	recorded, _ := s.Record("testdata/branches.py", scale)
	// It runs at full speed: the deadline has to be later than the end only.
	deadline := (recorded.Duration * 4).Duration().Round(time.Millisecond)
	audit := realenv.StartAudit(t, cgroupOf(t, s.Up.PID()))
	run := s.Submit("--pacer-deadline", deadline.String(), "--pacer-mode", "observe", "testdata/branches.py", scale)
	app := awaitTasks(t, s, run)
	group := cgroupOf(t, executorPID(t, s, app.ID, app.Executors[0].ID))
	usesArchive(t, s, run, app)
	wantAnswer(t, run, want)
	archiveUnsaid(t, s, app)
	line, err := realenv.Line(run.Output(), "pacer: observed: Pacer would have held ")
	if err != nil {
		t.Error(err)
	}
	app = s.AwaitApp("the observed run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
	busy := 2*app.Duration.Duration() > deadline // With others it may have fewer cores than Pacer would have given it.
	if app.Pacing != "observed" || app.WouldCores == nil || app.QuotaChanges == 0 || *app.WouldCores <= 0 || *app.WouldCores >= app.MeanCores && !busy {
		t.Errorf("pacing %s, %d quotas, %v cores, it used %v", app.Pacing, app.QuotaChanges, app.WouldCores, app.MeanCores)
	}
	if code, out := s.Pacer("apps", "show", string(app.ID)); code != 0 || !strings.Contains(out, "would-be cores") {
		t.Errorf("pacer apps show: exit %d: %s", code, out)
	}
	joined := 0
	for path, n := range audit.Written(filepath.Dir(group)) {
		if filepath.Base(path) == "cgroup.procs" {
			joined += n
			continue
		}
		t.Errorf("%s was written %d times", path, n)
	}
	if joined == 0 {
		t.Error("the audit has not even seen an executor join its group")
	}
	t.Logf("took %v of %v; %s", app.Duration, deadline, line)
}

// TestModeOff gets executors and nothing else: stock Spark's scheduling, no profile.
func TestModeOff(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	s := realenv.StartUp(t)
	run := s.Submit("--pacer-mode", "off", "--conf", "spark.speculation=true", "--name", "e2e-off", "testdata/barrier.py")
	if code := run.Wait(patience); code != 0 {
		t.Fatalf("exit %d", code)
	}
	if !strings.Contains(run.Answer(), barrierAnswer) {
		t.Errorf("it answers %s", run.Answer())
	}
	if strings.Contains(run.Output(), "spark.speculation is") {
		t.Error("speculation was set aside")
	}
	app := s.AwaitApp("the run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
	if app.Pacing != "off" || len(app.Stages) != 0 || app.QuotaChanges != 0 {
		t.Errorf("pacing %s, %d stages, %d quotas", app.Pacing, len(app.Stages), app.QuotaChanges)
	}
	if code, out := s.Pacer("profiles", "show", "e2e-off"); code == 0 {
		t.Errorf("it has a profile: %s", out)
	}
}
