package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/test/realenv"
)

// entranceAnswer is what entrance.py prints, and the shells when they ask for the same.
const entranceAnswer = "RESULT 0 499950000\nRESULT 1 499960000\nRESULT 2 499970000"

// TestEntrances comes to Pacer by Spark's own commands, as the README has it: one
// application each on one system, with all of Spark's settings as they come.
func TestEntrances(t *testing.T) {
	realenv.RequireAll(t)
	t.Parallel()
	// Another Spark home would have the node make another archive in mid-test.
	s := realenv.StartUp(t, "--set", "node.archives="+daemon.NoArchives)
	code, jar := s.Pacer("jar")
	if jar = strings.TrimSpace(jar); code != 0 {
		t.Fatalf("pacer jar: exit %d: %s", code, jar)
	}
	e := &entrance{s: s, master: "sparkpacer://" + s.Address, jar: jar}
	t.Run("spark-submit", e.submit)
	t.Run("pyspark", e.pyspark)
	t.Run("spark-shell", e.shell)
	t.Run("SparkSession.builder", e.builder)
	t.Run("installed jar", e.installed)
}

// entrance is the system that Spark's commands are pointed to.
type entrance struct {
	s           *realenv.System
	master, jar string
}

// small are settings for a machine of two cores, none of which Pacer needs.
var small = []string{"--driver-memory", "512m", "--conf", "spark.executor.memory=768m", "--conf", "spark.ui.enabled=false"}

// command is a line for sh with one of Spark's commands, as a user would type it.
func (e *entrance) command(t *testing.T, home, name string, args ...string) string {
	t.Helper()
	words := append([]string{filepath.Join(home, "bin", name), "--master", e.master}, small...)
	for _, word := range append(words, args...) {
		if strings.ContainsAny(word, " '\"") {
			t.Fatalf("%q has to be quoted", word)
		}
	}
	return "exec " + strings.Join(append(words, args...), " ")
}

// start runs a line in sh, with the JVM's options as they come.
func (e *entrance) start(t *testing.T, line string, env ...string) *realenv.Process {
	t.Helper()
	return realenv.Start(t, append(env, "SPARK_SUBMIT_OPTS=", "PACER_CREDENTIALS_DIR="+e.s.Credentials()), "/bin/sh", "-c", line)
}

// app awaits a state of the application of a name.
func (e *entrance) app(t *testing.T, name, what string, ok func(api.AppDetail) bool) (found api.AppDetail) {
	t.Helper()
	e.s.Await(name+" "+what, patience, func() bool {
		for _, a := range e.s.Apps() {
			if a.Name == name {
				found = e.s.App(a.ID)
				return ok(found)
			}
		}
		return false
	})
	return found
}

// recorded holds a run without a deadline to the answer and to a first run's record.
func (e *entrance) recorded(t *testing.T, run *realenv.Process, name string) {
	t.Helper()
	e.ran(t, run, name, "recording")
}

// endless holds a shell, which was given a deadline, to the answer and to a session without an end.
func (e *entrance) endless(t *testing.T, run *realenv.Process, name string) {
	t.Helper()
	e.ran(t, run, name, "unpaced")
	if n := strings.Count(run.Output(), "has no end: its deadline is set aside"); n != 1 {
		t.Errorf("%s hears %d times that its deadline is set aside:\n%s", name, n, run.Output())
	}
}

func (e *entrance) ran(t *testing.T, run *realenv.Process, name, pacing string) {
	t.Helper()
	wantAnswer(t, run, entranceAnswer)
	app := e.app(t, name, "to end", ended)
	if app.State != api.AppFinished {
		t.Errorf("%s: %s, notices %q", name, app.State, app.Notices)
	}
	if app.Pacing != pacing || len(app.Stages) < 2 || len(app.Executors) == 0 {
		t.Errorf("%s: pacing %s, %d stages, %d executors", name, app.Pacing, len(app.Stages), len(app.Executors))
	}
}

