package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/registry"
)

// documents are what `make tables` writes, with the experiments that each has to show.
var documents = map[string][]string{
	"../../docs/simulator.md": {"table4", "exit", "lost", "runs", "alpha", "profile", "skew", "bytes", "lone", "benchmarks",
		"strategies", "eq21", "sharing", "pace", "zoe", "unknown", "offers"},
	"../../docs/mesh.md": experiment.Taking(registry.Experiments(), experiment.Workers),
}

// The regions of the documents are well-formed and have a table each; the cheapest ones
// say what the simulator gives.
func TestTheDocumentsAreUpToDate(t *testing.T) {
	for path, wanted := range documents {
		t.Run(filepath.Base(path), func(t *testing.T) { upToDate(t, path, wanted) })
	}
}

func upToDate(t *testing.T, path string, wanted []string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var experiments []string
	after, err := rewrite(string(text), func(r region) (string, error) {
		experiments = append(experiments, experiment.Names(r.experiments)...)
		ends := func(with string) bool { return strings.HasSuffix(r.body, with+"\n\n") }
		if !strings.HasPrefix(r.body, "\n| ") || !ends(" late.") && !ends(" seeds.") && !ends(" |") {
			t.Errorf("line %d has no table: `make tables` writes it", r.line)
		}
		if !slices.Contains([]string{"lone", "offers", "peacock-estimates"}, r.experiments[0].Name) {
			return r.body, nil
		}
		return render(r)
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(text), after); d != "" {
		t.Errorf("the table is not what the simulator gives; `make tables` writes it:\n%s", d)
	}
	for _, e := range wanted {
		if !slices.Contains(experiments, e) {
			t.Errorf("no region shows %s", e)
		}
	}
}

// A command writes what stands between marks, the regions that are asked for, and
// nothing else.
func TestARegionIsWrittenAndNothingElse(t *testing.T) {
	const text = "a\n<!-- simulated cases lone law=pacer seeds=1 -->\nold\n<!-- end -->\nb\n<!-- simulated cases skew law=pi seeds=2 -->\n<!-- end -->\nc"
	path := filepath.Join(t.TempDir(), "d.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if err := write([]string{"-only", "lone", path}, &said); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	regions, err := find(string(after))
	if err != nil || len(regions) != 2 || regions[1].body != "" {
		t.Fatalf("%+v, %v", regions, err)
	}
	if back := strings.Replace(string(after), regions[0].body, "old\n", 1); back != text {
		t.Errorf("more than the region was written: %q", after)
	}
	if lines := strings.Split(strings.TrimSpace(regions[0].body), "\n"); len(lines) != 2+3+2 || !strings.HasPrefix(lines[2], "| `pacer` | group-by") ||
		!strings.HasPrefix(lines[6], "1 seeds, 3 runs, ") {
		t.Errorf("three cases give %q", lines)
	}
	if err := write([]string{"-only", "table5", path}, &said); err == nil || !strings.Contains(err.Error(), "no region's mark contains") {
		t.Errorf("a mark that is not there: %v", err)
	}
}

// A mark that is not well-formed is refused with its line and what is wrong, before
// anything runs.
func TestBadMarksAreRefused(t *testing.T) {
	const good = "<!-- simulated cases lone law=pacer seeds=1 -->\n"
	for text, want := range map[string]string{
		good:                                               "line 1: the region has no end",
		"a\n<!-- end -->":                                  "line 2: a region ends that has not begun",
		good + good + "<!-- end -->":                       "line 2: a region begins in the one of line 1",
		"<!-- simulated cases lone -->":                    "line 1: ",
		"<!-- simulated pace seeds=0 -->":                  "at least one seed",
		"<!-- simulated pace workers=9 seeds=1 -->":        "workers=9 is no size of pace",
		"<!-- simulated glap jobs=9 seeds=1 -->":           "jobs=9 is no size of glap",
		"<!-- simulated peacock jobs=0 seeds=1 -->":        "jobs=0, want workers=N[,N] or jobs=N",
		"<!-- simulated peacock workers=9,x seeds=1 -->":   "want workers=N[,N]",
		"<!-- simulated pie lone law=pacer seeds=1 -->":    `layout "pie" is not known`,
		"<!-- simulated cases five law=pacer seeds=1 -->":  `no experiment "five": want one of`,
		"<!-- simulated cases lone law=bang seeds=1 -->":   `law "bang", want one of`,
		"<!-- simulated cases lone law=pacer seeds=0 -->":  "at least one seed",
		"<!-- simulated cases lone seeds=1 law=pacer -->":  "want law=LAW and then seeds=N",
		"<!-- simulated cases lone law=pacer seeds=1 -- >": "want <!-- simulated LAYOUT",
	} {
		_, err := rewrite(text, func(region) (string, error) {
			t.Errorf("%q was run", text)
			return "", nil
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
