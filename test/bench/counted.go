package main

import (
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
		{name: "lock", minutes: 1, measure: lockVisits},
		{name: "contexts", minutes: 1, spark: true, measure: contextsAccepted},
	}
}

// lockTest is the test of the jar that counts looks at sizes of blocks, and leaves the count in lockFigure.
const (
	lockTest   = "OffersTest#sizesAreLookedAtBeforeTheLockIsTaken"
	lockFigure = "lock.visits_per_task"
)

// lockVisits has the jar's test count how often a task's sizes are looked at under the scheduler's lock.
func lockVisits(t testing.TB, add adder) {
	path := filepath.Join("spark", "target", "figures", lockFigure)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	maven := exec.Command("mvn", "-B", "-ntp", "-q", "surefire:test", "-Dtest="+lockTest)
	maven.Dir = "spark"
	if out, err := maven.CombinedOutput(); err != nil {
		t.Fatalf("the jar's test: %v: %s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	visits, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	add(lockFigure, benchline.One(visits), "visits")
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