// submit is the story of a bare spark-submit: recorded, paced far below all cores, its
// deadline moved, and let go.
func (e *entrance) submit(t *testing.T) {
	realenv.Beside(t)
	home := realenv.SparkHome(t)
	args := []string{"--jars", e.jar, "--conf", "spark.pacer.profile=e2e-entrance", "testdata/entrance.py", "6"}
	e.recorded(t, e.start(t, e.command(t, home, "spark-submit", append([]string{"--name", "e2e-bare"}, args...)...)), "e2e-bare")

	run := e.start(t, e.command(t, home, "spark-submit", append([]string{"--name", "e2e-moved", "--conf", "spark.pacer.deadline=20m"}, args...)...))
	held := func(a api.AppDetail) bool {
		for _, stage := range a.Stages {
			if n := len(stage.Samples); n > 0 && stage.Samples[n-1].Grant > 0 {
				return true
			}
		}
		return false
	}
	app := e.app(t, "e2e-moved", "to be held back", held)
	if app.Pacing != "paced" || app.Deadline != 20*60 {
		t.Errorf("pacing %s, deadline %v", app.Pacing, app.Deadline)
	}
	if code, out := e.s.Pacer("deadline", string(app.ID), "+10m"); code != 0 {
		t.Errorf("pacer deadline: exit %d: %s", code, out)
	}
	if app = e.s.App(app.ID); app.Deadline != 30*60 || app.Pacing != "paced" {
		t.Errorf("after pacer deadline: deadline %v, pacing %s", app.Deadline, app.Pacing)
	}
	if code, out := e.s.Pacer("release", string(app.ID)); code != 0 {
		t.Errorf("pacer release: exit %d: %s", code, out)
	}
	wantAnswer(t, run, entranceAnswer) // Held to its deadline it would outlast patience.
	app = e.app(t, "e2e-moved", "to end", ended)
	if app.State != api.AppFinished || app.Pacing != "released" {
		t.Errorf("after pacer release: %s, pacing %s, took %v of %v", app.State, app.Pacing, app.Duration, app.Deadline)
	}
}

// typed makes a file of what is typed into a shell.
func typed(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "typed")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (e *entrance) pyspark(t *testing.T) {
	realenv.Beside(t)
	in := typed(t, `rows = spark.range(0, 100000, 1, 8).selectExpr("pmod(id, 10) k", "id v").groupBy("k").sum("v").orderBy("k").limit(3).collect()
print("\n".join(f"RESULT {r[0]} {r[1]}" for r in rows))
exit()
`)
	// Python takes PySpark's start-up file when it is interactive, as at a terminal.
	run := e.start(t, e.command(t, realenv.SparkHome(t), "pyspark", "--name", "e2e-pyspark", "--conf", "spark.pacer.deadline=20m", "--jars", e.jar)+" <"+in, "PYSPARK_DRIVER_PYTHON_OPTS=-i")
	e.endless(t, run, "e2e-pyspark")
}

func (e *entrance) shell(t *testing.T) {
	realenv.Beside(t)
	in := typed(t, `val rows = spark.range(0, 100000, 1, 8).selectExpr("pmod(id, 10) k", "id v").groupBy("k").sum("v").orderBy("k").limit(3).collect()
println(rows.map(r => "\nRESULT " + r(0) + " " + r(1)).mkString)
:quit
`)
	run := e.start(t, e.command(t, realenv.SparkHome(t), "spark-shell", "--name", "e2e-shell", "--conf", "spark.pacer.deadline=20m", "--jars", e.jar)+" <"+in, "TERM=dumb")
	e.endless(t, run, "e2e-shell")
}

func (e *entrance) builder(t *testing.T) {
	realenv.Beside(t)
	e.recorded(t, e.start(t, "exec python3 testdata/entrance.py 0 "+e.master+" "+e.jar), "e2e-builder")
}

// installed has the jar in a Spark home of its own, made of links to the environment's.
func (e *entrance) installed(t *testing.T) {
	realenv.Beside(t)
	home := filepath.Join(t.TempDir(), "spark")
	link(t, realenv.SparkHome(t), home, "jars")
	link(t, filepath.Join(realenv.SparkHome(t), "jars"), filepath.Join(home, "jars"), "")
	if code, out := e.s.Pacer("jar", "install", home); code != 0 {
		t.Fatalf("pacer jar install: exit %d: %s", code, out)
	}
	line := e.command(t, home, "spark-submit", "--name", "e2e-installed", "testdata/entrance.py")
	e.recorded(t, e.start(t, line, "SPARK_HOME="+home), "e2e-installed")
}

// link makes dir with links to what is in from, but for one name.
func link(t *testing.T, from, dir, but string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range entries {
		if x.Name() == but {
			continue
		}
		if err := os.Symlink(filepath.Join(from, x.Name()), filepath.Join(dir, x.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// ended reports whether an application's state is its last one.
func ended(a api.AppDetail) bool { return a.State != api.AppRunning && a.State != api.AppEnding }
