package cli

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
)

// Airflow's operator kills its child with SIGKILL, and a worker's process may be killed: spark-submit, and a Python
// program that works on without its JVM, get SIGTERM, and the planner learns the exit.
func TestATaskThatIsKilledTakesItsApplicationAlong(t *testing.T) {
	const driver = `trap 'echo TERM >&3; exit 143' TERM; ` + // It is there before the child says that both are.
		`sh -c 'trap "echo PYTHON >&3; exit" TERM; echo up >&3; while :; do sleep 0.05; done' & while :; do sleep 0.05; done`
	for name, task := range map[string]*exec.Cmd{
		"the operator's child": exec.Command(os.Args[0]),
		"the task's process":   exec.Command("sh", "-c", `"$0"; exit 1`, os.Args[0]),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			f := startPlanner(t, ended(nil))
			task.Env = []string{"AIRFLOW_CTX_DAG_ID=nightly", "AIRFLOW_CTX_TASK_ID=report"}
			file := w.startPiped(t, f, task, driver)
			if err := task.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = task.Wait()
			said, err := io.ReadAll(file) // Until both have ended.
			got := slices.Compact(strings.SplitAfter(string(said), "\n"))
			if err != nil || strings.Join(got, "") != "TERM\nPYTHON\n" {
				t.Errorf("they got %q, %v", said, err)
			}
			f.await(t, api.VerbExit)
			if r := f.last(t, api.VerbExit); r.ExitCode != command.ExitSignal+int(syscall.SIGTERM) || r.Submission != "s-1" {
				t.Errorf("reported %+v", r)
			}
		})
	}
}

// A task that ends by itself has spark-submit's exit code, and the closing line alone.
func TestATaskEndsAsItsApplication(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, ended(nil))
	w.fakeSpark(t, "exit 3")
	w.env["AIRFLOW_CTX_DAG_ID"], w.env["AIRFLOW_CTX_TASK_ID"] = "nightly", "report"
	o := w.run(t, "submit", "--pacer-planner", f.address, "--conf", "spark.pacer.submission=s-1", "app.py")
	if o.code != 3 || o.err != "pacer: ended 4.0 s before 06:00:00, on 1.4 of 8 cores\n" {
		t.Errorf("exit code %d, %q", o.code, o.err)
	}
}
