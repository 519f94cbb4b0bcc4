package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/torture"
)

// chaosSeeds are the worlds with faults that are tried.
const chaosSeeds = 10_000

// tortured adds up what `make torture` has counted on these sources.
func tortured(t testing.TB, add adder) {
	runs, err := torture.Read(filepath.FromSlash("out/torture.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	sources := sourcesHere(t)
	runs = slices.DeleteFunc(runs, func(t torture.Tally) bool { return t.Sources != sources })
	if len(runs) == 0 {
		t.Skip("no run of these sources: make torture")
	}
	add.all(torturedFigures(runs))
}

// soaked takes the figures of what `make soak` has counted on these sources.
func soaked(t testing.TB, add adder) {
	runs, err := torture.ReadSoaks(filepath.FromSlash("out/soak.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	sources := sourcesHere(t)
	runs = slices.DeleteFunc(runs, func(s torture.Soak) bool { return s.Sources != sources })
	if len(runs) == 0 {
		t.Skip("no run of these sources: make soak")
	}
	add.all(soakedFigures(runs))
}

func sourcesHere(t testing.TB) string {
	t.Helper()
	sources, err := benchline.Sources(".")
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

// torturedFigures are sums over runs of the torture, with the least and the most of a run.
func torturedFigures(runs []torture.Tally) []figure {
	var out []figure
	add := func(name, unit string, of func(t torture.Tally) int) {
		m := benchline.Measured{Value: float64(of(torture.Sum(runs))), N: len(runs)}
		var each []float64
		for _, r := range runs {
			each = append(each, float64(of(r)))
		}
		m.Spread = [2]float64{slices.Min(each), slices.Max(each)}
		out = append(out, figure{"torture." + name, m, unit})
	}
	add("kills", "kills", func(t torture.Tally) int { return t.Kills })
	add("partitions", "partitions", func(t torture.Tally) int { return t.Partitions })
	add("node_losses", "nodes", func(t torture.Tally) int { return t.NodeLosses })
	add("applications", "applications", func(t torture.Tally) int { return t.Applications })
	add("possible", "deadlines", func(t torture.Tally) int { return t.Possible })
	add("lost", "applications", func(t torture.Tally) int { return t.Lost })
	add("wrong", "applications", func(t torture.Tally) int { return t.Wrong })
	add("late_possible", "deadlines", func(t torture.Tally) int { return t.LatePossible })
	add("orphans", "leftovers", func(t torture.Tally) int { return t.Orphans })
	return out
}

// soakedFigures are those of the longest soak of each kind, with two standard errors either
// side.
func soakedFigures(runs []torture.Soak) (out []figure) {
	for _, kind := range []struct {
		name  string
		spark bool
	}{{"rss_slope_mib_h", false}, {"spark_rss_slope_mib_h", true}} {
		of := slices.DeleteFunc(slices.Clone(runs), func(s torture.Soak) bool { return s.Spark != kind.spark })
		if len(of) == 0 {
			continue
		}
		longest := slices.MaxFunc(of, func(a, b torture.Soak) int { return int(a.Minutes - b.Minutes) })
		slope, err := longest.Slope[torture.RSS], longest.Error[torture.RSS]
		out = append(out, figure{"soak." + kind.name, benchline.Measured{Value: slope, N: longest.Samples,
			Spread: [2]float64{slope - 2*err, slope + 2*err}}, "MiB/h"})
	}
	return out
}

// chaos has faults rain on simulated worlds and counts those in which an invariant is broken
// or an application does not end.
func chaos(t testing.TB, add adder) {
	var next, broken atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				seed := next.Add(1) - 1
				if seed >= chaosSeeds || t.Context().Err() != nil {
					return
				}
				if err := sim.Chaos(uint64(seed)); err != nil {
					broken.Add(1)
					t.Logf("%v", err)
				}
			}
		})
	}
	workers.Wait()
	if err := t.Context().Err(); err != nil {
		t.Fatal(err)
	}
	add("chaos.seeds", benchline.One(chaosSeeds), "worlds")
	n := float64(broken.Load())
	add("chaos.broken", benchline.Measured{Value: n, N: chaosSeeds, Spread: [2]float64{0, min(n, 1)}}, "worlds")
}

// tlsOverhead times stages from "stage ready" to the quota in force on two systems, one
// with TLS and one without, in pairs of which either goes first in
// turn.
func tlsOverhead(t testing.TB, add adder) {
	authority := bustest.NewAuthority(t)
	secured := peers{server: authority.Issue("server"), client: bus.TLS{CA: authority.CA()}}
	sides := []pacing{
		startRig(t, fmt.Sprintf("open-%d", os.Getpid()), 2, peers{}).begin(stages),
		startRig(t, fmt.Sprintf("tls-%d", os.Getpid()), 2, secured).begin(stages),
	}
	took := make([][]float64, len(sides))
	var ratios []float64
	for i := range stages {
		for k := range sides {
			side := (i + k) % len(sides)
			took[side] = append(took[side], sides[side].stage(i))
		}
		ratios = append(ratios, took[1][i]/took[0][i])
	}
	for _, side := range sides {
		side.end()
	}
	add("tls.overhead_ratio", benchline.Median(ratios), "ratio")
	add("tls.open_ms.p50", benchline.Median(took[0]), "ms")
	add("tls.secured_ms.p50", benchline.Median(took[1]), "ms")
}
