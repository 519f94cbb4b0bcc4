package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who has asked for something hears in one line that nothing came of it, and why that seems so.
func TestSubmitSaysThatNothingHasRegistered(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, ended(nil))
	home := w.fakeSpark(t, `[ "${FAILS:-}" = "" ] || exit 3`)
	program := filepath.Join(t.TempDir(), "app.py")
	for _, c := range []struct {
		args, text, fails string
		want              []string // Parts of the line; none for no line.
	}{
		{args: "--pacer-deadline 15s", text: "import x\ns = (SparkSession.builder\n  .master('local[2]').getOrCreate())", want: []string{"the deadline had no effect", "app.py sets the master local[2] itself (line 3)"}},
		{args: "--conf spark.pacer.by=06:00", text: `SparkConf().set("spark.master", "yarn")`, want: []string{"the deadline", "sets the master yarn itself (line 1)"}},
		{args: "--pacer-mode observe --pacer-profile night", text: "print(1)", want: []string{`so mode observe and profile "night" had no effect`, "no SparkSession and no SparkContext"}},
		{args: "--pacer-deadline 15s", text: "SparkSession.builder.remote('sc://h').getOrCreate()", want: []string{"Spark Connect"}},
		{args: "--pacer-deadline 15s", text: "# .master('local')\nSparkSession.builder.master(\"sparkpacer://h:1\")", want: []string{"no SparkContext, or one with a master of its own"}},
		{args: "--pacer-deadline 15s", text: "SparkContext()", fails: "1", want: []string{"spark-submit ended with exit code 3"}},
		{args: "", text: "print(1)"},
		{args: "--pacer-deadline 15s --conf spark.pacer.submission=s-1", text: "print(1)", want: []string{"ended 4.0 s before"}},
	} {
		if err := os.WriteFile(program, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		w.env["FAILS"] = c.fails
		o := w.run(t, append(append([]string{"submit", "--pacer-planner", f.address}, strings.Fields(c.args)...), program)...)
		if lines := strings.Count(o.err, "\n"); lines != min(1, len(c.want)) {
			t.Errorf("%s %q: %d lines:\n%s", c.args, c.text, lines, o.err)
		}
		for _, want := range c.want {
			if !strings.Contains(o.err, want) {
				t.Errorf("%s %q: no %q in %s", c.args, c.text, want, o.err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(home, "conf", "spark-defaults.conf"), []byte("spark.pacer.deadline 1h\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := w.run(t, "submit", "--pacer-planner", f.address, "app.jar"); !strings.Contains(o.err, "the deadline had no effect") {
		t.Errorf("a deadline of a file: %q", o.err)
	}
}
