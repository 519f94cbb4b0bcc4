package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/test/benchline"
)

func TestARowEndsAloneAndCleansUp(t *testing.T) {
	var order []string
	err := run(context.Background(), "x", new(bytes.Buffer), func(t testing.TB) {
		t.Cleanup(func() { order = append(order, "first made") })
		dir := t.TempDir()
		t.Cleanup(func() {
			if _, err := os.Stat(dir); err != nil {
				t.Errorf("the directory went before: %v", err)
			}
			order = append(order, "last made")
		})
		t.Fatalf("no %s", "luck")
	})
	if err == nil || err.Error() != "x: no luck" || strings.Join(order, ", ") != "last made, first made" {
		t.Errorf("%v, cleaned up %v", err, order)
	}
	if err := run(context.Background(), "x", new(bytes.Buffer), func(testing.TB) { panic("oh") }); err == nil || !strings.Contains(err.Error(), "oh") {
		t.Errorf("a panic is %v", err)
	}
	if err := run(context.Background(), "x", new(bytes.Buffer), func(t testing.TB) { t.Skip("no root") }); !errors.Is(err, errSkipped) {
		t.Errorf("a skip is %v", err)
	}
	if err := run(context.Background(), "x", new(bytes.Buffer), func(testing.TB) {}); err != nil {
		t.Error(err)
	}
}

func TestRowsHaveNamesOfTheirOwn(t *testing.T) {
	for _, command := range commands {
		seen := map[string]bool{}
		for _, r := range rows(options{command: command}) {
			if seen[r.name] || r.measure == nil {
				t.Errorf("%s: %+v", command, r)
			}
			seen[r.name] = true
		}
	}
}

// A row that fails leaves its figures as they were and the others to be measured; one that
// is interrupted ends the command, which says what is left.
func TestFiguresAreKeptRowByRow(t *testing.T) {
	r := runner{file: filepath.Join(t.TempDir(), "docs", "figures.jsonl"), commit: "c0ffee", w: new(bytes.Buffer),
		origin: benchline.Origin{Sources: "aaaa", Spark: "4.3.0", Java: "17", Kernel: "6.1", Cores: 2}}
	ctx, cancel := context.WithCancel(t.Context())
	one := func(name string, value float64, then func(t testing.TB)) row {
		return row{name: name, measure: func(t testing.TB, add adder) {
			add(name, benchline.One(value), "s")
			then(t)
		}}
	}
	well, fails := func(testing.TB) {}, func(t testing.TB) { t.Fatal("no luck") }
	if err := r.measure(ctx, []row{one("a", 1, well), one("b", 1, well)}); err != nil {
		t.Fatal(err)
	}
	err := r.measure(ctx, []row{one("a", 2, fails), one("b", 2, func(t testing.TB) { t.Skip("no root") }), one("c", 2, well)})
	if err == nil || err.Error() != "a: no luck" {
		t.Errorf("a row that fails and one that is skipped: %v", err)
	}
	always := one("a", 3, fails)
	always.always = true
	err = r.measure(ctx, []row{always, one("d", 3, func(t testing.TB) {
		cancel()
		t.Fatal("interrupted")
	}), one("e", 3, well)})
	if err == nil || !strings.Contains(err.Error(), "-only d,e ") {
		t.Errorf("interrupted: %v", err)
	}
	lines, err := benchline.Read(r.file)
	got := map[string]float64{}
	for _, l := range lines {
		got[l.Name] = l.Value
	}
	if d := cmp.Diff(map[string]float64{"a": 3, "b": 1, "c": 2}, got); err != nil || d != "" {
		t.Errorf("%v, %s", err, d)
	}
}

// Tuned stock Spark gets all that an executor's command line has, but for what Spark
// sets itself or refuses.
func TestTuningIsWhatTheExecutorsGet(t *testing.T) {
	home := t.TempDir()
	for name, mode := range map[string]os.FileMode{"bin/java": 0o755, "jars/spark-core_2.13-4.3.0.jar": 0o644, "pacer.jar": 0o644} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	line, err := executor.Command("app-1", "1", api.Launch{SparkHome: home, JavaHome: home, Heap: 1 << 30}, executor.Paths{Page: "/p"},
		executor.NodeSettings{Jar: filepath.Join(home, "pacer.jar"), Host: "127.0.0.1", Slots: 2})
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Join(tuning(line, map[string]string{"spark.memory.offHeap.size": "7g", "spark.app.name": "x"}), " ")
	for _, want := range []string{"-XX:+UseParallelGC", "-XX:Tier4InvocationThreshold=50000", "-XX:SweeperThreshold=0.02", "-XX:ActiveProcessorCount=2",
		"--conf spark.executorEnv.MALLOC_ARENA_MAX=2", "--conf spark.memory.offHeap.size=7g"} {
		if !strings.Contains(args, want) {
			t.Errorf("no %q in %s", want, args)
		}
	}
	for _, banned := range []string{"-Xmx", executor.PageEnv, executor.WishEnv, "SPARK_HOME", "spark.app.name", "-cp"} {
		if strings.Contains(args, banned) {
			t.Errorf("%q in %s", banned, args)
		}
	}
}
