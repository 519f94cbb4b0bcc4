package airflow

import (
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestAirflow is how tasks end that Airflow's operator for Spark runs.
func TestAirflow(t *testing.T) {
	realenv.RequireAll(t)
	a := realenv.NewAirflow(t)
	counts := &account{}
	t.Run("nodes", func(t *testing.T) { onNodes(t, a.For(t), counts) })
	t.Run("queue", func(t *testing.T) { inTheQueue(t, a.For(t), counts) })
	t.Run("yarn", func(t *testing.T) { onYARN(t, a.For(t), counts) })
	fmt.Printf("airflow.cases %d\nairflow.orphans %d\nairflow.poisoned %d\n", counts.cases, counts.orphans, counts.poisoned)
}

// Settings of tasks: a deadline that a run keeps if it succeeds, one that none can keep, and drivers on the cluster. Without
// SPARK_HOME Spark is looked for in PATH.
var (
	due     = map[string]string{"spark.pacer.deadline": "10m"}
	hasty   = map[string]string{"spark.pacer.deadline": "1s", "spark.pacer.requireFeasible": "true"}
	cluster = map[string]any{"deploy-mode": "cluster"}
	noHome  = []string{"SPARK_HOME"}
)

// Parts of what exceptions say.
var (
	failed  = []string{"Error code is: 1.", "pacer: failed after "}
	killed9 = []string{"Error code is: -9."}
	refused = []string{"Error code is: 76.", "pacer: refused: "}
)

// own is the site of Pacer's own nodes.
func own(t *testing.T, a *realenv.Airflow, counts *account, args ...string) *site {
	t.Helper()
	s := realenv.New(t)
	s.UseArchives(daemon.NoArchives) // Nothing here is about how soon executors start.
	s.StartUp(args...)
	host, port, _ := strings.Cut(s.Address, ":")
	return &site{s: s, a: a, host: "sparkpacer://" + host, port: port, work: []string{filepath.Join(s.Dir, "state")}, runs: map[string]int{}, account: counts}
}

func onNodes(t *testing.T, a *realenv.Airflow, counts *account) {
	w := own(t, a, counts)
	// Spark's own spark-submit is behind the link in PATH, and nothing else says where it is.
	w.try(t, trial{name: "success", args: []any{"0"}, without: noHome, state: "success", app: api.AppFinished})
	w.try(t, trial{name: "failure", args: []any{"1"}, conf: due, state: "failed", app: api.AppFailed, says: failed})
	w.try(t, trial{name: "exception", args: []any{"raise"}, conf: due, state: "failed", app: api.AppFailed, says: append([]string{"ValueError: this application fails"}, failed...)})
	w.try(t, trial{name: "killed", args: []any{"stay"}, during: struck(api.AppRunning, child, syscall.SIGKILL), state: "failed", app: api.AppFailed, says: killed9})
	w.try(t, trial{name: "on_kill", args: []any{"stay"}, during: struck(api.AppRunning, worker, syscall.SIGTERM), state: "failed", app: api.AppFailed, says: killed9})
	w.try(t, trial{name: "worker-killed", args: []any{"stay"}, during: struck(api.AppRunning, worker, syscall.SIGKILL), app: api.AppFailed})
	w.try(t, trial{name: "retry", args: []any{"once", filepath.Join(t.TempDir(), "tried")}, operator: map[string]any{"retries": 1}, state: "success", tries: 2, app: api.AppFinished})
	w.try(t, trial{name: "infeasible", dag: "success", args: []any{"0"}, conf: hasty, state: "failed", app: api.AppRefused, says: refused})
	w.try(t, trial{name: "nothing-else-in-path", args: []any{"0"}, without: noHome, env: []string{"PATH=" + a.Links + ":/usr/bin:/bin"}, state: "failed", says: []string{"Error code is: 127.", "cannot find spark-submit"}})
	w.try(t, trial{name: "standalone", args: []any{"0"}, host: "spark://127.0.0.1", state: "failed", says: []string{"Error code is: 64.", "pacer submit runs on"}})

	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	day := time.Now().In(zone).AddDate(0, 0, 1)
	two := time.Date(day.Year(), day.Month(), day.Day(), 2, 0, 0, 0, zone)
	six := time.Date(day.Year(), day.Month(), day.Day(), 6, 0, 0, 0, zone)
	w.try(t, trial{name: "recipe", dag: "nightly", program: recipe(t), at: two, due: six, state: "success", app: api.AppFinished})

	w.try(t, trial{name: "cluster", args: []any{"0"}, extra: cluster, state: "success", app: api.AppFinished})
	w.try(t, trial{name: "cluster-failure", args: []any{"1"}, conf: due, extra: cluster, state: "failed", app: api.AppFailed, says: failed})
	w.try(t, trial{name: "cluster-killed", args: []any{"stay"}, extra: cluster, during: struck(api.AppRunning, child, syscall.SIGKILL), state: "failed", app: api.AppFailed, says: killed9})
	w.try(t, trial{name: "cluster-worker-killed", args: []any{"stay"}, extra: cluster, during: struck(api.AppRunning, worker, syscall.SIGKILL), app: api.AppFailed})
	w.try(t, trial{name: "cluster-infeasible", dag: "cluster", args: []any{"0"}, conf: hasty, extra: cluster, state: "failed", app: api.AppRefused, says: []string{"Error code is: 76."}})
	w.poisons(t)
}

// inTheQueue kills tasks whose applications wait for the memory that another one has.
func inTheQueue(t *testing.T, a *realenv.Airflow, counts *account) {
	w := own(t, a, counts, "--set", "node.memory=2560m") // A driver and an executor fit, two executors do not.
	w.work = nil                                         // In which the other one works, too.
	other := w.s.Submit("testdata/report.py", "stay")
	w.s.AwaitApp("the memory is taken", realenv.Patience, func(a api.AppDetail) bool { return a.State == api.AppRunning })
	w.try(t, trial{name: "waits", args: []any{"0"}, during: struck(api.AppQueued, worker, syscall.SIGKILL), app: api.AppFailed})
	w.try(t, trial{name: "cluster-waits", args: []any{"0"}, extra: cluster, during: struck(api.AppQueued, worker, syscall.SIGKILL), app: api.AppFailed})
	w.poisons(t)
	other.Stop()
}

func onYARN(t *testing.T, a *realenv.Airflow, counts *account) {
	y := realenv.NewYARN(t)
	s := realenv.New(t)
	s.On(y)
	s.StartPlanner()
	s.StartNode("--attach")
	conf := map[string]string{"spark.pacer.planner": s.Address, "spark.yarn.maxAppAttempts": "1",
		"spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "127.0.0.1", "spark.executor.instances": "2", "spark.executor.cores": "1"}
	maps.Copy(conf, realenv.Settings(y.Flags()))
	w := &site{s: s, a: a, host: "yarn", extra: map[string]any{"yarn_resourcemanager_webapp_address": webapp(t, y)}, conf: conf,
		work: []string{filepath.Join(y.Dir, "nm1", "local"), filepath.Join(y.Dir, "nm2", "local")}, runs: map[string]int{}, account: counts}
	durable := map[string]any{"yarn_track_via_rm_api": true}
	w.try(t, trial{name: "client", args: []any{"0"}, state: "success", app: api.AppFinished})
	w.try(t, trial{name: "failure", args: []any{"1"}, conf: due, state: "failed", app: api.AppFailed, says: failed})
	w.try(t, trial{name: "killed", args: []any{"stay"}, during: struck(api.AppRunning, child, syscall.SIGKILL), state: "failed", app: api.AppFailed, says: killed9})
	w.try(t, trial{name: "durable", args: []any{"0"}, extra: cluster, operator: durable, state: "success", app: api.AppFinished})
	w.try(t, trial{name: "durable-failure", args: []any{"1"}, extra: cluster, operator: durable, state: "failed", app: api.AppFailed, says: []string{"final status: FAILED"}})
	w.try(t, trial{name: "durable-on_kill", args: []any{"stay"}, extra: cluster, operator: durable, during: struck(api.AppRunning, worker, syscall.SIGTERM), state: "failed", app: api.AppFailed, says: []string{"KILLED"}})
	w.try(t, trial{name: "cluster", args: []any{"0"}, extra: cluster, operator: map[string]any{"durable": false}, state: "success", app: api.AppFinished})
	w.poisons(t)
}

// webapp is where a YARN's ResourceManager answers HTTP.
func webapp(t *testing.T, y *realenv.YARN) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(y.Dir, "conf", "yarn-site.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var conf struct {
		Properties []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"property"`
	}
	if err := xml.Unmarshal(text, &conf); err != nil {
		t.Fatal(err)
	}
	for _, p := range conf.Properties {
		if p.Name == "yarn.resourcemanager.webapp.address" {
			return "http://" + p.Value
		}
	}
	t.Fatal("its ResourceManager answers no HTTP")
	return ""
}

// recipe is the DAG of the guide, with a program that is there, as a file that Airflow runs.
func recipe(t *testing.T) string {
	t.Helper()
	page, err1 := os.ReadFile("../../../docs/guide/airflow.md")
	own, err2 := os.ReadFile(nightly)
	program, err3 := filepath.Abs("testdata/report.py")
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	_, block, found1 := strings.Cut(string(page), "```python\n")
	block, _, found2 := strings.Cut(block, "```\n")
	_, runs, found3 := strings.Cut(string(own), "if __name__")
	path := filepath.Join(t.TempDir(), "recipe.py")
	text := "import datetime\nimport os\n" + strings.Replace(block, "/jobs/report.py", program, 1) + "\nif __name__" + runs
	if !found1 || !found2 || !found3 || !strings.Contains(text, program) {
		t.Fatal("the guide has no DAG")
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
