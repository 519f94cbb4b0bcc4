package field

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// Several contexts, one after the other, are one submission with one exit.
func TestAProgramOfSeveralContexts(t *testing.T) {
	realenv.RequireAll(t)
	p := script("days.py")
	want := stock(t, p)
	s := realenv.StartUp(t)
	want.wants(t, s.Submit(p...))
	want.wants(t, s.Submit(append(program{"--pacer-deadline", "3m"}, p...)...))
}

// A master in the program's text wins, and that is said.
func TestAProgramWithAMasterOfItsOwn(t *testing.T) {
	realenv.RequireAll(t)
	p := script("laptop.py")
	want := stock(t, p)
	s := realenv.StartUp(t)
	run := s.Submit(append(program{"--pacer-deadline", "1m"}, p...)...)
	want.wants(t, run)
	if out := run.Output(); strings.Count(out, "had no effect") != 1 || !strings.Contains(out, "local[2]") {
		t.Errorf("it does not say that the deadline had no effect: %s", out)
	}
}

// Files, partitions and a checkpoint, written by executors and read again.
func TestAProgramThatWritesATable(t *testing.T) {
	realenv.RequireAll(t)
	files := program{"--files", filepath.Join("testdata", "cities.csv")}
	nightly(t, append(files, script("lake.py", filepath.Join(t.TempDir(), "lake"))...))
}

// A program without a name has its file's.
func TestAProgramWithoutAName(t *testing.T) {
	realenv.RequireAll(t)
	nightly(t, script("nameless.py"))
}

// A script of SQL ends at the statement that fails, with stock Spark's exit code.
func TestAScriptOfSQLThatFails(t *testing.T) {
	realenv.RequireAll(t)
	// Derby makes its metastore and its log where it is told, or in the source tree.
	p := program{"--driver-java-options", "-Dderby.system.home=" + t.TempDir(),
		"--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "spark-internal", "-f", filepath.Join("testdata", "report.sql")}
	want := stock(t, p)
	if want.code == 0 {
		t.Fatal("stock Spark takes the failure for none")
	}
	s := realenv.StartUp(t)
	want.wants(t, s.Submit(p...))
	if a := over(s); a.State != api.AppFailed || a.ExitCode != want.code {
		t.Errorf("it is %s with exit code %d", a.State, a.ExitCode)
	}
}

// A program gives up a job after some seconds, which is in time at all cores and not when the job is held back until its
// deadline. The night in which it gives up is followed by one at all cores, and from then on it is paced within that
// limit; a user who says so has no such night.
func TestAProgramWithALimitOfItsOwn(t *testing.T) {
	realenv.RequireAll(t)
	patient := script("impatient.py", "1000")
	want := stock(t, patient)
	s := realenv.StartUp(t)
	a, took := night(t, s, patient, want)
	job := taught(t, s, a.Profile).Stages[0].Duration.Duration()
	limit := fmt.Sprintf("%.1f", (2 * job).Seconds())
	due := program{"--pacer-deadline", (took + 3*job).Round(time.Second).String()}
	next := func(want expectation, pacing, says string, more ...string) {
		t.Helper()
		run := s.Submit(slices.Concat(due, more, script("impatient.py", limit))...)
		want.wants(t, run)
		a := s.AwaitApp("that it says "+says, time.Minute, func(a api.AppDetail) bool {
			return a.State != api.AppRunning && a.State != api.AppEnding && strings.Contains(a.Reason+a.Headline, says)
		})
		if a.Pacing != pacing {
			t.Errorf("pacing %s, want %s: %s", a.Pacing, pacing, a.Reason)
		}
	}
	next(want, "paced", "no job takes longer than", "--conf", "spark.pacer.job.most="+limit+"s")
	next(expectation{"RESULT gave up", 9}, "paced", "its next run has all cores")
	next(want, "released", "the last paced run failed")
	next(want, "paced", "no job takes longer than")
}

// Who asks something beside a long job, in a pool of its own, is answered as soon as in stock Spark, though the job is
// held back, and that is in time.
func TestAProgramOfPoolsIsAskedBesideItsJob(t *testing.T) {
	realenv.RequireAll(t)
	p := append(program{"--conf", "spark.scheduler.mode=FAIR"}, script("asks.py", "40", "6")...)
	want := stock(t, p)
	s := realenv.StartUp(t)
	_, took := night(t, s, p, want)
	deadline := (took * 2).Round(time.Second)
	run := s.Submit(append(program{"--pacer-deadline", deadline.String()}, p...)...)
	want.wants(t, run)
	a := over(s)
	if err := realenv.Held(a); err != nil {
		t.Error(err)
	}
	if a.MeanCores > 1.7 {
		t.Errorf("it had %.2f cores: it was not held back", a.MeanCores)
	}
	asked := 0
	for line := range strings.Lines(run.Answer()) {
		var waited float64
		if n, err := fmt.Sscanf(line, "ASKED %g", &waited); n != 1 || err != nil {
			continue
		}
		if asked++; waited > 3 {
			t.Errorf("question %d was answered after %.1f s", asked, waited)
		}
		t.Logf("question %d was answered after %.2f s, on %.2f cores in the mean of all", asked, waited, a.MeanCores)
	}
	if asked != 6 {
		t.Errorf("%d of 6 questions were answered", asked)
	}
}
