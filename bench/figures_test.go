package bench

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/internal/realenv"
)

// TestFigures measures everything; -run 'TestFigures/plan' does one part.
func TestFigures(t *testing.T) {
	path := os.Getenv("PACER_BENCH_LOG")
	if path == "" {
		t.Skip("measures only for `make bench`, which sets PACER_BENCH_LOG")
	}
	log, err := benchline.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	add := func(t *testing.T, name string, value float64, unit string) {
		t.Helper()
		t.Logf("%s %.4g %s", name, value, unit)
		if err := log.Add(name, value, unit); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("sim", func(t *testing.T) { simulated(t, add) })
	t.Run("speed", func(t *testing.T) { speed(t, add) })
	t.Run("scale", func(t *testing.T) { scaled(t, add) })
	if part := os.Getenv("PART"); part != "sim" && part != "speed" && part != "scale" {
		realenv.RequireSpark(t)
		t.Cleanup(realenv.Remove)
	}
	t.Run("micro", func(t *testing.T) { micro(t, add) })
	t.Run("docker", func(t *testing.T) { dockerUpdate(t, add) })
	t.Run("plan", func(t *testing.T) { planLatency(t, add) })
	t.Run("idle", func(t *testing.T) { idle(t, add) })
	t.Run("crowd", func(t *testing.T) { crowd(t, add) })
	t.Run("rebind", func(t *testing.T) { rebind(t, add) })
	t.Run("start", func(t *testing.T) { start(t, add) })
	t.Run("demo", func(t *testing.T) { demonstration(t, add) })
	t.Run("tail", func(t *testing.T) { tail(t, add) })
	t.Run("overhead", func(t *testing.T) { overhead(t, add) })
	lines, err := log.Read()
	if err != nil {
		t.Fatal(err)
	}
	if err := benchline.Table(os.Stdout, lines); err != nil {
		t.Fatal(err)
	}
}

type adder func(t *testing.T, name string, value float64, unit string)

// micro runs Go benchmarks in their own packages, three times each, and takes
// the median.
func micro(t *testing.T, add adder) {
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
		add(t, b.figure, median(us), "us")
	}
}

// controllerStep measures one step of each control law, three times, and takes
// the median; the figure is the dearest law's.
func controllerStep(t *testing.T, add adder) {
	out, err := exec.Command("go", "test", "-run", "^$", "-bench", "^BenchmarkStep$", "-count", "3",
		"github.com/sparkpacer/pacer/controller").CombinedOutput()
	if err != nil {
		t.Fatalf("controller: %v: %s", err, out)
	}
	dearest := 0.0
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
		add(t, "controller.step_ns."+law, median(ns), "ns")
		dearest = max(dearest, median(ns))
	}
	add(t, "controller.step_ns", dearest, "ns")
}

func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile is the value at rank q of a copy of v, the nearest one above.
func quantile(v []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}

func spread(v []float64) string {
	return fmt.Sprintf("%.3g to %.3g, median %.3g, n = %d", slices.Min(v), slices.Max(v), median(v), len(v))
}
