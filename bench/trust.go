package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/bus/bustest"
	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/torture"
)

// The parts of trust that are no cells: what `make torture` and `make soak` have counted on
// the sources of the campaign.
const tortureCell, soakCell = "torture", "soak"

// trustCommand is the command that measures all of trust.
const trustCommand = "trust"

// chaosSeeds are the worlds with faults that are tried.
const chaosSeeds = 10_000

// trusted are the cells of `make bench-trust`.
func trusted() []cell {
	return []cell{
		{"tls", 1, true, false, tlsOverhead},
		{"attacks", 1, false, false, attacks},
		{"chaos", 30, false, false, chaos},
		{"failover", 2, false, false, failover},
		{"question", 1, false, false, question},
	}
}

// trust measures the cells and the fuzz targets that are not there, and adds up what torture
// and soak have counted.
func (c *campaign) trust(ctx context.Context, o options) error {
	faults := []error{c.figures(ctx, o)}
	if o.wants(fuzzCell) && !c.Has(fuzzCell) && ctx.Err() == nil {
		all := o
		all.only = nil
		faults = append(faults, c.told(c.fuzz(ctx, all)))
	}
	if o.wants(tortureCell) {
		tallies, err := torture.Read(filepath.FromSlash("out/torture.jsonl"))
		tallies = slices.DeleteFunc(tallies, func(t torture.Tally) bool { return t.Sources != c.origin.Sources })
		faults = append(faults, err, c.renew(tortureCell, torturedFigures(tallies)))
	}
	if o.wants(soakCell) {
		soaks, err := torture.ReadSoaks(filepath.FromSlash("out/soak.jsonl"))
		soaks = slices.DeleteFunc(soaks, func(s torture.Soak) bool { return s.Sources != c.origin.Sources })
		faults = append(faults, err, c.renew(soakCell, soakedFigures(soaks)))
	}
	return errors.Join(faults...)
}

// renew adds the figures of a cell unless they are what the campaign has.
func (c *campaign) renew(cell string, figures []figure) error {
	if len(figures) == 0 {
		fmt.Fprintf(c.w, "bench: %s has no run of these sources: make %s\n", cell, cell)
		return nil
	}
	for _, l := range linesOf(cell, figures) {
		there := slices.ContainsFunc(benchline.Newest(c.Lines), func(k benchline.Line) bool {
			return k.Name == l.Name && k.Value == l.Value && k.N == l.N
		})
		if !there {
			return c.keepFigures(cell, figures)
		}
	}
	return nil
}

// torturedFigures are sums over runs of the torture, with the least and the most of a run.
func torturedFigures(runs []torture.Tally) []figure {
	if len(runs) == 0 {
		return nil
	}
	var out []figure
	add := func(name, unit string, of func(t torture.Tally) int) {
		m := benchline.Measured{Value: float64(of(torture.Sum(runs))), N: len(runs)}
		var each []float64
		for _, r := range runs {
			each = append(each, float64(of(r)))
		}
		m.Spread = [2]float64{slices.Min(each), slices.Max(each)}
		out = append(out, figure{tortureCell + "." + name, m, unit})
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
		out = append(out, figure{soakCell + "." + kind.name, benchline.Measured{Value: slope, N: longest.Samples, Spread: [2]float64{slope - 2*err, slope + 2*err}}, "MiB/h"})
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
		startRigAs(t, fmt.Sprintf("open-%d", os.Getpid()), 2, peers{}).begin(stages),
		startRigAs(t, fmt.Sprintf("tls-%d", os.Getpid()), 2, secured).begin(stages),
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
