package benchline_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/internal/benchline"
)

var here = benchline.Origin{Sources: "aaaa", Spark: "4.3.0", Java: "17.0.1", Kernel: "6.1", Cores: 2}

// line is a whole one, of which a test changes what it is about.
func line(name string, value float64) benchline.Line {
	return benchline.Line{Name: name, Value: value, Unit: "ms", N: 3, Spread: [2]float64{value - 1, value + 1}, Commit: "c0ffee",
		Date: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), Origin: here, Campaign: "2026-11-22T12:00:00Z", Seed: 5, Cell: "cell"}
}

func open(t *testing.T) *benchline.Log {
	t.Helper()
	log, err := benchline.Open(filepath.Join(t.TempDir(), "docs", "figures.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestEveryLineIsKeptAndTheNewestOfANameCounts(t *testing.T) {
	log := open(t)
	if lines, faults, err := log.Read(); err != nil || len(lines)+len(faults) != 0 {
		t.Fatalf("without a file: %v, %v, %v", lines, faults, err)
	}
	raw := line("run.group-by.stock", 60)
	raw.Run = &benchline.Run{Workload: "group-by", Phase: "basis", Baseline: "stock", Wall: 60, CoreSeconds: 110}
	older := line("b.us", 9)
	older.Date = older.Date.Add(-time.Hour)
	written := []benchline.Line{line("a.ms", 3), line("b.us", 0.5), raw, line("a.ms", 2), older}
	if err := log.Add(written[:2]...); err != nil {
		t.Fatal(err)
	}
	if err := log.Add(written[2:]...); err != nil {
		t.Fatal(err)
	}
	lines, faults, err := log.Read()
	if err != nil || len(faults) != 0 {
		t.Fatal(faults, err)
	}
	if d := cmp.Diff(written, lines); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]benchline.Line{line("a.ms", 2), line("b.us", 0.5)}, benchline.Newest(lines)); d != "" {
		t.Errorf("a line that is older, but stands later, and a run are no newest figures: %s", d)
	}
}

