package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestGroupsOfANotebook runs a group three times in a session without an end: the first run teaches, the others are held
// back to their deadline, and each is a run of the history. A text that is no deadline is told, and the work goes on.
func TestGroupsOfANotebook(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	s := realenv.StartUp(t, "--set", "node.archives="+daemon.NoArchives)
	jar := jarOf(t, s)
	tries := 0
	realenv.Repeat(t, func() error {
		// With the profile of an earlier try the first run would be held back, and the others' deadlines come of what it takes.
		tries++
		group := fmt.Sprintf("e2e-group-%d", tries)
		run := realenv.Start(t, []string{"SPARK_SUBMIT_OPTS=", "JPY_PARENT_PID=1", "PACER_CREDENTIALS_DIR=" + s.Credentials()},
			"/bin/sh", "-c", "exec python3 testdata/kernel_groups.py sparkpacer://"+s.Address+" "+jar+" "+group)
		return keptGroups(t, s, run, group)
	})
	app := sessionEnd(s, "e2e-notebook")
	if app.Pacing != "unpaced" || app.Deadline != 0 {
		t.Errorf("the session is %s with a deadline of %v", app.Pacing, app.Deadline)
	}
	if code, out := s.Pacer("profiles", "show", "e2e-notebook"); code == 0 {
		t.Errorf("the session has a profile: %s", out)
	}
}

// sessionEnd waits for the newest session of that name to end: its groups are newer than it is.
func sessionEnd(s *realenv.System, name string) (app api.AppDetail) {
	s.Await("the session to end", patience, func() bool {
		for _, a := range s.Apps() {
			if a.Name == name {
				app = s.App(a.ID)
				return ended(app)
			}
		}
		return false
	})
	return app
}

// keptGroups waits for a run of kernel_groups.py, and returns how its groups were not held to their deadlines.
func keptGroups(t *testing.T, s *realenv.System, run *realenv.Process, group string) error {
	t.Helper()
	if code := run.Wait(patience); code != 0 {
		t.Fatalf("exit %d:\n%s", code, run.Output())
	}
	answers, want := strings.Count(run.Answer(), "RESULT"), 4
	if answers != want || !strings.Contains(run.Output(), "the deadline of group '"+group+"' is set aside: spark.pacer.group.deadline is 'soon', want a time such as") {
		t.Errorf("%d answers, want %d; it hears:\n%s", answers, want, run.Output())
	}
	runs := named(s, group)
	if len(runs) != 3 {
		t.Fatalf("%d runs of the group are history, want 3:\n%s", len(runs), run.Output())
	}
	var early []float64
	for i, r := range runs {
		if r.State != api.AppFinished || r.Profile != group || r.ErrorPct == nil {
			t.Fatalf("run %d: %+v", i+1, r)
		}
		if i == 0 {
			continue
		}
		early = append(early, *r.ErrorPct)
		if r.QuotaChanges == 0 {
			t.Errorf("run %d: no quota was ever written", i+1)
		}
		if *r.ErrorPct < 0 || *r.ErrorPct > 8 {
			fmt.Printf("group.exit_error_pct %.2f\n", *r.ErrorPct)
			return realenv.Timing("run %d ends %.2f %% before its deadline of %v, want 0 to 8 %%", i+1, *r.ErrorPct, r.Deadline)
		}
	}
	fmt.Printf("group.exit_error_pct %.2f\n", slices.Max(early))
	return nil
}

// pythonWith is the environment of a Python with the packages of a list of scripts/requirements.
func pythonWith(t *testing.T, s *realenv.System, list string) []string {
	t.Helper()
	out, err := exec.Command("../../scripts/pylib.sh", list).Output()
	if err != nil {
		t.Fatalf("install %s: %v", list, err)
	}
	return []string{"PYTHONPATH=" + strings.TrimSpace(string(out)), "SPARK_SUBMIT_OPTS=", "PACER_CREDENTIALS_DIR=" + s.Credentials()}
}

// jarOf is the jar of a system's release.
func jarOf(t *testing.T, s *realenv.System) string {
	t.Helper()
	code, jar := s.Pacer("jar")
	if jar = strings.TrimSpace(jar); code != 0 {
		t.Fatalf("pacer jar: exit %d: %s", code, jar)
	}
	return jar
}

