package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shown has fake Sparks print the properties file that they get, and its mode.
const shown = `while [ $# -gt 0 ]; do
  case "$1" in
  --properties-file) stat -c 'mode %a' "$2"; sed 's/^/file /' "$2";;
  --properties-file=*) f="${1#*=}"; stat -c 'mode %a' "$f"; sed 's/^/file /' "$f";;
  esac
  shift
done`

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

// Each application has a secret of its own, in a file that only its user can read and that
// is gone afterwards; nothing of it is on the command line.
func TestSubmitHasSparkAuthenticate(t *testing.T) {
	w := newWorld(t)
	t.Setenv("TMPDIR", t.TempDir())
	f := startPlanner(t, &fakePlanner{})
	w.fakeSpark(t, shown)
	secrets := map[string]bool{}
	for range 2 {
		o := w.run(t, "submit", "--pacer-planner", f.address, "app.py")
		settings := o.lines("file ")
		if o.code != 0 || o.err != "" || len(settings) != 2 || settings[0] != "spark.authenticate=true" {
			t.Fatalf("exit code %d, settings %q, %s", o.code, settings, o.err)
		}
		secret, ok := strings.CutPrefix(settings[1], "spark.authenticate.secret=")
		if !ok || len(secret) < 43 || secrets[secret] {
			t.Errorf("secret %q", settings[1])
		}
		secrets[secret] = true
		if mode := o.lines("mode "); !slices.Equal(mode, []string{"600"}) {
			t.Errorf("mode %v", mode)
		}
		args := o.arguments()
		if strings.Contains(strings.Join(args, " "), secret) || !slices.Contains(args, optionDefaults) {
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
	for _, c := range []struct {
		defaults, own string
		args          []string
		want          []string // The file's lines but for secrets made; nil is no file.
	}{
		{"", "", []string{"--conf", "spark.authenticate=false"}, nil},
		{"spark.authenticate false\n", "", nil, nil},
		{"spark.authenticate.secret theirs\n", "", nil, []string{"spark.authenticate=true"}},
		{"spark.authenticate true\nspark.authenticate.secret theirs\n", "", nil, nil},
		{"spark.authenticate true\n", "", nil, []string{"spark.authenticate.secret="}},
		// With a file of theirs the defaults are not read.
		{"spark.authenticate false\n", "spark.x y", []string{"--properties-file", own},
			[]string{"spark.x y", "spark.authenticate=true", "spark.authenticate.secret="}},
		{"", "spark.x=y\n", []string{"--properties-file=" + own}, []string{"spark.x=y", "", "spark.authenticate=true", "spark.authenticate.secret="}},
	} {
		if err := os.WriteFile(filepath.Join(home, "conf", "spark-defaults.conf"), []byte(c.defaults), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(own, []byte(c.own), 0o644); err != nil {
			t.Fatal(err)
		}
		o := w.run(t, slices.Concat([]string{"submit", "--pacer-planner", f.address}, c.args, []string{"app.py"})...)
		got := o.lines("file ")
		for i, line := range got {
			if strings.HasPrefix(line, "spark.authenticate.secret=") {
				got[i] = "spark.authenticate.secret="
			}
		}
		if o.code != 0 || !slices.Equal(got, c.want) {
			t.Errorf("%q, %q, %v: exit code %d, %q, want %q; %s", c.defaults, c.own, c.args, o.code, got, c.want, o.err)
		}
		if given := len(c.args) > 0 && c.own != ""; slices.Contains(o.arguments(), optionDefaults) == (given || c.want == nil) {
			t.Errorf("%v: arguments %v", c.args, o.arguments())
		}
	}
	// spark-submit says itself that a file is not there.
	o := w.run(t, "submit", "--pacer-planner", f.address, "--properties-file", own+".gone", "app.py")
	if args := o.arguments(); o.code != 0 || !slices.Contains(args, own+".gone") {
		t.Errorf("exit code %d, arguments %v", o.code, args)
	}
}
