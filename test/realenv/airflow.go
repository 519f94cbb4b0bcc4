package realenv

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Airflow is a worker of Apache Airflow, whose PATH begins with the links of `pacer link`.
type Airflow struct {
	// Links is the directory of the links.
	Links string

	python, home string
	t            testing.TB
}

// NewAirflow makes a worker, with a database of its own. Its Airflow is that of scripts/airflow.sh.
func NewAirflow(t testing.TB) *Airflow {
	t.Helper()
	a := &Airflow{Links: t.TempDir(), home: t.TempDir(), t: t}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	install := exec.Command(filepath.Join(root, "scripts", "airflow.sh"))
	install.Stderr = os.Stderr
	path, err := install.Output()
	if err != nil {
		t.Fatal(err)
	}
	a.python = strings.TrimSpace(string(path))
	for _, c := range []*exec.Cmd{
		exec.Command(a.python, "-m", "airflow", "db", "migrate"), exec.Command(Binary(t, "pacer"), "link", a.Links),
	} {
		c.Env = append(os.Environ(), a.env()...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c, err, out)
		}
	}
	return a
}

func (a *Airflow) env() []string {
	return []string{"AIRFLOW_HOME=" + a.home, "AIRFLOW__CORE__LOAD_EXAMPLES=False",
		"AIRFLOW__CORE__DAGS_FOLDER=" + filepath.Join(a.home, "dags")}
}

// Task is a DAG of one task that Airflow runs.
type Task struct {
	// DAG is its name, and marks all processes below it, with the worker's home: other workers may have such a DAG.
	DAG string
	// Program is the file of the DAG.
	Program string
	// Operator are the arguments of the operator, Connection the connection that it takes.
	Operator, Connection map[string]any
	// At is the logical date of the run.
	At time.Time
	// Env is more of the environment, Without are the names that it has not.
	Env, Without []string
}

// Settings are those of flags of spark-submit, as the operator takes them.
func Settings(flags []string) map[string]string {
	of := map[string]string{}
	for i, flag := range flags {
		if flag == "--conf" {
			key, value, _ := strings.Cut(flags[i+1], "=")
			of[key] = value
		}
	}
	return of
}

// Start has Airflow run a task against a Pacer.
func (a *Airflow) Start(s *System, task Task) *Process {
	a.t.Helper()
	dags := filepath.Join(a.home, "dags")
	text, err := os.ReadFile(task.Program)
	if err == nil {
		err = os.MkdirAll(dags, 0o755)
	}
	program := filepath.Join(dags, filepath.Base(task.Program))
	if err == nil {
		err = os.WriteFile(program, text, 0o644)
	}
	operator, err1 := json.Marshal(task.Operator)
	connection, err2 := json.Marshal(task.Connection)
	if err != nil || err1 != nil || err2 != nil {
		a.t.Fatal(err, err1, err2)
	}
	env := slices.Concat(s.local().Ask().Env, a.env(), []string{"PATH=" + a.Links + ":" + os.Getenv("PATH"),
		"AIRFLOW_CONN_SPARK_DEFAULT=" + string(connection), "E2E_TASK=" + string(operator), "E2E_DAG=" + task.DAG,
		"E2E_LOGICAL_DATE=" + task.At.Format(time.RFC3339)}, task.Env)
	command := append(slices.Clone(s.Inside), "env")
	for _, name := range task.Without {
		command = append(command, "-u", name)
	}
	command = append(command, a.python, program)
	return Start(a.t, env, command[0], command[1:]...)
}

// Outcome is how a task has ended: its state in Airflow's database, how often it was tried, and the text of the
// exception of each failed try.
type Outcome struct {
	State string
	Tries int
	Said  []string
}

// Outcome waits for the end of a task.
func (a *Airflow) Outcome(p *Process) (o Outcome) {
	a.t.Helper()
	p.Wait(Patience)
	for line := range strings.Lines(p.Answer()) {
		if text, ok := strings.CutPrefix(line, "SAID "); ok {
			var said string
			if err := json.Unmarshal([]byte(text), &said); err != nil {
				a.t.Fatal(err)
			}
			o.Said = append(o.Said, said)
		}
		_, _ = fmt.Sscanf(line, "STATE %s %d", &o.State, &o.Tries)
	}
	return o
}

// Child is the process of spark-submit that a task has started, 0 for none.
func (a *Airflow) Child(task *Process) int {
	for _, pid := range Children(task.PID()) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasPrefix(string(line), "spark-submit\x00") {
			return pid
		}
	}
	return 0
}

// Left are the processes that this worker's DAG of a name has left, and those that work in the directories.
func (a *Airflow) Left(dag string, directories ...string) (left []int) {
	found, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range found {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(proc), "%d", &pid); err != nil || syscall.Kill(pid, 0) != nil {
			continue
		}
		environment, _ := os.ReadFile(filepath.Join(proc, "environ"))
		names := strings.Split(string(environment), "\x00")
		at, _ := os.Readlink(filepath.Join(proc, "cwd"))
		if slices.Contains(names, "E2E_DAG="+dag) && slices.Contains(names, "AIRFLOW_HOME="+a.home) ||
			slices.ContainsFunc(directories, func(dir string) bool { return strings.HasPrefix(at, dir) }) {
			left = append(left, pid)
		}
	}
	return left
}

// For is a for another test, a part of the one that has started it.
func (a *Airflow) For(t testing.TB) *Airflow {
	of := *a
	of.t = t
	return &of
}