func TestALineHasEveryField(t *testing.T) {
	log := open(t)
	if err := log.Add(line("a.ms", 3)); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(log.Path())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"a.ms","value":3,"unit":"ms","n":3,"spread":[2,4],"commit":"c0ffee","date":"2026-11-22T12:00:00Z","sources":"aaaa",` +
		`"spark":"4.3.0","java":"17.0.1","kernel":"6.1","cores":2,"campaign":"2026-11-22T12:00:00Z","seed":5,"cell":"cell"}` + "\n"
	if d := cmp.Diff(want, string(body)); d != "" {
		t.Error(d)
	}
}

func TestWhatLacksSomethingIsRefusedWithAllThatIsAddedWithIt(t *testing.T) {
	for name, wrong := range map[string]func(*benchline.Line){
		"no name":     func(l *benchline.Line) { l.Name = "" },
		"no unit":     func(l *benchline.Line) { l.Unit = "" },
		"not finite":  func(l *benchline.Line) { l.Value = math.NaN() },
		"endless":     func(l *benchline.Line) { l.Value = math.Inf(1) },
		"of nothing":  func(l *benchline.Line) { l.N = 0 },
		"spread":      func(l *benchline.Line) { l.Spread = [2]float64{2, 1} },
		"no commit":   func(l *benchline.Line) { l.Commit = "" },
		"no sources":  func(l *benchline.Line) { l.Sources = "" },
		"no date":     func(l *benchline.Line) { l.Date = time.Time{} },
		"no cores":    func(l *benchline.Line) { l.Cores = 0 },
		"no campaign": func(l *benchline.Line) { l.Campaign = "" },
	} {
		log, bad := open(t), line("bad", 1)
		wrong(&bad)
		if err := log.Add(line("good", 1), bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(log.Path()); !os.IsNotExist(err) {
			t.Errorf("%s: a refused line left a file: %v", name, err)
		}
	}
}

func TestTornAndForeignTextIsToldAndStays(t *testing.T) {
	log := open(t)
	torn := `{"name":"old","value":1,"unit":"ms"}` + "\n" + `{"name":"half","val`
	if err := os.WriteFile(log.Path(), []byte(torn), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := log.Add(line("a.ms", 3)); err != nil {
		t.Fatal(err)
	}
	lines, faults, err := log.Read()
	if err != nil || len(lines) != 1 || lines[0].Name != "a.ms" {
		t.Fatalf("%v, %v", lines, err)
	}
	if len(faults) != 2 || faults[0].Number != 1 || faults[1].Number != 2 {
		t.Errorf("faults %v, want lines 1 and 2", faults)
	}
	body, err := os.ReadFile(log.Path())
	if err != nil || !strings.HasPrefix(string(body), torn+"\n") {
		t.Errorf("what was there has changed: %q, %v", body, err)
	}
}

func TestLinesOfManyWritersStayWhole(t *testing.T) {
	log := open(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := log.Add(line(strings.Repeat("n", i+1), float64(i)), line(strings.Repeat("m", i+1), float64(i))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if lines, faults, err := log.Read(); err != nil || len(lines) != 40 || len(faults) != 0 {
		t.Errorf("%d lines, %v, %v", len(lines), faults, err)
	}
}

func TestACampaignGoesOnWithItsOwnLinesOnly(t *testing.T) {
	own, later, elsewhere, older, bare := line("own", 1), line("later", 1), line("elsewhere", 1), line("older", 1), line("bare", 1)
	own.Cell, bare.Cell = "first", "bare"
	later.Campaign, later.Seed, later.Cell = "2026-11-22T13:00:00Z", 6, "second"
	bare.Campaign, bare.Seed, bare.Spark, bare.Java = later.Campaign, later.Seed, benchline.None, "17.0.1"
	elsewhere.Campaign, elsewhere.Kernel, elsewhere.Cell = "2026-11-23T00:00:00Z", "5.10", "third"
	older.Campaign, older.Sources, older.Cell = "2026-11-23T00:00:00Z", "bbbb", "fourth"
	lines := []benchline.Line{own, later, elsewhere, older, bare}
	c, ok := benchline.Resume(lines, here)
	if !ok || c.ID != later.Campaign || c.Seed != 6 {
		t.Fatalf("%+v, %t: want the newest campaign of this origin", c, ok)
	}
	for cell, want := range map[string]bool{"second": true, "bare": true, "first": false, "third": false, "fourth": false} {
		if c.Has(cell) != want {
			t.Errorf("has %s: %t", cell, !want)
		}
	}
	moved := here
	moved.Java = "21.0.1"
	if c, ok := benchline.Resume(lines[:2], moved); ok {
		t.Errorf("with another Java: %+v", c)
	}
	said := benchline.Others(lines, []benchline.Fault{{Number: 7, Err: fmt.Errorf("torn")}}, here)
	want := []string{"1 lines are of other sources than aaaa: kept, not mixed",
		"1 lines are from elsewhere (Spark 4.3.0, Java 17.0.1, Linux 5.10, 2 cores): kept, not mixed", "line 7 is no figure: torn: kept, not read"}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
	if said := benchline.Others(lines[:2], nil, here); len(said) != 0 {
		t.Errorf("of the campaign's own lines: %q", said)
	}
}

func TestRunsAreOfTheirWorkloadAndVariant(t *testing.T) {
	var lines []benchline.Line
	for _, r := range []benchline.Run{{Workload: "svm", Wall: 1}, {Workload: "svm", Variant: "slice", Wall: 2}, {Workload: "kmeans", Wall: 3}} {
		l := line("run", 1)
		l.Run = &r
		lines = append(lines, l)
	}
	c, _ := benchline.Resume(lines, here)
	if runs := c.Runs("svm", ""); len(runs) != 1 || runs[0].Wall != 1 {
		t.Errorf("%+v", runs)
	}
}

func TestLateIsNegativeAndEarlyIsPositive(t *testing.T) {
	due := 80.0
	for wall, want := range map[float64]float64{76: 5, 80: 0, 84: -5} {
		if got, ok := (benchline.Run{Wall: wall, Deadline: &due}).ErrorPct(); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%v s: %v, %t, want %v", wall, got, ok, want)
		}
	}
	if got, ok := (benchline.Run{Wall: 76}).ErrorPct(); ok {
		t.Errorf("without a deadline %v", got)
	}
}
