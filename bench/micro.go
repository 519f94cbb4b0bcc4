package main

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/internal/benchline"
)

// micro runs Go benchmarks in their own packages, three times each, and takes
// the median.
func micro(t testing.TB, add adder) {
	for _, b := range []struct{ pkg, bench, figure string }{
		{"node", "BenchmarkStep256", "node.step_us.256"},
		{"daemon", "BenchmarkTick256", "node.tick_us.256"},
		{"cgroup", "BenchmarkSetQuota", "quota.write_us"},
	} {
		out, err := exec.Command("go", "test", "-run", "^$", "-bench", "^"+b.bench+"$", "-count", "3",
			"github.com/sparkpacer/pacer/"+b.pkg).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", b.bench, err, out)
		}
		var us []float64
		for _, m := range regexp.MustCompile(b.bench+`\S*\s+\d+\s+([\d.]+) ns/op`).FindAllSubmatch(out, -1) {
			ns, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				t.Fatal(err)
			}
			us = append(us, ns/1000)
		}
		if len(us) == 0 {
			t.Fatalf("%s printed no result: %s", b.bench, out)
		}
		add(b.figure, benchline.Median(us), "us")
	}
}

// controllerStep measures one step of each control law, three times, and takes
// the median; the figure is the dearest law's.
func controllerStep(t testing.TB, add adder) {
	out, err := exec.Command("go", "test", "-run", "^$", "-bench", "^BenchmarkStep$", "-count", "3",
		"github.com/sparkpacer/pacer/controller").CombinedOutput()
	if err != nil {
		t.Fatalf("controller: %v: %s", err, out)
	}
	var dearest benchline.Measured
	for _, law := range controller.Laws() {
		var ns []float64
		line := regexp.MustCompile(`BenchmarkStep/` + law + `(?:-\d+)?\s+\d+\s+([\d.]+) ns/op\s+\d+ B/op\s+(\d+) allocs/op`)
		for _, m := range line.FindAllSubmatch(out, -1) {
			v, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				t.Fatal(err)
			}
			if string(m[2]) != "0" {
				t.Errorf("a step of law %s allocates %s times", law, m[2])
			}
			ns = append(ns, v)
		}
		if len(ns) == 0 {
			t.Fatalf("law %s printed no result: %s", law, out)
		}
		m := benchline.Median(ns)
		add("controller.step_ns."+law, m, "ns")
		if m.Value > dearest.Value {
			dearest = m
		}
	}
	add("controller.step_ns", dearest, "ns")
}
