package benchline_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/test/benchline"
)

var here = benchline.Origin{Sources: "aaaa", Spark: "4.3.0", Java: "17.0.1", Kernel: "6.1", Cores: 2}

// line is a whole one, of which a test changes what it is about.
func line(name string, value float64) benchline.Line {
	return benchline.Line{Name: name, Measured: benchline.Measured{Value: value, N: 3, Spread: [2]float64{value - 1, value + 1}},
		Unit: "ms", Commit: "c0ffee", Date: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), Origin: here}
}

// A file has the newest line of each name, whatever is put there, and is read where it has several.
func TestTheNewestLineOfANameIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs", "figures.jsonl")
	if lines, err := benchline.Read(path); err != nil || len(lines) != 0 {
		t.Fatalf("without a file: %v, %v", lines, err)
	}
	for _, lines := range [][]benchline.Line{{line("b.100", 3), line("b.20", 0.5)}, {line("a.ms", 1), line("b.100", 2)}} {
		if err := benchline.Put(path, lines...); err != nil {
			t.Fatal(err)
		}
	}
	want := []benchline.Line{line("a.ms", 1), line("b.20", 0.5), line("b.100", 2)}
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	older := `{"name":"b.20","value":9,"n":1,"spread":[9,9],"unit":"ms","date":"2026-11-22T11:00:00Z","campaign":"of before"}` + "\n"
	for _, text := range []string{string(body), string(body) + older, older + "\n" + string(body)} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		lines, err := benchline.Read(path)
		if d := cmp.Diff(want, lines); err != nil || d != "" {
			t.Errorf("%v, %s", err, d)
		}
	}
}

func TestALineHasEveryField(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures.jsonl")
	one := line("a.ms", 3)
	one.Each = []float64{2, 3, 4}
	if err := benchline.Put(path, one); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"a.ms","value":3,"n":3,"spread":[2,4],"each":[2,3,4],"unit":"ms","commit":"c0ffee",` +
		`"date":"2026-11-22T12:00:00Z","sources":"aaaa","spark":"4.3.0","java":"17.0.1","kernel":"6.1","cores":2}` + "\n"
	if d := cmp.Diff(want, string(body)); d != "" {
		t.Error(d)
	}
}

func TestWhatLacksSomethingIsRefusedWithAllThatIsPutWithIt(t *testing.T) {
	for name, wrong := range map[string]func(*benchline.Line){
		"no name":    func(l *benchline.Line) { l.Name = "" },
		"no unit":    func(l *benchline.Line) { l.Unit = "" },
		"not finite": func(l *benchline.Line) { l.Value = math.NaN() },
		"of nothing": func(l *benchline.Line) { l.N = 0 },
		"spread":     func(l *benchline.Line) { l.Spread = [2]float64{2, 1} },
		"no date":    func(l *benchline.Line) { l.Date = time.Time{} },
	} {
		path, bad := filepath.Join(t.TempDir(), "figures.jsonl"), line("bad", 1)
		wrong(&bad)
		if err := benchline.Put(path, line("good", 1), bad); err == nil {
			t.Errorf("%s is put", name)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s: a refused line left a file: %v", name, err)
		}
	}
}

// What is no line is an error that names it, and stays.
func TestTornTextIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures.jsonl")
	const torn = `{"name":"half","val`
	if err := os.WriteFile(path, []byte(torn), 0o644); err != nil {
		t.Fatal(err)
	}
	if lines, err := benchline.Read(path); err == nil {
		t.Errorf("%v", lines)
	}
	if err := benchline.Put(path, line("a.ms", 3)); err == nil {
		t.Error("it is put over")
	}
	if body, err := os.ReadFile(path); err != nil || string(body) != torn {
		t.Errorf("%q, %v", body, err)
	}
}
