package airflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// goneWithin is how long processes may outlive their task.
const goneWithin = 15 * time.Second

// site is a Pacer and the Airflow that submits to it.
type site struct {
	s *realenv.System
	a *realenv.Airflow
	// host, port and extra are of the connection of each task, conf is of each.
	host, port string
	extra      map[string]any
	conf       map[string]string
	// work are the directories in which executors work.
	work []string
	// runs are how many runs each profile is to know, by what has succeeded.
	runs map[string]int
	// account counts for all sites.
	account *account
}

// account is what all cases come to.
type account struct{ cases, orphans, poisoned int }

// trial is a case: a task, and how it has to end.
type trial struct {
	name string
	// args are those of report.py, operator, conf and extra (of the connection) are beside those of each task.
	args     []any
	operator map[string]any
	conf     map[string]string
	extra    map[string]any
	env      []string
	without  []string
	// during is done to the task while it runs.
	during func(t *testing.T, w *site, before api.AppID, task *realenv.Process)
	// dag is its DAG where that is not the case's name; program is the DAG's file, at its logical date and host its master
	// where these count.
	dag, program string
	at           time.Time
	host         string
	// state and tries are Airflow's in the end, "" where the task's own process is killed; says is in the exception of
	// the last try.
	state string
	tries int
	says  []string
	// app is how its application has ended, "" for no application. A run that has finished teaches a profile. due is
	// its deadline, where that counts.
	app api.AppState
	due time.Time
}

// For is w for another test.
func (w *site) For(t *testing.T) *site {
	of := *w
	of.s, of.a = w.s.For(t), w.a.For(t)
	return &of
}

// newest is the application that was submitted last, "" before the first one.
func (w *site) newest() (id api.AppID) {
	for _, a := range w.s.Apps() {
		id = max(id, a.ID)
	}
	return id
}

// try runs a case.
func (w *site) try(t *testing.T, c trial) {
	t.Helper()
	t.Run(c.name, func(t *testing.T) {
		w := w.For(t)
		w.account.cases++
		if c.dag == "" {
			c.dag = c.name
		}
		before := w.newest()
		task := w.a.Start(w.s, w.task(t, c))
		if c.during != nil {
			c.during(t, w, before, task)
		}
		got := w.a.Outcome(task)
		ended := time.Now()
		if got.State != c.state || c.tries > 0 && got.Tries != c.tries {
			t.Errorf("in Airflow it is %q after %d tries, want %q after %d", got.State, got.Tries, c.state, c.tries)
		}
		for _, says := range c.says {
			if len(got.Said) == 0 || !strings.Contains(got.Said[len(got.Said)-1], says) {
				t.Errorf("the exception does not say %q: %s", says, got.Said)
			}
		}
		w.gone(t, c.dag, ended)
		w.judged(t, c, before)
	})
}

// nightly is the file of a DAG whose operator the environment gives.
const nightly = "testdata/nightly.py"

// task is what Airflow runs in a case.
func (w *site) task(t *testing.T, c trial) realenv.Task {
	t.Helper()
	program, err := filepath.Abs("testdata/report.py")
	if err != nil {
		t.Fatal(err)
	}
	conf := map[string]string{"spark.ui.enabled": "false"}
	operator := map[string]any{"application": program, "application_args": c.args, "conf": conf, "driver_memory": "512m", "executor_memory": "768m"}
	extra := map[string]any{}
	maps.Copy(conf, w.conf)
	maps.Copy(conf, c.conf)
	maps.Copy(operator, c.operator)
	maps.Copy(extra, w.extra)
	maps.Copy(extra, c.extra)
	connection := map[string]any{"conn_type": "spark", "host": w.host, "extra": extra}
	if w.port != "" {
		connection["port"] = json.Number(w.port)
	}
	if c.host != "" {
		connection["host"] = c.host
	}
	if c.at.IsZero() {
		c.at = time.Now()
	}
	return realenv.Task{DAG: c.dag, Program: cmp.Or(c.program, nightly), Operator: operator, Connection: connection, At: c.at, Env: c.env, Without: c.without}
}

// gone holds a task that has ended to leave no process.
func (w *site) gone(t *testing.T, dag string, ended time.Time) {
	var left []int
	if realenv.Poll(200*time.Millisecond, goneWithin-time.Since(ended), func() bool {
		left = w.a.Left(dag, w.work...)
		return len(left) == 0
	}) {
		return
	}
	w.account.orphans += len(left)
	for _, pid := range left {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		t.Errorf("process %d is left: %s", pid, strings.ReplaceAll(string(line), "\x00", " "))
	}
}

// judged holds the application of a case to its end, and a run that has finished to teach a profile.
func (w *site) judged(t *testing.T, c trial, before api.AppID) {
	t.Helper()
	if c.app == "" {
		if now := w.newest(); now != before {
			t.Errorf("there is an application %s", now)
		}
		return
	}
	app := w.s.AwaitApp("its application is "+string(c.app), time.Minute, func(a api.AppDetail) bool { return a.ID > before && a.State == c.app })
	if late := app.Submitted.Add(app.Deadline.Duration()).Sub(c.due); !c.due.IsZero() && late.Abs() > time.Second {
		t.Errorf("it is due %v after %v", late, c.due)
	}
	if name := c.dag + ".report"; c.app == api.AppFinished {
		w.runs[name]++
		w.s.Await("its profile", time.Minute, func() bool { return w.profiles(t)[name] >= w.runs[name] })
	}
}

// profiles are how many runs each profile knows.
func (w *site) profiles(t *testing.T) map[string]int {
	t.Helper()
	code, out := w.s.Pacer("profiles", "list", "-o", "json")
	var list struct {
		Profiles []api.ProfileSummary `json:"profiles"`
	}
	if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil {
		t.Fatalf("pacer profiles list: exit %d, %v: %s", code, err, out)
	}
	runs := map[string]int{}
	for _, p := range list.Profiles {
		runs[p.Name] = p.Runs
	}
	return runs
}

// poisons counts what runs have taught that have not succeeded.
func (w *site) poisons(t *testing.T) {
	t.Helper()
	for name, runs := range w.profiles(t) {
		if more := runs - w.runs[name]; more > 0 {
			w.account.poisoned += more
			t.Errorf("profile %s knows %d runs, %d have succeeded", name, runs, w.runs[name])
		}
	}
}

// struck sends a signal to a process of the task once its application is in a state: where it runs, has had a job.
func struck(state api.AppState, which func(w *site, task *realenv.Process) int, sig syscall.Signal) func(*testing.T, *site, api.AppID, *realenv.Process) {
	return func(t *testing.T, w *site, before api.AppID, task *realenv.Process) {
		over := false
		w.s.Await("an application that is "+string(state), realenv.Patience, func() bool {
			select {
			case <-task.Exited():
				over = true
			default:
			}
			return over || slices.ContainsFunc(w.s.Apps(), func(s api.AppSummary) bool {
				if s.ID <= before || s.State != state {
					return false
				}
				return state != api.AppRunning || len(w.s.App(s.ID).Stages) > 0
			})
		})
		if over {
			t.Errorf("it ended before its application was %s: %s", state, task.LastWords())
			return
		}
		if pid := which(w, task); pid == 0 || syscall.Kill(pid, sig) != nil {
			t.Errorf("process %d gets no %v", pid, sig)
		}
	}
}

// The processes that are struck: the operator's child, and the task's own.
func child(w *site, task *realenv.Process) int  { return w.a.Child(task) }
func worker(_ *site, task *realenv.Process) int { return task.PID() }
