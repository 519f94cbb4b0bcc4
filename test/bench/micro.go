package main

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/test/benchline"
)

// micro takes Go benchmarks of packages.
func micro(t testing.TB, add adder) {
	for _, b := range []struct{ pkg, bench, figure string }{
		{"node", "BenchmarkStep256", "node.step_us.256"},
		{"daemon", "BenchmarkTick256", "node.tick_us.256"},
		{"cgroup", "BenchmarkSetQuota", "quota.write_us"},
	} {
		add(b.figure, benchline.Median(nanoseconds(t, b.pkg, b.bench)[b.bench]).Times(1e-3), "us")
	}
}

// controllerStep measures one step of each control law; the figure is the dearest law's.
func controllerStep(t testing.TB, add adder) {
	took := nanoseconds(t, "controller", "BenchmarkStep")
	var dearest benchline.Measured
	for _, law := range controller.Laws() {
		m := benchline.Median(took["BenchmarkStep/"+law])
		add("controller.step_ns."+law, m, "ns")
		if m.Value > dearest.Value {
			dearest = m
		}
	}
	add("controller.step_ns", dearest, "ns")
}

var benchmarkLine = regexp.MustCompile(`(?m)^(Benchmark\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op`)

// nanoseconds runs a Go benchmark of a package three times and returns what an operation
// took each time, by the names of it and of those within it.
func nanoseconds(t testing.TB, pkg, bench string) map[string][]float64 {
	t.Helper()
	out, err := exec.Command("go", "test", "-run", "^$", "-bench", "^"+bench+"$", "-count", "3",
		"github.com/sparkpacer/pacer/"+pkg).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", bench, err, out)
	}
	took := map[string][]float64{}
	for _, m := range benchmarkLine.FindAllSubmatch(out, -1) {
		ns, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			t.Fatal(err)
		}
		took[string(m[1])] = append(took[string(m[1])], ns)
	}
	if len(took) == 0 {
		t.Fatalf("%s printed no result: %s", bench, out)
	}
	return took
}
