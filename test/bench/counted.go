package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

// countedRows count what the jar does in a driver.
func countedRows() []row {
	return []row{
		{name: "lock", minutes: 1, measure: func(t testing.TB, add adder) {
			visits := jarFigure(t, "OffersTest#sizesAreLookedAtBeforeTheLockIsTaken", lockFigure)
			add(lockFigure, benchline.Mean(visits), "visits")
		}},
		{name: "evict", minutes: 1, measure: evictedBeats},
		{name: "beats", minutes: 2, spark: true, extra: true, measure: beatsLost},
		{name: "contexts", minutes: 1, spark: true, measure: contextsAccepted},
	}
}

const (
	// lockFigure is how often a task's sizes are looked at under the scheduler's lock.
	lockFigure = "lock.visits_per_task"
	// beatFigure is how long a heartbeat takes at most while blocks are evicted.
	beatFigure = "evict.beat_s.max"
)

// evictedBeats has the jar's test evict blocks, and measure heartbeats meanwhile.
func evictedBeats(t testing.TB, add adder) {
	beats := jarFigure(t, "MemoryPoolsTest#beatsAreSentWhileBlocksAreEvicted", beatFigure)
	longest := benchline.Quantile(beats, 1)
	longest.Each = beats
	add(beatFigure, longest, "s")
}

// jarFigure has that test of the jar leave a figure in its file, one of each round.
func jarFigure(t testing.TB, test, figure string) (rounds []float64) {
	path := filepath.Join("spark", "target", "figures", figure)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	maven := exec.Command("mvn", "-B", "-ntp", "-q", "surefire:test", "-Dtest="+test)
	maven.Dir = "spark"
	if out, err := maven.CombinedOutput(); err != nil {
		t.Fatalf("the jar's test: %v: %s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(string(text)) {
		round, err := strconv.ParseFloat(line, 64)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		rounds = append(rounds, round)
	}
	return rounds
}

// beatsLost counts the executors without heartbeats of their own after 50,000 accumulators were read back that a
// heartbeat may meet half made. The figure is named for the Spark of the environment.
func beatsLost(t testing.TB, add adder) {
	jar := realenv.Compiled(t, filepath.Join("test", "e2e", "testdata", "Beats.java"))
	core, err := filepath.Glob(filepath.Join(realenv.SparkHome(t), "jars", "spark-core_*.jar"))
	if err != nil || len(core) != 1 {
		t.Fatalf("%d jars of Spark's core: %v", len(core), err)
	}
	version := strings.TrimSuffix(core[0][strings.LastIndexByte(core[0], '-')+1:], ".jar")
	s := realenv.StartUp(t)
	run := s.Submit("--class", "Beats", "--conf", "spark.executor.heartbeatInterval=20ms",
		"--conf", "spark.executor.heartbeat.maxFailures=1000000", jar, "late")
	if code := run.Wait(liveLimit); code != 0 {
		t.Fatalf("exit %d: %s", code, run.LastWords())
	}
	var read, lost, attempt int
	answer := realenv.Results(run.Answer())
	if _, err := fmt.Sscanf(answer, "RESULT read %d ended %d attempt %d", &read, &lost, &attempt); err != nil {
		t.Fatalf("it answers %q: %v", answer, err)
	}
	m := benchline.One(float64(lost))
	m.N = read
	add("beats.lost."+version, m, "executors")
}

// contextsAccepted counts the contexts of one submission, made one after another, that are taken in and finish.
func contextsAccepted(t testing.TB, add adder) {
	s := realenv.StartUp(t)
	run := s.Submit(filepath.Join("test", "e2e", "field", "testdata", "days.py"))
	if code := run.Wait(liveLimit); code != 0 {
		t.Fatalf("exit %d: %s", code, run.LastWords())
	}
	accepted := 0
	for _, a := range s.Apps() {
		if a.State == api.AppFinished {
			accepted++
		}
	}
	add("contexts.accepted", benchline.One(float64(accepted)), "contexts")
}
