package e2e

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

const barrierAnswer = "RESULT barrier [4950, 4950]"

// TestSparkSettings runs a barrier stage without and with a deadline, under
// settings that Pacer sets aside: each is named in one line.
func TestSparkSettings(t *testing.T) {
	realenv.RequireAll(t)
	t.Parallel()
	s := realenv.StartUp(t)
	set := []string{"spark.dynamicAllocation.enabled=true", "spark.speculation=true",
		"spark.shuffle.service.enabled=true", "spark.shuffle.push.enabled=true", "spark.executor.instances=7", "spark.cores.max=3"}
	var extra []string
	for _, pacing := range []string{"recording", "paced"} {
		args := append([]string{"--name", "e2e-barrier", "--conf", "spark.executor.memoryOverheadFactor=0.2", "--conf", "spark.executor.pyspark.memory=512m",
			"--conf", "spark.memory.offHeap.enabled=true", "--conf", "spark.memory.offHeap.size=64m", "--conf", "spark.locality.wait=1s"}, extra...)
		for _, conf := range set {
			args = append(args, "--conf", conf)
		}
		run := s.Submit(append(args, "testdata/barrier.py")...)
		if code := run.Wait(patience); code != 0 {
			t.Fatalf("exit %d", code)
		}
		if !strings.Contains(run.Answer(), barrierAnswer) || !strings.Contains(run.Answer(), "RESULT profile refused") ||
			!strings.Contains(run.Answer(), "ResourceProfiles are only supported") {
			t.Errorf("it answers\n%s", run.Answer())
		}
		for _, conf := range set {
			key, _, _ := strings.Cut(conf, "=")
			if n := strings.Count(run.Output(), "pacer: "+key+" is "); n != 1 {
				t.Errorf("%s is named in %d lines", key, n)
			}
		}
		app := s.AwaitApp("the run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
		if app.Pacing != pacing {
			t.Errorf("pacing %s, want %s; notices %q", app.Pacing, pacing, app.Notices)
		}
		// Far off: other tests run beside.
		extra = []string{"--pacer-deadline", (app.Duration * 3).Duration().Round(time.Millisecond).String()}
	}
}

// TestPythonWorkers paces an application whose work is done by Python workers:
// they run in their executor's group, so that they are counted and held back.
// Interpreter, modules and archives come by the settings that PySpark users know.
func TestPythonWorkers(t *testing.T) {
	realenv.RequireAll(t)
	interpreters := t.TempDir()
	s := realenv.StartUp(t, "--set", "node.mounts="+interpreters) // Containers see what they are given.
	archive := filepath.Join(t.TempDir(), "data.zip")
	zipped(t, archive, "salt.txt", "pepper\n")
	args := []string{"--py-files", "testdata/toil.py", "--archives", archive + "#data"}

	first := s.Submit(append(slices.Clone(args), "testdata/workers.py")...)
	if code := first.Wait(patience); code != 0 {
		t.Fatalf("exit %d", code)
	}
	if python := os.Getenv("PYSPARK_PYTHON"); !strings.Contains(first.Answer(), python) {
		t.Errorf("the workers did not run %s (PYSPARK_PYTHON): %s", python, first.Answer())
	}
	recorded := s.AwaitApp("the first run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })

	python := filepath.Join(interpreters, "python")
	script := fmt.Sprintf("#!/bin/sh\nE2E_PYTHON=ours exec %s \"$@\"\n", os.Getenv("PYSPARK_PYTHON"))
	if err := os.WriteFile(python, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	deadline := (recorded.Duration * 1.6).Duration().Round(time.Millisecond)
	args = append(args, "--conf", "spark.pyspark.python="+python, "--pacer-deadline", deadline.String(), "testdata/workers.py")
	realenv.Repeat(t, func() error { return pacedWorkers(t, s, args, recorded, realenv.Results(first.Answer())) })
}

// pacedWorkers runs workers.py under a deadline and returns how it was not held to it.
func pacedWorkers(t *testing.T, s *realenv.System, args []string, recorded api.AppDetail, want string) error {
	run := s.Submit(args...)
	app := awaitTasks(t, s, run)
	executor := app.Stages[0].Executors[0]
	group := cgroupOf(t, executorPID(t, s, app.ID, executor))
	used := workersIn(t, s, run, group)
	if code := run.Wait(patience); code != 0 {
		t.Fatalf("exit %d", code)
	}
	if got := realenv.Results(run.Answer()); got != want || want == "" {
		t.Errorf("the paced run answers\n%s\nthe first one\n%s", got, want)
	}
	if !strings.Contains(run.Answer(), "'ours'") {
		t.Errorf("the workers did not run spark.pyspark.python: %s", run.Answer())
	}
	app = s.AwaitApp("the paced run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
	if float64(app.CoreSeconds) < used {
		t.Errorf("%v core-seconds are counted, Python workers alone had used %.1f", app.CoreSeconds, used)
	}
	if err := realenv.Held(app); err != nil {
		return err
	}
	if app.MeanCores >= recorded.MeanCores {
		t.Errorf("%v cores after %v: it was not held back", app.MeanCores, recorded.MeanCores)
	}
	if *app.ErrorPct > 20 {
		return realenv.Timing("error %.2f %%", *app.ErrorPct)
	}
	t.Logf("deadline %v, took %v, mean cores %.2f after %.2f", app.Deadline, app.Duration, float64(app.MeanCores), float64(recorded.MeanCores))
	return nil
}

// workersIn waits until Python workers work in the group and the group has been
// held back, and returns the CPU seconds that they have used.
func workersIn(t *testing.T, s *realenv.System, run *realenv.Process, group string) (used float64) {
	t.Helper()
	s.Await("Python workers to be held back in "+group, patience, func() bool {
		select {
		case <-run.Exited():
			t.Fatal("the application has ended, and its Python workers were never held back")
		default:
		}
		used = 0
		workers := 0
		for pid, args := range processes(t) {
			if !slices.Contains(args, "pyspark.daemon") || cgroupOf(t, pid) != group || !alive(pid) {
				continue
			}
			workers++
			fields := realenv.Stat(pid)
			if len(fields) > 12 {
				user, _ := strconv.ParseFloat(fields[11], 64)
				system, _ := strconv.ParseFloat(fields[12], 64)
				used += (user + system) / 100
			}
		}
		// The group of a container is inside that of its executor, which has the quota.
		return workers >= 2 && used > 0.5 && (throttled(t, group) || throttled(t, filepath.Dir(group)))
	})
	return used
}

// throttled reports whether the kernel has held the group back.
func throttled(t *testing.T, group string) bool {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(group, "cpu.stat"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "nr_throttled "); ok {
			return n != "0"
		}
	}
	return false
}

func zipped(t *testing.T, path, name, content string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
}
