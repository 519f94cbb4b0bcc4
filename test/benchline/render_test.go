package benchline_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/test/benchline"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew")

func rendered() []benchline.Line {
	late := line("deadline.exit_error_pct.svm.20", -1.25)
	late.Unit, late.Spread = "%", [2]float64{-2, 0.5}
	forty := line("deadline.exit_error_pct.svm.40", 0.75)
	forty.Unit = "%"
	hundred := line("deadline.exit_error_pct.svm.100", 1)
	hundred.Unit = "%"
	older := line("quota.write_us", 1.7)
	older.Sources, older.Commit, older.Date, older.N, older.Spread = "bbbb", "0ld", older.Date.Add(-48*time.Hour), 1, [2]float64{1.7, 1.7}
	elsewhere := line("sim.events_per_s", 998123.4)
	elsewhere.Spark, elsewhere.Java, elsewhere.Cores = benchline.None, benchline.None, 8
	return []benchline.Line{late, forty, hundred, older, elsewhere}
}

var bounds = []benchline.Goal{{Pattern: "deadline.*.*.20", Least: 0, Most: 2, Text: "0 to 2"}, {Pattern: "quota.*", Least: math.Inf(-1), Most: 100, Text: "at most 100"}}

func TestRender(t *testing.T) {
	var text bytes.Buffer
	if err := benchline.Render(&text, rendered(), "aaaa", bounds); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "figures.md")
	if *rewrite {
		if err := os.WriteFile(golden, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), text.String()); d != "" {
		t.Error(d)
	}
}

// What the document says is right whatever the golden file has.
func TestRenderMarksWhatIsOlderAndWhatMissesItsGoal(t *testing.T) {
	var text bytes.Buffer
	if err := benchline.Render(&text, rendered(), "aaaa", bounds); err != nil {
		t.Fatal(err)
	}
	row := func(name string) string {
		for l := range strings.Lines(text.String()) {
			if strings.Contains(l, "`"+name+"`") {
				return l
			}
		}
		return ""
	}
	for name, want := range map[string][]string{
		"deadline.exit_error_pct.svm.20": {"-1.25", "**missed**", "-2 to 0.5"}, "quota.write_us": {"†", "0ld", "met"}, "sim.events_per_s": {"998123"},
	} {
		for _, part := range want {
			if !strings.Contains(row(name), part) {
				t.Errorf("no %q in %q", part, row(name))
			}
		}
	}
	if strings.Contains(row("sim.events_per_s"), "†") {
		t.Errorf("a mark too many:\n%s", &text)
	}
}
