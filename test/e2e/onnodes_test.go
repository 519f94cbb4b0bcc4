package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// withEvents is a system of which drivers in containers see the directory of event logs.
func withEvents(t *testing.T) *realenv.System {
	t.Helper()
	s := realenv.New(t)
	if err := os.MkdirAll(s.Events(), 0o755); err != nil {
		t.Fatal(err)
	}
	s.StartUp("--set", "node.mounts="+s.Events()+":rw")
	return s
}

// TestDriverOnNode is the story of cluster mode on Pacer's own nodes. A node starts the driver of a Python program, whose
// files go up, and of one in Scala; pacer submit says how they stand and ends with their exit codes.
func TestDriverOnNode(t *testing.T) {
	realenv.RequireAll(t)
	s := withEvents(t)
	python := s.Submit("--deploy-mode", "cluster", "--py-files", "testdata/toil.py", "testdata/onnode.py", "3")
	code := python.Wait(patience)
	if said := python.Output(); code != 3 || !strings.Contains(said, "this program exits with 3") || !strings.Contains(said, " runs, its driver on node ") {
		t.Fatalf("exit %d:\n%s", code, said)
	}
	app := s.Newest()
	if app.State != api.AppFailed || app.ExitCode != 3 || app.Name != "e2e-onnode" || app.Executors[0].ID != api.DriverName {
		t.Errorf("%s is %s with exit code %d: %+v", app.Name, app.State, app.ExitCode, app.Executors)
	}
	if code, log := s.Pacer("logs", string(app.ID), "driver", "--stream", "stdout"); code != 0 || !strings.Contains(log, "RESULT [Row(count(v)=1000)]") {
		t.Errorf("its log, with code %d:\n%s", code, log)
	}
	sql := s.Submit("--deploy-mode", "cluster", "--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "spark-internal", "-e", "SELECT 'sum', sum(id) FROM range(1000)")
	if code := sql.Wait(patience); code != 0 {
		t.Errorf("a script of SQL ends with %d:\n%s", code, sql.Output())
	}
	app = s.Newest()
	if code, log := s.Pacer("logs", string(app.ID), "driver", "--stream", "stdout"); code != 0 || !strings.Contains(log, "499500") {
		t.Errorf("the log of a script of SQL, with code %d:\n%s", code, log)
	}
}

// TestDriverOnNodeBesidePrograms is the story of a description with Spark: a plain program beside the driver, which knows
// its address, and one in an image of its own where nodes run containers. Where they do not, or lack the image, one line
// says so and nothing is left.
func TestDriverOnNodeBesidePrograms(t *testing.T) {
	realenv.RequireAll(t)
	s := withEvents(t)
	image, lacks := "", "runs no containers (node.runtime)"
	if os.Getenv(realenv.RuntimeEnv) == "docker" {
		image, lacks = realenv.NewImage(t, "SALT=of the image"), "image pacer-e2e:none is not on this node"
	}
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	address := realenv.FreePort(t)
	_, port, _ := net.SplitHostPort(address)
	submit := func(image string) *realenv.Process {
		path := filepath.Join(t.TempDir(), "beside.yaml")
		text := fmt.Sprintf(`
spark: {submit: [%[1]s/beside.py, '{{hosts "table"}}', "3"]}
components:
  - {name: table, memory: 64m, port: %[2]s, command: [python3, table.py, '{{hosts "table"}}'], files: [%[1]s/table.py]}
`, here, port)
		if image != "" {
			text += fmt.Sprintf("  - {name: salt, memory: 64m, image: %q, command: [sh, -c, 'echo salt $SALT']}\n", image)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return s.Submit("--pacer-deadline", "10m", path)
	}
	run := submit(image)
	if code := run.Wait(patience); code != 3 {
		t.Fatalf("exit %d:\n%s", code, run.Output())
	}
	app := s.Newest()
	if app.State != api.AppFailed || app.ExitCode != 3 || app.Name != "beside" {
		t.Errorf("%s is %s with %d", app.Name, app.State, app.ExitCode)
	}
	says := map[string]string{"driver": "RESULT beside 499500\n", "table-0": "table at " + address + "\n"}
	if image != "" {
		says["salt-0"] = "salt of the image\n"
	}
	for program, want := range says {
		if code, log := s.Pacer("logs", string(app.ID), program, "--stream", "stdout"); code != 0 || !strings.Contains(log, want) {
			t.Errorf("the log of %s, with code %d, says %q, want %q", program, code, log, want)
		}
	}
	run = submit("pacer-e2e:none")
	if code := run.Wait(patience); code == 0 || code == 3 || !strings.Contains(run.Output(), lacks) {
		t.Errorf("an image that no node has ends it with %d:\n%s", code, run.Output())
	}
	if left := s.Newest(); left.ID == app.ID || left.State != api.AppFailed {
		t.Errorf("then %s is %s", left.ID, left.State)
	}
	s.Await("its programs to be gone", patience, func() bool {
		for _, args := range processes(t) {
			if slices.Contains(args, address) {
				return false
			}
		}
		return true
	})
}

// TestDriverOnNodeSignals is what becomes of an application when its pacer submit does not stay: SIGTERM ends both, kill
// -9 and --detach leave the application, which ends with its program's exit code.
func TestDriverOnNodeSignals(t *testing.T) {
	realenv.RequireAll(t)
	s := realenv.StartUp(t)
	submit := func(flags ...string) *realenv.Process {
		return s.Submit(slices.Concat([]string{"--deploy-mode", "cluster"}, flags, []string{"--py-files", "testdata/toil.py", "testdata/onnode.py", "3"})...)
	}
	runs := func(a api.AppDetail) bool {
		return a.State == api.AppRunning && a.Executors[0].State == api.ExecutorRunning
	}
	exits := func(a api.AppDetail) bool { return a.State == api.AppFailed && a.EndedBy == api.EndedByExit }

	ended := submit()
	app := s.AwaitApp("a driver that runs", patience, runs)
	var driver []int
	for pid, args := range processes(t) {
		if slices.Contains(args, "spark.pacer.submission="+app.Submission) {
			driver = append(driver, pid)
		}
	}
	if len(driver) == 0 {
		t.Fatalf("no driver of %s is seen", app.ID)
	}
	ended.Signal(syscall.SIGTERM)
	if code := ended.Wait(patience); code != 128+int(syscall.SIGTERM) {
		t.Errorf("at SIGTERM pacer submit exits with %d:\n%s", code, ended.Output())
	}
	s.AwaitApp("the end of one that was ended", patience, func(a api.AppDetail) bool { return a.ID == app.ID && a.State == api.AppFailed })
	s.Await("its driver to be gone", patience, func() bool { return !slices.ContainsFunc(driver, alive) })

	left := submit()
	app = s.AwaitApp("a second driver that runs", patience, func(a api.AppDetail) bool { return a.ID != app.ID && runs(a) })
	left.Signal(syscall.SIGKILL)
	left.Wait(patience)
	if a := s.AwaitApp("the end of one that was left", patience, exits); a.ID != app.ID || a.ExitCode != 3 {
		t.Errorf("one whose pacer submit was killed, %s, ended as %s with %d", app.ID, a.ID, a.ExitCode)
	}

	detached := submit("--detach")
	if code := detached.Wait(patience); code != 0 || !strings.Contains(detached.Output(), "was taken, detached") {
		t.Errorf("detached with %d:\n%s", code, detached.Output())
	}
	if a := s.AwaitApp("the end of one that was detached", patience, func(a api.AppDetail) bool { return a.ID != app.ID && exits(a) }); a.ExitCode != 3 {
		t.Errorf("detached, it ends with %d", a.ExitCode)
	}
}

// TestDriverOnNodeRestarts kills planner and node controller when an application is taken, when its driver starts and
// when it runs: it ends with its program's exit code, and so does its pacer submit.
func TestDriverOnNodeRestarts(t *testing.T) {
	realenv.RequireAll(t)
	s := realenv.New(t)
	planner, node := s.StartPlanner(), s.StartNode()
	for _, moment := range []string{"pacer: app-", " runs on node ", " runs, its driver on node "} {
		run := s.Submit("--deploy-mode", "cluster", "--py-files", "testdata/toil.py", "testdata/onnode.py", "3")
		run.Await(moment, patience)
		planner.Signal(syscall.SIGKILL)
		node.Signal(syscall.SIGKILL)
		planner.Wait(patience)
		node.Wait(patience)
		planner, node = s.StartPlanner(), s.StartNode()
		if code := run.Wait(patience); code != 3 {
			t.Errorf("killed when it says %q, pacer submit exits with %d:\n%s", moment, code, run.Output())
		}
		if a := s.Newest(); a.State != api.AppFailed || a.ExitCode != 3 {
			t.Errorf("killed when it says %q, %s is %s with %d", moment, a.ID, a.State, a.ExitCode)
		}
	}
}
