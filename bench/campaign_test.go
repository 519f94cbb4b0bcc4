package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/executor"
	"github.com/sparkpacer/pacer/internal/benchline"
)

func TestACampaignIsKeptCellByCellAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	o := options{file: filepath.Join(dir, "docs", "figures.jsonl"), log: filepath.Join(dir, "out", "bench.jsonl")}
	origin := benchline.Origin{Sources: "aaaa", Spark: "4.3.0", Java: "17", Kernel: "6.1", Cores: 2}
	var said bytes.Buffer
	first, err := begin(o, origin, "c0ffee", &said)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.keepFigures("idle", []figure{{"rss.node_mib", benchline.One(23), "MiB"}, {"rss.planner_mib", benchline.One(25), "MiB"}}); err != nil {
		t.Fatal(err)
	}
	one, _ := os.ReadFile(o.file)
	two, _ := os.ReadFile(o.log)
	if !bytes.Equal(one, two) || bytes.Count(one, []byte("\n")) != 2 {
		t.Errorf("the logs hold\n%s\n%s", one, two)
	}
	again, err := begin(o, origin, "c0ffee-dirty", &said)
	if err != nil || again.ID != first.ID || again.Seed != first.Seed || !again.Has("idle") || again.Has("plan") {
		t.Errorf("%+v, %v", again, err)
	}
	origin.Sources = "bbbb"
	other, err := begin(o, origin, "c0ffee", &said)
	if err != nil || other.Has("idle") || !strings.Contains(said.String(), "2 lines are of other sources than bbbb: kept, not mixed") {
		t.Errorf("%+v, %v, said %s", other, err, &said)
	}
	origin.Sources = "aaaa"
	seed := first.Seed + 1
	if _, err := begin(options{file: o.file, log: o.log, seed: &seed}, origin, "c0ffee", &said); err == nil {
		t.Error("a campaign took another seed")
	}
	fresh, err := begin(options{file: o.file, log: o.log, seed: &seed, again: true}, origin, "c0ffee", &said)
	if err != nil || fresh.Seed != seed || len(fresh.Lines) != 0 {
		t.Errorf("%+v, %v", fresh, err)
	}
	if kept, _ := os.ReadFile(o.file); !bytes.Equal(kept, one) {
		t.Error("lines went that were there")
	}
}

func TestFiguresOfRunsAreAddedOnceAfterTheLastOne(t *testing.T) {
	dir := t.TempDir()
	o := options{file: filepath.Join(dir, "figures.jsonl"), log: filepath.Join(dir, "bench.jsonl")}
	c, err := begin(o, benchline.Origin{Sources: "aaaa", Spark: "4.3.0", Java: "17", Kernel: "6.1", Cores: 2}, "c0ffee", new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	trial := trialOptions{workloads: []workload{{name: "svm"}}, runs: 2}
	value := func(name string) float64 {
		for _, l := range benchline.Newest(c.Lines) {
			if l.Name == name {
				return l.Value
			}
		}
		return -1
	}
	if err := c.keepFigures(archiveCell, []figure{{"archive.core_seconds", benchline.One(80), "core-seconds"}}); err != nil {
		t.Fatal(err)
	}
	for i, r := range measuredRuns()[:6] {
		line := benchline.Line{Name: "run.svm", Value: r.Wall, Unit: "s", N: 1, Spread: [2]float64{r.Wall, r.Wall}, Cell: names(steps(trial.workloads[0], 2, nil, 1))[i], Run: &r}
		if err := c.keep(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.conclude(trial); err != nil {
		t.Fatal(err)
	}
	// Four runs have mapped the archive: each bears 20 core-seconds of it.
	if got := value("core_seconds.tuned.svm"); got != 110 {
		t.Errorf("tuned stock took %v core-seconds, want 110", got)
	}
	there := len(c.Lines)
	if err := c.conclude(trial); err != nil || len(c.Lines) != there {
		t.Errorf("%d lines more without a run, %v", len(c.Lines)-there, err)
	}
}

// A workload that was measured whole on another machine is not run again; one that was not
// begins anew.
func TestACampaignGoesOnOnAnotherMachine(t *testing.T) {
	dir := t.TempDir()
	o := options{file: filepath.Join(dir, "figures.jsonl"), log: filepath.Join(dir, "bench.jsonl")}
	origin := benchline.Origin{Sources: "aaaa", Spark: "4.3.0", Java: "17", Kernel: "6.1", Cores: 2}
	var said bytes.Buffer
	first, err := begin(o, origin, "c0ffee", &said)
	if err != nil {
		t.Fatal(err)
	}
	svm, kmeans := workload{name: "svm", slacks: []int{20}}, workload{name: "kmeans", slacks: []int{20}}
	keep := func(c *campaign, s step) {
		t.Helper()
		r := benchline.Run{Workload: s.workload.name, Phase: s.phase, Round: s.round, Baseline: s.baseline, Wall: 60, CoreSeconds: 100}
		if s.baseline == pacedOne {
			deadline := 61.0
			r.Slack, r.Deadline = &s.slack, &deadline
		}
		if err := c.keep(benchline.Line{Name: "run." + s.String(), Value: r.Wall, Unit: "s", N: 1, Cell: s.cell(""), Spread: [2]float64{60, 60}, Run: &r}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range steps(svm, 1, svm.slacks, first.Seed) {
		keep(first, s)
	}
	keep(first, steps(kmeans, 1, kmeans.slacks, first.Seed)[0])

	origin.Kernel = "6.2"
	second, err := begin(o, origin, "c0ffee", &said)
	if err != nil || second.ID == "" || len(second.Lines) != 0 {
		t.Fatalf("%+v, %v", second, err)
	}
	trial := trialOptions{runs: 1}
	if there, ok := second.whole(svm, trial); !ok || there.ID != first.ID {
		t.Errorf("svm, whole elsewhere: %t", ok)
	}
	if _, ok := second.whole(kmeans, trial); ok {
		t.Error("kmeans has one run elsewhere, and is there")
	}
	trial.workloads = []workload{svm}
	if err := second.trials(t.Context(), trial); err != nil || len(second.Lines) != 0 || !strings.Contains(said.String(), "svm was measured on Spark 4.3.0, Java 17, Linux 6.1, 2 cores") {
		t.Errorf("%v, %d lines, said %s", err, len(second.Lines), &said)
	}
	keep(second, steps(svm, 1, svm.slacks, second.Seed)[0])
	if _, ok := second.whole(svm, trial); ok {
		t.Error("svm has a run here: it is measured here")
	}
	if err := first.conclude(trialOptions{runs: 1, workloads: []workload{svm}}); err != nil {
		t.Fatal(err)
	}
	for _, l := range first.Lines {
		want := 0
		if l.Name == "pacing.core_seconds_ratio" { // The one over several workloads.
			want = 1
		}
		if l.Run == nil && l.Machines != want {
			t.Errorf("%s is of %d machines, want %d", l.Name, l.Machines, want)
		}
	}
	anew, err := begin(options{file: o.file, log: o.log, again: true}, origin, "c0ffee", &said)
	if err != nil || len(anew.elsewhere) != 0 {
		t.Errorf("another campaign takes %d from elsewhere, %v", len(anew.elsewhere), err)
	}
}

func TestACellEndsAloneAndCleansUp(t *testing.T) {
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

func TestCellsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{archiveCell: true, overheadOf: true}
	for _, c := range append(cells(), trusted()...) {
		if seen[c.name] || c.minutes <= 0 || c.measure == nil {
			t.Errorf("%+v", c)
		}
		seen[c.name] = true
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
