package main

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/sparkpacer/pacer/test/benchline"
)

// asleepRuns is how often the story is run: in a bubble of virtual time it is not the same twice.
const asleepRuns = 5

var asleepLine = regexp.MustCompile(`awake (\d+) late (\d+) lost (\d+)`)

// asleep measures how many of four nodes are awake at low load, and what that costs, in whole daemons.
func asleep(t testing.TB, add adder) {
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count", strconv.Itoa(asleepRuns), "-v", "-run",
		"^TestNodesSleepAtLowLoad$", "./test/testenv").CombinedOutput()
	var figures [3][]float64
	for _, m := range asleepLine.FindAllStringSubmatch(string(out), -1) {
		for i := range figures {
			n, _ := strconv.Atoi(m[i+1]) // It is digits.
			figures[i] = append(figures[i], float64(n))
		}
	}
	if len(figures[0]) != asleepRuns {
		t.Fatalf("%d of %d runs have figures: %v\n%s", len(figures[0]), asleepRuns, err, out)
	}
	add("glap.live.awake", benchline.Mean(figures[0]), "nodes")
	add("glap.live.late", benchline.Sum(figures[1]), "applications")
	add("glap.live.lost", benchline.Sum(figures[2]), "tasks")
}
