package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/infra/bus"
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

// shipped is what --files brings beside its user's.
var shipped = regexp.MustCompile(`^/proc/self/fd/[0-9]+#pacer(-ca\.pem|\.ticket)$`)

// A driver that YARN starts reads its files where it runs: a ticket for its submission, and no file of this machine.
func TestSubmitToYARNsClusterMode(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	w.fakeSpark(t, `while [ "$1" != --files ]; do shift; done; all=${2#a.txt,}; cat "${all%#*}" >&2; exit 3`)
	args := []string{"submit", "--pacer-planner", f.address, "--master", "yarn", "--deploy-mode", "cluster", "--files", "a.txt", "app.py"}
	o := w.run(t, args...)
	got := o.arguments()
	conf, at := confOf(got), slices.Index(got, "--files")
	if o.code != 3 || !shipped.MatchString(strings.TrimPrefix(got[at+1], "a.txt,")) || conf[confCredentials] != "pacer.ticket" {
		t.Errorf("exit code %d, arguments %v; %s", o.code, got, o.err)
	}
	asked := f.requested(t, api.VerbTicket)
	var secret string
	for line := range strings.Lines(o.err) {
		if login, of, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && strings.HasPrefix(login, "ticket-") {
			secret = of
		}
	}
	if who := asked.Issue.Principal; who.Kind != api.PrincipalTicket || who.Name != conf[confSubmission] || (bus.Credential{Secret: secret}).Key() != asked.Issue.Key {
		t.Errorf("asked for was %+v, the driver has %s", asked.Issue, o.err)
	}
	if conf[confWatched] != "true" || conf[confDefaultOptions] != "" {
		t.Errorf("settings %v", conf)
	}
	if told := f.last(t, api.VerbExit); told.ExitCode != 3 {
		t.Errorf("told was %+v", told)
	}
	w.fakeSpark(t, "exit 143")
	w.run(t, args...).wantLine(t, 143, "yarn runs the application on")
	f.last(t, api.VerbTicket) // No exit of a driver that runs on is told.
	w.fakeSpark(t, "exit 0")
	o = w.run(t, slices.Insert(args, 1, "--conf", confWaits+"=false")...)
	if conf := confOf(o.arguments()); o.code != 0 || conf[confWatched] != "" || !strings.Contains(o.err, "until its driver's exit") {
		t.Errorf("not waited for: exit code %d, %v; %s", o.code, conf, o.err)
	}
	f.last(t, api.VerbTicket)
}

// Nothing that comes to the cluster is the user's credential, and nothing is on the disk for a kill -9 to leave there.
func TestAttackTheCredentialOfWhoSubmits(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	tmp := t.TempDir()
	w.env["TMPDIR"] = tmp
	t.Setenv("TMPDIR", tmp)
	w.fakeSpark(t, `ls "$TMPDIR" >&2; while [ "$1" != --files ]; do shift; done; cat "${2%#*}" >&2`)
	o := w.run(t, "submit", "--pacer-planner", f.address, "--master", "yarn", "--deploy-mode", "cluster", "app.py")
	if strings.Contains(o.err, f.operator.Secret) || strings.Contains(strings.Join(o.arguments(), " "), f.operator.Secret) {
		t.Errorf("the driver has the user's secret: %s", o.err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 || !strings.HasPrefix(o.err, "# Pacer") {
		t.Errorf("on the disk is %v, %v: %s", left, err, o.err)
	}
	if o.code != 0 || !strings.Contains(o.err, "ticket-") {
		t.Errorf("exit code %d: %s", o.code, o.err)
	}
}

// The planner's authority comes beside the ticket, whatever its file is called.
func TestShipBringsTheAuthority(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "odd:ca.pem")
	if err := os.WriteFile(ca, []byte("the authority"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := launch{shell: &shell{}, settings: map[string]string{confTLSCA: ca, confCredentials: "/home/ann/file"}}
	options := map[string]string{}
	err := ship(t.Context(), &l, nil, options)
	files := options["--files"]
	if err != nil || !shipped.MatchString(files) || len(l.shipped) != 1 || l.settings[confTLSCA] != "pacer-ca.pem" ||
		l.settings[confCredentials] != "" {
		t.Fatalf("%q, %v, %v", files, err, l.settings)
	}
	body, err := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", l.shipped[0].Fd()))
	if err != nil || string(body) != "the authority" {
		t.Errorf("%q, %v", body, err)
	}
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
