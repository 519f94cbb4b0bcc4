package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/test/realenv"
)

// podLine is a command line whose driver Kubernetes starts.
func podLine(planner string, more ...string) []string {
	return append([]string{"submit", "--pacer-planner", planner, "--master", "k8s://https://a:6443", "--deploy-mode", "cluster",
		"--conf", "spark.pacer.planner=pacer-planner.pacer.svc:4222"}, more...)
}

// hiddenSettings has a fake spark-submit print the file of settings that it is given.
const hiddenSettings = `all="$*"; while [ $# -gt 0 ]; do [ "$1" != --properties-file ] || cat "$2" >&2; shift; done; `

// The driver in a pod has a ticket and the authority by its settings, which no command line shows; where its user names a
// Secret it has that.
func TestSubmitToKubernetesClusterMode(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	home := w.fakeSpark(t, hiddenSettings+"exit 0")
	if err := os.WriteFile(filepath.Join(home, "conf", "spark-defaults.conf"), []byte("spark.x a: b\\n=c\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := w.run(t, podLine(f.address, "--pacer-deadline", "90s", "--conf", confPodWaits+"=false", "local:///app.py")...)
	conf := confOf(o.arguments())
	if o.code != 0 || conf[confPlanner] != "pacer-planner.pacer.svc:4222" || conf[confWatched] != "" || conf[confDeadline] != "90s" ||
		conf[confCredentials] != "" || conf[confTLSCA] != "" || slices.Contains(o.arguments(), "--files") || slices.Contains(o.arguments(), "--jars") {
		t.Errorf("exit code %d, arguments %v", o.code, o.arguments())
	}
	for _, want := range []string{confPodSecret + "=# Pacer", `\nticket-` + conf[confSubmission] + ":",
		`spark.x=a: b\n=c`, "until its driver's exit", confUpload} {
		if !strings.Contains(o.err, want) {
			t.Errorf("%q is not in what the driver is given and the user told:\n%s", want, o.err)
		}
	}
	if who := f.requested(t, api.VerbTicket).Issue.Principal; who.Kind != api.PrincipalTicket || who.Name != conf[confSubmission] {
		t.Errorf("asked for was %+v", who)
	}
	f.last(t, api.VerbTicket)
	if args := strings.Join(o.arguments(), " "); strings.Contains(args, "ticket-") || strings.Contains(args+o.err, f.operator.Secret) {
		t.Errorf("a secret is shown: %s", args)
	}
	for _, own := range []string{confPodSecretOf + "=pacer-ann:key", confCredentials + "=/etc/pacer/key"} {
		o = w.run(t, podLine(f.address, "--conf", own, "--conf", confTLSCA+"=/etc/pacer/ca.pem", "local:///app.py")...)
		if o.code != 0 || strings.Contains(o.err, confPodSecret) {
			t.Errorf("%s: exit code %d: %s", own, o.code, o.err)
		}
	}
	o = w.run(t, podLine(f.address, "--conf", confUpload+"=s3a://b/p", "app.py")...)
	if at := slices.Index(o.arguments(), "--jars"); at < 0 || strings.Contains(o.err, "pacer jar install") {
		t.Errorf("with a place for files: %v, %s", o.arguments(), o.err)
	}
	o = w.run(t, podLine(f.address, "--jars", "local:///opt/pacer-spark.jar", "local:///app.py")...)
	if o.code != 0 || strings.Contains(o.err, "pacer jar install") {
		t.Errorf("with a jar in the image: exit code %d: %s", o.code, o.err)
	}
	w.run(t, "submit", "--pacer-planner", f.address, "--master", "k8s://a", "--deploy-mode", "cluster", "local:///app.py").
		wantLine(t, command.ExitUsage, confPlanner+"=HOST:PORT")
}

// The planner's authority is a setting of a driver in a pod, from where its certificates begin.
func TestShipBringsTheAuthorityIntoAPod(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte("of us:\n-----BEGIN CERTIFICATE-----\nAAAA\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	line, err := scanSubmit(podLine("h:1", "local:///app.py")[1:])
	if err != nil {
		t.Fatal(err)
	}
	l := launch{shell: &shell{}, line: line, settings: map[string]string{confTLSCA: ca, confCredentials: "/home/ann/file"},
		files: settingFiles{all: map[string]string{"spark.y": "z"}}}
	options := map[string]string{}
	if err := ship(t.Context(), &l, nil, options); err != nil || len(l.settings) > 0 {
		t.Fatalf("%v, %v", l.settings, err)
	}
	body, err := os.ReadFile(options[optionProperties])
	if want := `spark.pacer.tls.ca=-----BEGIN CERTIFICATE-----\nAAAA\n` + "\nspark.y=z\n"; err != nil || string(body) != want {
		t.Errorf("%q, %v", body, err)
	}
}

// spark-submit exits with 0 however a driver's pod has ended, and logs how.
func TestSubmitEndsAsTheDriversPod(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	log := func(code string) string {
		return "printf '26/11/30 INFO LoggingPodStatusWatcherImpl: Container final statuses:\\n\\n\\t container name: spark-kubernetes-driver\\n" +
			"\\t exit code: " + code + "\\n\\t termination reason: Error\\n' >&2; "
	}
	failed := api.AppDetail{AppSummary: api.AppSummary{ID: "app-1", Submission: "s1", State: api.AppFailed, Headline: "it failed"}}
	for _, c := range []struct {
		script string
		apps   []api.AppDetail
		want   int
		line   string
	}{
		{log("0") + "exit 0", nil, 0, "no application has registered"},
		{log("3") + "exit 0", nil, 3, "no application has registered"},
		{log("137") + "exit 0", []api.AppDetail{failed}, 137, "it failed"},
		{"exit 0", []api.AppDetail{failed}, 1, "it failed"},
		{"exit 1", nil, 1, "no application has registered"},
		{"exit 143", nil, 143, "Kubernetes runs the application on"},
	} {
		f.mu.Lock()
		f.apps = c.apps
		f.mu.Unlock()
		w.fakeSpark(t, c.script)
		o := w.run(t, podLine(f.address, "--pacer-deadline", "90s", "--conf", confSubmission+"=s1", "local:///app.py")...)
		if o.code != c.want || !strings.Contains(o.err, c.line) {
			t.Errorf("%q: exit code %d: %s", c.script, o.code, o.err)
		}
	}
}

// A log that comes in pieces is passed on as it is.
func TestPodLogInPieces(t *testing.T) {
	text := strings.Repeat("x", 1000) + "\n\t exit code: 1\n2 exit code: 7\n\t exit code: 42\nmore"
	for size := 1; size < 20; size++ {
		var out strings.Builder
		p := &podLog{Writer: &out}
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			if _, err := io.WriteString(p, rest[:min(size, len(rest))]); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != text || !p.said || p.code != 42 {
			t.Errorf("pieces of %d: %v, %d, %q", size, p.said, p.code, out.String())
		}
	}
}

// The command that the Spark Operator runs for the recipe attaches the driver: each setting of Pacer's is one that the jar reads, and
// pacer submit takes the same command line.
func TestTheOperatorsRecipe(t *testing.T) {
	args := realenv.OperatorArguments(t, "../docs/attach.md", "k8s://https://10.96.0.1:443")
	line, err := scanSubmit(args)
	if err != nil {
		t.Fatal(err)
	}
	conf := line.conf
	if conf[confPlugins] != pacerPlugin || conf[confPlanner] == "" || conf[confPodWaits] != "false" || line.main() == "" {
		t.Errorf("%v", conf)
	}
	secret, key, ok := strings.Cut(conf[confPodSecretOf], ":")
	if dir := conf["spark.kubernetes.driver.secrets."+secret]; !ok || key == "" || dir == "" || !strings.HasPrefix(conf[confTLSCA], dir+"/") {
		t.Errorf("the Secret %q has the key %q, and is at %q", secret, key, dir)
	}
	reads, err := os.ReadFile("../spark/src/main/scala/org/apache/spark/pacer/PacerConf.scala")
	if err != nil {
		t.Fatal(err)
	}
	for name := range conf {
		if strings.HasPrefix(name, "spark.pacer.") && !strings.Contains(string(reads), `"`+name+`"`) {
			t.Errorf("the jar reads no %s", name)
		}
	}
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	w.fakeSpark(t, hiddenSettings+"exit 0")
	o := w.run(t, append([]string{"submit", "--pacer-planner", f.address}, args...)...)
	if got := confOf(o.arguments()); o.code != 0 || got[confPlanner] != conf[confPlanner] || got[confPlugins] != pacerPlugin || strings.Contains(o.err, "ticket-") {
		t.Errorf("exit code %d, %v: %s", o.code, o.arguments(), o.err)
	}
}
