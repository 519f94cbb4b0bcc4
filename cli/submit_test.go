package cli

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/config"
	pacerspark "github.com/sparkpacer/pacer/spark"
)

// confOf returns the settings among spark-submit's arguments.
func confOf(args []string) map[string]string {
	conf := map[string]string{}
	for i, a := range args {
		if a == "--conf" {
			key, value, _ := strings.Cut(args[i+1], "=")
			conf[key] = value
		}
	}
	return conf
}

func TestSubmitAddsMasterJarAndSettingsInFrontAndKeepsTheRest(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	w.fakeSpark(t, "exit 0")
	o := w.run(t, "submit", "--pacer-deadline", "90s", "--pacer-planner", f.address, "--name", "x", "--executor-memory=1g", "app.py", "a", "--b")
	if o.code != 0 || strings.Count(o.err, "\n") != 1 { // That nothing has registered.
		t.Fatalf("exit code %d: %s", o.code, o.err)
	}
	args := o.arguments()
	tail := []string{"--name", "x", "--executor-memory=1g", "app.py", "a", "--b"}
	if d := cmp.Diff(tail, args[len(args)-len(tail):]); d != "" {
		t.Error(d)
	}
	front := args[:len(args)-len(tail)]
	if i := slices.Index(front, "--master"); i < 0 || front[i+1] != "sparkpacer://"+f.address {
		t.Errorf("no master in %v", front)
	}
	jar := filepath.Join(w.env["XDG_CACHE_HOME"], "pacer", pacerspark.Name())
	if i := slices.Index(front, "--jars"); i < 0 || front[i+1] != jar {
		t.Errorf("no --jars %s in %v", jar, front)
	}
	if body, err := os.ReadFile(jar); err != nil || !bytes.Equal(body, pacerspark.Jar) {
		t.Errorf("the jar is not there: %v", err)
	}
	conf := confOf(front)
	for key, want := range map[string]string{confDeadline: "90s", confDriverHost: "127.0.0.1", confDriverBind: "127.0.0.1",
		confSubmitted: strconv.FormatInt(w.now.UnixMilli(), 10)} {
		if conf[key] != want {
			t.Errorf("%s is %q, want %q", key, conf[key], want)
		}
	}
	if len(conf[confSubmission]) != 36 || conf[confRequire] != "" || conf[confProfile] != "" {
		t.Errorf("settings %v", conf)
	}
}

func TestABinaryWithoutTheJarSaysSo(t *testing.T) {
	jar := pacerspark.Jar
	pacerspark.Jar = nil
	t.Cleanup(func() { pacerspark.Jar = jar })
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	w.fakeSpark(t, "exit 0")
	for _, args := range [][]string{
		{"jar"}, {"jar", "install", t.TempDir()}, {"submit", "--pacer-planner", f.address, "app.py"},
	} {
		w.run(t, args...).wantLine(t, command.ExitFailure, "built without pacer-spark.jar: run make build")
	}
}

func TestSubmitRespectsWhatTheUserSet(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	home := w.fakeSpark(t, "exit 0")
	defaults := "# mine\nspark.jars  /d/default.jar\nspark.driver.host=10.0.0.1\nspark.master: yarn\n"
	if err := os.WriteFile(filepath.Join(home, "conf", "spark-defaults.conf"), []byte(defaults), 0o644); err != nil {
		t.Fatal(err)
	}
	o := w.run(t, "submit", "--master", "sparkpacer://"+f.address, "--conf", "spark.pacer.deadline=2m", "--conf", "spark.pacer.submission=mine", "app.py")
	if o.code != 0 {
		t.Fatalf("exit code %d: %s", o.code, o.err)
	}
	args := o.arguments()
	if n := strings.Count(strings.Join(args, " "), "--master"); n != 1 {
		t.Errorf("%d masters in %v", n, args)
	}
	conf := confOf(args)
	if conf[confDeadline] != "2m" || conf[confSubmission] != "mine" || conf[confDriverHost] != "" || conf[confDriverBind] != "" {
		t.Errorf("settings %v", conf)
	}
	// --jars would hide spark.jars of the file, so they are merged.
	if i := slices.Index(args, "--jars"); i < 0 || !strings.HasPrefix(args[i+1], "/d/default.jar,") {
		t.Errorf("jars of the file are lost: %v", args)
	}
	o = w.run(t, "submit", "--pacer-planner", f.address, "--jars", "a.jar,b.jar", "app.py")
	args = o.arguments()
	if i := slices.Index(args, "--jars"); i < 0 || !strings.HasPrefix(args[i+1], "a.jar,b.jar,/") || strings.Count(strings.Join(args, " "), "--jars") != 1 {
		t.Errorf("the user's --jars are not merged: %v", args)
	}
}

