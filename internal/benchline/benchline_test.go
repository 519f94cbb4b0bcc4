package benchline_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/internal/benchline"
)

func TestTheNewestLineOfANameCounts(t *testing.T) {
	log, err := benchline.Open(filepath.Join(t.TempDir(), "out", "bench.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if lines, err := log.Read(); err != nil || len(lines) != 0 {
		t.Fatalf("without a file: %v, %v", lines, err)
	}
	for _, l := range []benchline.Line{{"a.ms", 3, "ms"}, {"b.us", 0.5, "us"}, {"a.ms", 2, "ms"}} {
		if err := log.Add(l.Name, l.Value, l.Unit); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := log.Read()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]benchline.Line{{"a.ms", 2, "ms"}, {"b.us", 0.5, "us"}}, lines); d != "" {
		t.Error(d)
	}
	var table bytes.Buffer
	if err := benchline.Table(&table, lines); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"FIGURE", "a.ms", "0.5"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table has no %q:\n%s", want, &table)
		}
	}
	if err := log.Reset(); err != nil {
		t.Fatal(err)
	}
	if lines, _ := log.Read(); len(lines) != 0 {
		t.Errorf("after the reset: %v", lines)
	}
}

func TestWhatWasNotMeasuredIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.jsonl")
	log, err := benchline.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []benchline.Line{{"", 1, "s"}, {"x", 1, ""}, {"x", math.NaN(), "s"}, {"x", math.Inf(1), "s"}} {
		if err := log.Add(l.Name, l.Value, l.Unit); err == nil {
			t.Errorf("%+v was taken", l)
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a refused line left a file: %v", err)
	}
}

func TestLinesOfManyWritersStayWhole(t *testing.T) {
	log, err := benchline.Open(filepath.Join(t.TempDir(), "bench.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := log.Add(strings.Repeat("n", i+1), float64(i), "s"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if lines, err := log.Read(); err != nil || len(lines) != 20 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}