// named are the runs of that name that are history, the first one first.
func named(s *realenv.System, name string) (runs []api.AppSummary) {
	for _, a := range s.Apps() {
		if a.Name == name && a.State != api.AppRunning {
			runs = append(runs, a)
		}
	}
	slices.Reverse(runs) // The newest stands first.
	return runs
}

// twice holds two runs of a group to a first one that teaches and one that is paced.
func twice(t *testing.T, runs []api.AppSummary, out string) {
	t.Helper()
	if len(runs) != 2 {
		t.Fatalf("%d runs of the group are history, want 2:\n%s", len(runs), out)
	}
	for i, want := range []string{"recording", "paced"} {
		if r := runs[i]; r.State != api.AppFinished || r.Pacing != want || r.ErrorPct == nil || *r.ErrorPct < 0 {
			t.Errorf("run %d is to be %s: %+v", i+1, want, r)
		}
	}
}

// TestAKernelOfJupyter runs cells by Jupyter's own client in IPython's kernel.
func TestAKernelOfJupyter(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	s := realenv.StartUp(t, "--set", "node.archives="+daemon.NoArchives)
	run := realenv.Start(t, pythonWith(t, s, "jupyter"), "/bin/sh", "-c", "exec python3 testdata/kernel_client.py sparkpacer://"+s.Address+" "+jarOf(t, s))
	if code := run.Wait(patience); code != 0 || strings.Count(run.Answer(), "RESULT 10") != 2 {
		t.Fatalf("exit %d:\n%s\n%s", code, run.Answer(), run.Output())
	}
	app := sessionEnd(s, "e2e-jupyter")
	if app.Pacing != "unpaced" {
		t.Errorf("the kernel's application is %s", app.Pacing)
	}
	twice(t, named(s, "e2e-cell"), run.Output())
}

// TestASessionOfDbt runs the models of a project by dbt's session method: a deadline for all of them stands in
// on-run-start.
func TestASessionOfDbt(t *testing.T) {
	realenv.RequireAll(t)
	realenv.Beside(t)
	s := realenv.StartUp(t, "--set", "node.archives="+daemon.NoArchives)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"dbt_project.yml": `name: marts
version: "1.0"
profile: marts
models: {marts: {+materialized: table, +file_format: parquet}}
on-run-start: ["SET spark.pacer.group.name=e2e-dbt", "SET spark.pacer.group.deadline=10m"]
`,
		"profiles.yml": fmt.Sprintf(`marts:
  target: local
  outputs:
    local:
      type: spark
      method: session
      host: none
      schema: default
      threads: 1
      server_side_parameters:
        spark.app.name: e2e-dbt-session
        spark.master: sparkpacer://%s
        spark.jars: %s
        spark.executor.memory: 768m
        spark.driver.memory: 512m
        spark.ui.enabled: "false"
        spark.sql.warehouse.dir: %s/warehouse
        spark.sql.catalogImplementation: in-memory
`, s.Address, jarOf(t, s), dir),
		"models/orders.sql": "select id, pmod(id, 7) as customer, id % 100 as price from range(0, 1000000, 1, 8)",
		"models/sums.sql":   "select customer, sum(price) as price from {{ ref('orders') }} group by customer",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	env := append(pythonWith(t, s, "dbt"), "DBT_SEND_ANONYMOUS_USAGE_STATS=false")
	out := ""
	for range 2 {
		run := realenv.Start(t, env, "/bin/sh", "-c", "cd "+dir+" && exec python3 -m dbt.cli.main run --profiles-dir .")
		if code := run.Wait(patience); code != 0 {
			t.Fatalf("exit %d:\n%s\n%s", code, run.Answer(), run.Output())
		}
		out += run.Answer() + run.Output()
		sessionEnd(s, "e2e-dbt-session")
		if err := os.RemoveAll(filepath.Join(dir, "warehouse")); err != nil { // The catalogue in memory has gone, too.
			t.Fatal(err)
		}
	}
	twice(t, named(s, "e2e-dbt"), out)
}