func TestPropertiesAreReadAsSparkReadsThem(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"# c\n! d\n\n a.b  c d \t\n":               {"a.b": "c d"},
		"a=1\na: 2\nb = 3\nc\n":                    {"a": "2", "b": "3", "c": ""},
		"spark.jars a.jar,\\\n    b.jar\nx y":      {"spark.jars": "a.jar,b.jar", "x": "y"},
		"spark.master spark\\://h\\:7\r\nx c\\\\d": {"spark.master": "spark://h:7", "x": `c\d`},
		"a ${HOME} \\u00e9é\nb ${a":                {"a": "${HOME} éé", "b": "${a"},
		"a.\\\\b \\  c\\t":                         {`a.\b`: "c"},
	} {
		path, got := filepath.Join(t.TempDir(), "spark-defaults.conf"), map[string]string{}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := readProperties(path, got); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

// The files of --extra-properties-file, in their order, come before the others, and hide none of them.
func TestExtraPropertiesComeFirst(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	home, dir := w.fakeSpark(t, "exit 0"), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(home, "conf", "spark-defaults.conf"): "spark.jars default.jar\nspark.pacer.mode observe\nspark.app.name default\n",
		filepath.Join(dir, "own"):                          "spark.jars own.jar\nspark.app.name own\n",
		filepath.Join(dir, "one"):                          "spark.jars one.jar\nspark.submit.deployMode client\n",
		filepath.Join(dir, "two"):                          "spark.jars two.jar\n",
		filepath.Join(dir, "cluster"):                      "spark.submit.deployMode cluster\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range []struct {
		args string
		jars string
	}{
		{"--extra-properties-file one", "one.jar,"},
		{"--extra-properties-file one --extra-properties-file=two --properties-file own", "two.jar,"},
		{"--extra-properties-file two --extra-properties-file one", "one.jar,"},
		{"--extra-properties-file cluster --extra-properties-file one --properties-file own --load-spark-defaults", "one.jar,"},
	} {
		o := w.run(t, append(append([]string{"submit", "--pacer-planner", f.address}, strings.Fields(c.args)...), "app.py")...)
		args := o.arguments()
		if i := slices.Index(args, "--jars"); o.code != 0 || i < 0 || !strings.HasPrefix(args[i+1], c.jars) {
			t.Errorf("%s: exit code %d, arguments %v; %s", c.args, o.code, args, o.err)
		}
	}
	o := w.run(t, "submit", "--pacer-planner", f.address, "--extra-properties-file", "one", "--extra-properties-file", "cluster", "app.py")
	o.wantLine(t, command.ExitNoInput, "--jars: stat one.jar") // Cluster mode: files go up.
}

