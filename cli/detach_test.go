package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

// pacer submit --detach returns when its application has registered, says how to watch and end
// it, and leaves it running in a session of its own; whoever is left reports the exit.
func TestSubmitDetachedLeavesSparkRunning(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, ended(func(a *api.AppSummary) { a.State = api.AppRunning }))
	t.Chdir(t.TempDir())
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	w.env["AIRFLOW_CTX_DAG_ID"], w.env["AIRFLOW_CTX_TASK_ID"] = "nightly", "report" // It outlives the task.
	w.fakeSpark(t, `exec 3>`+pipe+`; trap 'echo TERM >&3; exit 143' TERM; echo up >&3; while :; do sleep 0.05; done`)
	file := make(chan *os.File, 1)
	go func() {
		opened, err := os.Open(pipe)
		if err != nil {
			t.Error(err)
		}
		file <- opened
	}()
	o := w.run(t, "submit", "--pacer-planner", f.address, "--detach", "--conf", "spark.pacer.submission=s-1", "--pacer-deadline", "1h", "app.py", "--detach")
	if o.code != 0 || !strings.Contains(o.out, "app-1 runs, detached") || !strings.Contains(o.out, "pacer kill app-1") || !strings.Contains(o.out, "pacer apps show app-1") {
		t.Fatalf("exit code %d:\n%s%s", o.code, o.out, o.err)
	}
	found := regexp.MustCompile(`process (\d+), output in (\S+)`).FindStringSubmatch(o.out)
	if found == nil {
		t.Fatalf("no process in %s", o.out)
	}
	pid, _ := strconv.Atoi(found[1])
	said := <-file
	defer said.Close()
	up := make([]byte, 3)
	if _, err := io.ReadFull(said, up); err != nil {
		t.Fatal(err)
	}
	if environ, err := os.ReadFile(filepath.Join("/proc", found[1], "environ")); err != nil || !strings.Contains(string(environ), boundEnv+"=1\x00") {
		t.Errorf("%v: it would end with the task", err)
	}
	if session, err := unix.Getsid(pid); err != nil || session != pid {
		t.Errorf("process %d is of session %d, %v", pid, session, err)
	}
	output, err := os.ReadFile(found[2])
	if err != nil || !strings.Contains(string(output), "arg spark.pacer.submission=s-1\n") || !strings.Contains(string(output), "arg spark.pacer.submitted="+strconv.FormatInt(w.now.UnixMilli(), 10)) {
		t.Errorf("%v: %s", err, output)
	}
	if !strings.HasSuffix(string(output), "arg app.py\narg --detach\n") {
		t.Errorf("what stands after the application is the application's: %s", output)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(said); err != nil || !strings.HasPrefix(string(rest), "TERM\n") {
		t.Errorf("spark-submit got %q, %v", rest, err)
	}
	f.await(t, api.VerbExit)
	if r := f.last(t, api.VerbExit); r.Submission != "s-1" || r.ExitCode != 143 {
		t.Errorf("reported %+v", r)
	}
}

// One that ends before it has registered has its output and its exit code shown as if it had not
// been detached; what can be said before anything starts is said by the foreground.
func TestSubmitDetachedThatDoesNotRegister(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	t.Chdir(t.TempDir())
	w.fakeSpark(t, "echo no such file >&2; exit 3")
	if o := w.run(t, "submit", "--detach", "--pacer-planner", f.address, "app.py"); o.code != 3 || !strings.Contains(o.err, "no such file") {
		t.Errorf("exit code %d: %s", o.code, o.err)
	}
	w.run(t, "submit", "--detach", "--pacer-planner", "127.0.0.1:1", "app.py").wantLine(t, command.ExitUnavailable, "no planner answers")
	w.run(t, "submit", "--detach", "--pacer-planner", f.address, "--pacer-deadline", "soon", "app.py").wantLine(t, command.ExitUsage, "soon")
	if left, _ := filepath.Glob("*.log"); len(left) != 1 {
		t.Errorf("files %v, want the log of the one that ran", left)
	}
}
