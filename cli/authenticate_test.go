package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shown has fake Sparks print the secret of their environment.
const shown = `echo "secret $_SPARK_AUTH_SECRET"`

// lines returns those that begin with prefix, without it.
func (o outcome) lines(prefix string) []string {
	var out []string
	for line := range strings.SplitSeq(o.out, "\n") {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			out = append(out, rest)
		}
	}
	return out
}

// Each application has a secret of its own, which is in no file and not on the command line.
func TestSubmitHasSparkAuthenticate(t *testing.T) {
	w := newWorld(t)
	t.Setenv("TMPDIR", t.TempDir())
	f := startPlanner(t, &fakePlanner{})
	w.fakeSpark(t, shown)
	secrets := map[string]bool{}
	for range 2 {
		o := w.run(t, "submit", "--pacer-planner", f.address, "app.py")
		told := o.lines("secret ")
		if o.code != 0 || o.err != "" || len(told) != 1 || len(told[0]) < 43 || secrets[told[0]] {
			t.Fatalf("exit code %d, secret %q, %s", o.code, told, o.err)
		}
		secrets[told[0]] = true
		args := o.arguments()
		if strings.Contains(strings.Join(args, " "), told[0]) || !slices.Contains(args, "spark.authenticate=true") {
			t.Errorf("arguments %v", args)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestSubmitKeepsTheUsersAuthentication(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	home := w.fakeSpark(t, shown)
	own := filepath.Join(t.TempDir(), "own.properties")
	const ours = "made" // A secret of the application's own.
	for _, c := range []struct {
		defaults, own, env string
		args               []string
		on                 bool // spark.authenticate is set by pacer submit.
		secret             string
	}{
		{args: []string{"--conf", "spark.authenticate=false"}},
		{defaults: "spark.authenticate false\n"},
		{defaults: "spark.authenticate.secret theirs\n", on: true},
		{defaults: "spark.authenticate true\nspark.authenticate.secret theirs\n"},
		{defaults: "spark.authenticate true\n", secret: ours},
		{env: "theirs", on: true, secret: "theirs"},
		// With a file of theirs the defaults are not read.
		{defaults: "spark.authenticate false\n", own: "spark.x y", args: []string{"--properties-file", own}, on: true, secret: ours},
		{own: "spark.authenticate=true\n", args: []string{"--properties-file=" + own}, secret: ours},
		// With an extra one they are.
		{defaults: "spark.authenticate false\n", own: "spark.authenticate=true\n", args: []string{"--extra-properties-file", own}, secret: ours},
		{own: "spark.authenticate=false\n", args: []string{"--extra-properties-file", own}},
		// Another application's, that runs pacer submit.
		{env: ownSecret + strings.Repeat("x", 52), on: true, secret: ours},
	} {
		if err := os.WriteFile(filepath.Join(home, "conf", "spark-defaults.conf"), []byte(c.defaults), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(own, []byte(c.own), 0o644); err != nil {
			t.Fatal(err)
		}
		w.env[variableSecret] = c.env
		o := w.run(t, slices.Concat([]string{"submit", "--pacer-planner", f.address}, c.args, []string{"app.py"})...)
		secret := strings.Join(o.lines("secret "), ",")
		if len(secret) >= 43 && secret != c.env {
			secret = ours
		}
		if on := slices.Contains(o.arguments(), "spark.authenticate=true"); o.code != 0 || on != c.on || secret != c.secret {
			t.Errorf("%+v: exit code %d, set %v, secret %q; %s", c, o.code, on, secret, o.err)
		}
		if told := slices.Contains(o.arguments(), "spark.authenticate.secret="+elsewhere); told != (c.secret != "") {
			t.Errorf("%+v: arguments %v", c, o.arguments())
		}
	}
	// spark-submit says itself that a file is not there.
	o := w.run(t, "submit", "--pacer-planner", f.address, "--properties-file", own+".gone", "app.py")
	if args := o.arguments(); o.code != 0 || !slices.Contains(args, own+".gone") {
		t.Errorf("exit code %d, arguments %v", o.code, args)
	}
}