// What runs, for an application that has no name of its own, and a deadline that is a moment, in the
// time zone of who has given it.
func TestSubmitTellsTheProgramAndTheMoment(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	home := w.fakeSpark(t, "exit 0")
	if err := os.WriteFile(filepath.Join(home, "conf", "spark-defaults.conf"), []byte("spark.pacer.deadline 1h\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", "/tmp")
	t.Chdir("/usr/share")
	w.env[boundEnv] = "1" // It has the clock of this test.
	w.env["AIRFLOW_CTX_DAG_ID"], w.env["AIRFLOW_CTX_TASK_ID"] = "nightly", "report"
	zone, err := time.LoadLocation("Europe/Rome")
	if err != nil {
		t.Fatal(err)
	}
	w.now = w.now.In(zone) // 06:06:07.
	for line, want := range map[string]string{
		"jobs/tiny.py":                      "/usr/share/jobs/tiny.py",
		"/jobs/tiny.py x":                   "/jobs/tiny.py",
		"file:/jobs/tiny.py":                "/jobs/tiny.py",
		"s3a://jobs/tiny.py":                "s3a://jobs/tiny.py",
		"/tmp/airflowtmp1x/tiny.py":         "tiny.py",
		"--class org.example.Main main.jar": "org.example.Main",
		"--class a.SparkSQLCLIDriver spark-internal -f q.sql":  "/usr/share/q.sql",
		"--class a.SparkSQLCLIDriver spark-internal -e SELECT": "",
		"--conf spark.pacer.program=mine tiny.py":              "mine",
		"pyspark-shell":                              "",
		"--name arrow-spark tiny.py":                 "nightly.report",
		"--conf spark.app.name=default-name tiny.py": "nightly.report",
		"--name mine tiny.py":                        "/usr/share/tiny.py",
	} {
		o := w.run(t, append([]string{"submit", "--pacer-planner", f.address, "--pacer-by", "2026-03-29T06:00"}, strings.Fields(line)...)...)
		conf := confOf(o.arguments())
		if o.code != 0 || conf[confProgram] != want {
			t.Errorf("%s: exit code %d, %q, want %q; %s", line, o.code, conf[confProgram], want, o.err)
		}
		if deadline, given := conf[confDeadline]; conf[confBy] != "2026-03-29T06:00:00+02:00" || !given || deadline != "" {
			t.Errorf("%s: by %q, deadline %q", line, conf[confBy], deadline)
		}
	}
	w.run(t, "submit", "--pacer-planner", f.address, "--pacer-by", "06:00", "--conf", "spark.pacer.deadline=5m", "app.py").wantLine(t, command.ExitUsage, "exclude")
}

func TestSubmitNeedsNoJarsOptionWhenTheJarIsInstalled(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	home := w.fakeSpark(t, "exit 0")
	o := w.run(t, "jar", "install", home)
	if want := filepath.Join(home, "jars", installedJar); o.code != 0 || strings.TrimSpace(o.out) != want {
		t.Fatalf("jar install: exit code %d, %q, %s", o.code, o.out, o.err)
	}
	o = w.run(t, "submit", "--pacer-planner", f.address, "app.py")
	if o.code != 0 || slices.Contains(o.arguments(), "--jars") {
		t.Errorf("exit code %d, arguments %v", o.code, o.arguments())
	}
	if err := os.WriteFile(filepath.Join(home, "jars", installedJar), []byte("older"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.run(t, "submit", "--pacer-planner", f.address, "app.py").wantLine(t, command.ExitUsage, "another version")
	w.run(t, "jar", "install", t.TempDir()).wantLine(t, command.ExitUsage, "no Spark distribution")
}

func TestSubmitRefusesBeforeAnythingStarts(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	w.fakeSpark(t, "exit 0")
	for line, want := range map[string]string{
		"--pacer-deadline soon app.py":                                            `"soon"`,
		"--pacer-deadline 0s app.py":                                              "not after the start",
		"--pacer-deadline -5m app.py":                                             "-5m",
		"--pacer-by 25:00 app.py":                                                 "25:00",
		"--pacer-by 06:00 --pacer-deadline 5m app.py":                             "exclude",
		"--conf spark.pacer.deadline=whenever app.py":                             "whenever",
		"--pacer-deadline 5m --conf spark.pacer.deadline=6m app.py":               "differ",
		"--pacer-dedline 5m app.py":                                               "--pacer-dedline",
		"--pacer-mode watch app.py":                                               "[control observe off]",
		"--pacer-mode off --conf spark.pacer.mode=observe app.py":                 "differ",
		"--master yarn --conf spark.pacer.planner=a:1 --pacer-planner b:2 app.py": "differ",
		"--master local[2] app.py":                                                "local[2]",
		"--conf spark.master=spark://x app.py":                                    "spark://x",
		"--deploy-mode cluster .":                                                 "the application: . is no file",
		"--conf spark.submit.deployMode=cluster .":                                "the application: . is no file",
		"--deploy-mode nowhere app.py":                                            "deploy mode nowhere",
		"--remote sc://x app.py":                                                  "Connect",
		"--master sparkpacer://a:1 --pacer-planner b:2 app.py":                    "differ",
		"--pacer-planner nonsense app.py":                                         "host:port",
	} {
		o := w.run(t, append([]string{"submit", "--pacer-profile", "p"}, strings.Fields(line)...)...)
		o.wantLine(t, command.ExitUsage, want)
		if o.out != "" {
			t.Errorf("%s: spark-submit was started", line)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.verbs) != 0 {
		t.Errorf("the planner was asked %v", f.verbs)
	}
}

// A chain that is behind still runs its last jobs.
func TestAMomentThatIsPastIsLate(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	w.fakeSpark(t, "exit 0")
	for _, line := range []string{"--pacer-by 2020-01-01T06:00", "--conf spark.pacer.by=2020-01-01T06:00"} {
		args := strings.Fields("submit --pacer-planner " + f.address + " " + line)
		o := w.run(t, append(args, "app.py")...)
		if by := confOf(o.arguments())[confBy]; o.code != 0 || !strings.HasPrefix(by, "2020-01-01T06:00") ||
			!strings.Contains(o.err, "2020-01-01T06:00 is past: the application is late and runs at all cores") {
			t.Errorf("%s: exit code %d, by %q, said %q", line, o.code, by, o.err)
		}
		w.run(t, append(args, "--pacer-require-feasible", "app.py")...).wantLine(t, command.ExitInfeasible, "past")
	}
}

// A file of another cluster manager's submissions has the deploy mode that goes with its master.
func TestTheModeOfAFilesMasterGoesWithIt(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	path := filepath.Join(w.fakeSpark(t, "exit 0"), "conf", "spark-defaults.conf")
	const gone = "the application: stat app.py"
	for _, c := range []struct{ file, args, refused string }{
		{"spark.master yarn\nspark.submit.deployMode cluster\n", "", ""},
		{"spark.submit.deployMode cluster\n", "", gone},
		{"spark.master yarn\nspark.submit.deployMode cluster\n", "--deploy-mode client", ""},
		{"spark.master yarn\n", "--deploy-mode cluster", gone},
		{"spark.master yarn\n", "--conf spark.submit.deployMode=cluster", gone},
		{"spark.master sparkpacer://" + f.address + "\nspark.submit.deployMode cluster\n", "", gone},
		{"spark.pacer.deadline whenever\n", "", path + ": spark.pacer.deadline"},
		{"spark.pacer.deadline whenever\n", "--pacer-deadline 5m", ""},
		{"spark.pacer.by 25:00\n", "", path + ": spark.pacer.by"},
		{"spark.pacer.mode watch\n", "", path + ": spark.pacer.mode"},
		{"spark.pacer.class gold\n", "", path + ": spark.pacer.class"},
		{"spark.pacer.output copied\n", "", path + ": spark.pacer.output"},
		{"", "--conf spark.pacer.output=copied", "--conf spark.pacer.output"},
		{"spark.pacer.output copied\n", "--conf spark.pacer.output=Direct", ""},
	} {
		if err := os.WriteFile(path, []byte(c.file), 0o644); err != nil {
			t.Fatal(err)
		}
		o := w.run(t, append(strings.Fields("submit --pacer-planner "+f.address+" "+c.args), "app.py")...)
		if c.refused != "" {
			code := command.ExitUsage
			if c.refused == gone {
				code = command.ExitNoInput
			}
			o.wantLine(t, code, c.refused)
			continue
		}
		mode := confOf(o.arguments())[confDeployMode]
		aside := strings.Contains(c.file, "cluster") && c.args == ""
		if o.code != 0 || aside != (mode == "client") || aside != strings.Contains(o.err, path+" are set aside") {
			t.Errorf("%q, %q: exit code %d, mode %q, said %q", c.file, c.args, o.code, mode, o.err)
		}
	}
}

func TestSubmitRefusesAnotherSparkByName(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	home := w.fakeSpark(t, "exit 0")
	for jar, refused := range map[string]string{"spark-core_2.12-3.5.1.jar": "Spark 3.5.1 is not supported", "spark-core_2.13-4.4.0.jar": "Spark 4.4.0",
		"spark-core_2.13-5.0.0.jar": "Spark 5.0.0", "spark-core_2.13-4.0.5.jar": ""} {
		path := filepath.Join(home, "jars", jar)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		o := w.run(t, "submit", "--pacer-planner", f.address, "app.py")
		if refused != "" {
			o.wantLine(t, command.ExitUsage, refused)
		} else if o.code != 0 {
			t.Errorf("%s: exit code %d: %s", jar, o.code, o.err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSubmitSaysInOneLineThatNoPlannerAnswers(t *testing.T) {
	w := newWorld(t)
	w.fakeSpark(t, "exit 0")
	o := w.run(t, "submit", "--pacer-planner", "127.0.0.1:1", "app.py")
	o.wantLine(t, command.ExitUnavailable, "127.0.0.1:1")
	if o.out != "" {
		t.Error("spark-submit was started")
	}
}

// A standby takes over from a planner that was killed: an application that comes in between starts.
func TestSubmitWaitsForAPlannerThatTakesOver(t *testing.T) {
	f := startPlanner(t, &fakePlanner{away: 2})
	w := newWorld(t)
	w.fakeSpark(t, "echo started")
	o := w.run(t, "submit", "--pacer-planner", f.address, "app.py")
	if said := strings.Count(o.err, "no planner answers at "+f.address+": nobody serves; waiting up to 10s"); o.code != 0 || strings.Count(o.out, "started") != 1 || said != 1 {
		t.Errorf("exit code %d, output %q, said %d times: %s", o.code, o.out, said, o.err)
	}
}

func TestSubmitKeepsTheExitCodeAndTheStreams(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	for script, want := range map[string]int{"exit 0": 0, "exit 1": 1, "exit 101": 101, "kill -TERM $$": 128 + int(syscall.SIGTERM)} {
		w.fakeSpark(t, "echo to stderr >&2; cat; "+script)
		o := w.runWith(t, context.Background(), "typed", "submit", "--pacer-planner", f.address, "app.py")
		if o.code != want || !strings.HasSuffix(o.out, "typed") || o.err != "to stderr\n" {
			t.Errorf("%s: exit code %d, want %d; output %q, %q", script, o.code, want, o.out, o.err)
		}
	}
}

func TestSubmitPassesSignalsOn(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	// Opening the pipe blocks until spark-submit has set its trap.
	ready := filepath.Join(t.TempDir(), "ready")
	if err := syscall.Mkfifo(ready, 0o600); err != nil {
		t.Fatal(err)
	}
	w.fakeSpark(t, `trap 'exit 7' TERM; : >`+ready+`; while :; do sleep 0.05; done`)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		if pipe, err := os.Open(ready); err == nil {
			_ = pipe.Close()
		}
		cancel()
	}()
	if o := w.runWith(t, ctx, "", "submit", "--pacer-planner", f.address, "app.py"); o.code != 7 {
		t.Errorf("exit code %d, want that of spark-submit's own handler", o.code)
	}
}

func TestSubmitTellsARefusalByItsExitCode(t *testing.T) {
	w := newWorld(t)
	refused := api.AppDetail{AppSummary: api.AppSummary{ID: "app-1", State: api.AppRefused, Submission: "s-1", Headline: "refused: it cannot be"}}
	late := api.AppDetail{AppSummary: api.AppSummary{ID: "app-3", State: api.AppRefused, Submission: "s-3", Verdict: api.VerdictInfeasible, Headline: "refused: it cannot be"}}
	finished := api.AppDetail{AppSummary: api.AppSummary{ID: "app-2", State: api.AppFinished, Submission: "s-2"}}
	f := startPlanner(t, &fakePlanner{apps: []api.AppDetail{refused, finished, late}})
	w.fakeSpark(t, "echo a long trace >&2; exit 1")
	for _, c := range []struct {
		submission string
		flags      []string
		want       int
	}{
		{"s-1", []string{"--pacer-require-feasible"}, command.ExitInfeasible},
		{"s-1", []string{"--conf", "spark.pacer.requireFeasible=true"}, command.ExitInfeasible},
		{"s-2", []string{"--pacer-require-feasible"}, 1},
		{"unknown", []string{"--pacer-require-feasible"}, 1},
		{"s-1", nil, 1},
		{"s-3", nil, command.ExitInfeasible},
	} {
		args := append([]string{"submit", "--pacer-planner", f.address, "--conf", "spark.pacer.submission=" + c.submission}, c.flags...)
		says := "a long trace\n"
		if strings.HasPrefix(c.submission, "s-") && c.submission != "s-2" {
			says += "pacer: refused: it cannot be\n" // Callers may have the last lines alone.
		}
		if o := w.run(t, append(args, "app.py")...); o.code != c.want || o.err != says {
			t.Errorf("%s %v: exit code %d, want %d; %q", c.submission, c.flags, o.code, c.want, o.err)
		}
	}
}

func TestSubmitTellsThePlannerOfEveryExit(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{apps: []api.AppDetail{{AppSummary: api.AppSummary{ID: "app-1", State: api.AppFinished, Submission: "s-1"}}}})
	for _, c := range []struct {
		script string
		want   int
	}{{"exit 0", 0}, {"exit 3", 3}, {"kill -KILL $$", command.ExitSignal + int(syscall.SIGKILL)}} {
		script, want := c.script, c.want
		f.mu.Lock()
		f.verbs, f.asked = nil, nil
		f.mu.Unlock()
		w.fakeSpark(t, script)
		for _, submission := range []string{"s-1", "unknown"} {
			o := w.run(t, "submit", "--pacer-planner", f.address, "--conf", "spark.pacer.submission="+submission, "app.py")
			if o.code != want || o.err != "" {
				t.Errorf("%s: exit code %d, want %d; %q", script, o.code, want, o.err)
			}
			if r := f.last(t, api.VerbExit); r.Submission != submission || r.ExitCode != want || r.Elapsed <= 0 {
				t.Errorf("%s: reported %+v", script, r)
			}
		}
	}
	if o := w.run(t, "--planner", f.address, "apps"); o.code != 0 || !strings.Contains(o.out, "finished (") {
		t.Errorf("apps: %s%s", o.out, o.err)
	}
}

func TestAReportToAPlannerThatIsGone(t *testing.T) {
	r := api.ControlRequest{Submission: "s-1", ExitCode: 5}
	if end, unknown := reportExit(config.Client{Planner: "127.0.0.1:1", Timeout: time.Second}, r); len(end.Apps) > 0 || unknown {
		t.Errorf("%+v, unknown %v", end.Apps, unknown)
	}
}

func TestSubmitPassesQueriesThroughWithoutAPlanner(t *testing.T) {
	w := newWorld(t)
	w.fakeSpark(t, "exit 3")
	o := w.run(t, "submit", "--status", "driver-1", "--master", "spark://h:6066")
	if d := cmp.Diff([]string{"--status", "driver-1", "--master", "spark://h:6066"}, o.arguments()); d != "" || o.code != 3 {
		t.Errorf("exit code %d: %s", o.code, d)
	}
	if o := w.run(t, "submit", "--help"); o.code != 0 || !strings.Contains(o.out, "--pacer-deadline") {
		t.Errorf("help: exit code %d, %q", o.code, o.out)
	}
	w.run(t, "submit").wantLine(t, command.ExitUsage, "needs an application")
}

func TestSubmitWarnsOfItsFlagsAfterTheApplication(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	w.fakeSpark(t, "exit 0")
	o := w.run(t, "submit", "--pacer-planner", f.address, "app.py", "--pacer-deadline", "90s")
	o.wantLine(t, 0, "after the application")
	if args := o.arguments(); !slices.Equal(args[len(args)-3:], []string{"app.py", "--pacer-deadline", "90s"}) {
		t.Errorf("the application's arguments are %v", args)
	}
}

func TestTheNextSuchTimeIsLocal(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("this machine has no time zones:", err)
	}
	for _, c := range []struct {
		now, by string
		want    time.Duration
	}{
		{"2026-06-10 05:00:00", "06:00", time.Hour},
		{"2026-06-10 06:00:00", "06:00", 24 * time.Hour},
		{"2026-06-10 06:00:01", "06:00", 24*time.Hour - time.Second},
		{"2026-06-10 23:59:30", "00:00:15", 45 * time.Second},
		// The night in which clocks go forward has 23 hours, the one back 25.
		{"2026-03-28 06:00:00", "06:00", 23 * time.Hour},
		{"2026-10-24 06:00:00", "06:00", 25 * time.Hour},
		{"2026-06-10 05:00:00", "2026-06-11T06:30", 25*time.Hour + 30*time.Minute},
	} {
		now, err := time.ParseInLocation(time.DateTime, c.now, berlin)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := untilClock("--pacer-by", c.by, now); err != nil || got != c.want {
			t.Errorf("from %s until %s: %v, %v, want %v", c.now, c.by, got, err, c.want)
		}
	}
}

func TestDeadlinesReachSparkInItsNotation(t *testing.T) {
	for text, want := range map[string]string{"90s": "90s", "15m": "15m", "500ms": "500ms", "90": "90000ms", "1h30m": "5400000ms", "1.5s": "1500ms", "2h": "2h"} {
		d, err := deadlineValue("x", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := sparkTime(text, d.Duration()); got != want {
			t.Errorf("%s reaches Spark as %s, want %s", text, got, want)
		}
	}
}

func TestSparkIsFoundInItsUsualPlaces(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	getenv := func(k string) string { return w.env[k] }
	home := w.fakeSpark(t, "")
	sp, err := findSpark(ctx, getenv)
	if err != nil || sp.home != home {
		t.Errorf("by SPARK_HOME: %+v, %v", sp, err)
	}
	link := t.TempDir()
	if err := os.Symlink(filepath.Join(home, "bin", "spark-submit"), filepath.Join(link, "spark-submit")); err != nil {
		t.Fatal(err)
	}
	w.env["SPARK_HOME"], w.env["PATH"] = "", link
	if sp, err := findSpark(ctx, getenv); err != nil || sp.home != home || sp.submit != filepath.Join(link, "spark-submit") {
		t.Errorf("by PATH: %+v, %v", sp, err)
	}
	// Links to this program come first in PATH.
	links := t.TempDir()
	for range 2 {
		if o := w.run(t, "link", links); o.code != 0 || !strings.Contains(o.out, filepath.Join(links, "spark3-submit")) {
			t.Errorf("link: exit code %d, %s%s", o.code, o.out, o.err)
		}
	}
	w.env["PATH"] = links + ":" + link
	if sp, err := findSpark(ctx, getenv); err != nil || sp.submit != filepath.Join(link, "spark-submit") {
		t.Errorf("behind links to this program: %+v, %v", sp, err)
	}
	w.env["PATH"] = links
	if sp, err := findSpark(ctx, getenv); command.ExitCode(err) != command.ExitNotFound {
		t.Errorf("links to this program alone: %+v, %v", sp, err)
	}
	w.run(t, "link", link).wantLine(t, command.ExitFailure, "file exists")
	// A python3 in PATH whose pyspark is that distribution.
	python := t.TempDir()
	if err := os.WriteFile(filepath.Join(python, "python3"), []byte("#!/bin/sh\necho "+home+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.env["PATH"] = python
	if sp, err := findSpark(ctx, getenv); err != nil || sp.home != home {
		t.Errorf("by pyspark: %+v, %v", sp, err)
	}
	w.env["PATH"] = t.TempDir()
	if _, err := findSpark(ctx, getenv); command.ExitCode(err) != command.ExitNotFound {
		t.Errorf("nowhere: %v", err)
	}
	w.env["SPARK_HOME"] = t.TempDir()
	if _, err := findSpark(ctx, getenv); command.ExitCode(err) != command.ExitNotFound || !strings.Contains(err.Error(), "SPARK_HOME") {
		t.Errorf("an empty SPARK_HOME: %v", err)
	}
}
