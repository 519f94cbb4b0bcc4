package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	pacerspark "github.com/sparkpacer/pacer/spark"
)

// A cluster keeps what it has: its master, its authentication, how it reaches the driver.
func TestSubmitAttaches(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	home := w.fakeSpark(t, "exit 0")
	defaults := "spark.plugins x.Mine\nspark.pacer.planner elsewhere:1\n"
	if err := os.WriteFile(filepath.Join(home, "conf", "spark-defaults.conf"), []byte(defaults), 0o644); err != nil {
		t.Fatal(err)
	}
	if o := w.run(t, "jar", "install", home); o.code != 0 {
		t.Fatal(o.err)
	}
	jar := filepath.Join(w.env["XDG_CACHE_HOME"], "pacer", pacerspark.Name())
	for line, plugins := range map[string]string{
		"--master yarn":            "x.Mine," + pacerPlugin,
		"--master k8s://https://a": "x.Mine," + pacerPlugin,
		"--conf spark.master=yarn --jars a.jar --conf spark.plugins=a.B,c": "a.B,c," + pacerPlugin,
		"--master yarn --conf spark.plugins=a.B," + pacerPlugin:            "a.B," + pacerPlugin,
	} {
		args := append([]string{"submit", "--pacer-planner", f.address, "--pacer-deadline", "90s"}, strings.Fields(line)...)
		o := w.run(t, append(args, "app.py", "--conf", "its=own")...)
		got := o.arguments()
		conf := confOf(got[:len(got)-2])
		if o.code != 0 || conf[confPlugins] != plugins || conf[confPlanner] != f.address || conf[confDeadline] != "90s" ||
			conf[confWatched] != "true" || conf[confSubmitted] == "" {
			t.Errorf("%s: exit code %d, settings %v; %s", line, o.code, conf, o.err)
		}
		for _, key := range []string{confAuthenticate, confSecret, confDriverHost, confDriverBind} {
			if conf[key] != "" {
				t.Errorf("%s: %s is %s", line, key, conf[key])
			}
		}
		if i := slices.Index(got, "--jars"); i < 0 || !strings.HasSuffix(got[i+1], jar) || slices.Contains(got, "sparkpacer://"+f.address) {
			t.Errorf("%s: %v", line, got)
		}
		if tail := got[len(got)-3:]; !slices.Equal(tail, []string{"app.py", "--conf", "its=own"}) {
			t.Errorf("%s: the application's arguments are %v", line, tail)
		}
	}
}

// A driver that YARN starts reads its files where it runs. What Pacer brings there is gone when spark-submit has ended.
func TestSubmitToYARNsClusterMode(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	w.fakeSpark(t, `while [ "$1" != --files ]; do shift; done; cat "${2#a.txt,}" >&2; exit 3`)
	args := []string{"submit", "--pacer-planner", f.address, "--master", "yarn", "--deploy-mode", "cluster", "--files", "a.txt", "app.py"}
	o := w.run(t, args...)
	got := o.arguments()
	conf, at := confOf(got), slices.Index(got, "--files")
	copied, ours := strings.CutPrefix(got[at+1], "a.txt,")
	if o.code != 3 || !ours || conf[confCredentials] != filepath.Base(copied) || !strings.Contains(o.err, "user-") {
		t.Errorf("exit code %d, arguments %v; %s", o.code, got, o.err)
	}
	if _, err := os.Stat(copied); err == nil || conf[confWatched] != "true" || conf[confDefaultOptions] != "" {
		t.Errorf("left is %s, settings %v", copied, conf)
	}
	if told := f.last(t, api.VerbExit); told.ExitCode != 3 {
		t.Errorf("told was %+v", told)
	}
	w.fakeSpark(t, "exit 143")
	w.run(t, args...).wantLine(t, 143, "yarn runs the application on")
	f.last(t, api.VerbPing) // No exit of a driver that runs on is told.
}

// Where no planner answers, YARN runs what it would run without Pacer.
func TestSubmitToYARNGoesOnWithoutAPlanner(t *testing.T) {
	w := newWorld(t)
	w.fakeSpark(t, "echo started; exit 3")
	o := w.run(t, "submit", "--master", "yarn", "--pacer-planner", "127.0.0.1:1", "app.py")
	if o.code != 3 || !strings.Contains(o.out, "started") || !strings.Contains(o.err, "127.0.0.1:1") || !strings.Contains(o.err, "without Pacer") {
		t.Errorf("exit code %d, output %q, %s", o.code, o.out, o.err)
	}
	w.run(t, "submit", "--master", "yarn", "--pacer-require-feasible", "--pacer-planner", "127.0.0.1:1", "app.py").
		wantLine(t, command.ExitUnavailable, "127.0.0.1:1")
}
