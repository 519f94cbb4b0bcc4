package main

import (
	"testing"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/registry"
	"github.com/sparkpacer/pacer/test/benchline"
)

// experiments measures those experiments of the registry, each case with so many seeds, as many as is usual if 0: their
// figures are the bench's.
func experiments(r row, seeds int, names ...string) row {
	r.measure = func(t testing.TB, add adder) {
		for _, name := range names {
			table := performed(t, name, experiment.Options{Seeds: seeds})
			for _, rows := range table.Rows {
				for _, row := range rows {
					t.Log(row)
				}
			}
			for _, f := range table.Figures {
				add(f.Name, benchline.Mean(f.Values), f.Unit)
			}
		}
	}
	return r
}

// performed runs the experiment of that name.
func performed(t testing.TB, name string, o experiment.Options) experiment.Table {
	t.Helper()
	o.Stop = t.Context().Done()
	e, err := experiment.Named(registry.Experiments(), name)
	if err != nil {
		t.Fatal(err)
	}
	table, err := e.Run(o)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// unitSeconds measures the CPU time of runs in the world of units, their traces made and their figures drawn up: the
// longest case of pace, which is 80,000 applications (with another one where that one's name has it in it), and as many
// jobs as the source of tr1 has under each rule.
func unitSeconds(t testing.TB, add adder) {
	pace, err := experiment.Named(registry.Experiments(), "pace")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := pace.Cases(experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spent := func(name string, o experiment.Options) float64 {
		began := cpuTime(t)
		performed(t, name, o)
		return (cpuTime(t) - began).Seconds()
	}
	var took []float64
	for _, c := range cases {
		took = append(took, spent("pace", experiment.Options{Seeds: 1, Only: c}))
	}
	add("fluid.run_s", benchline.Quantile(took, 1), "s")
	took = nil
	for _, rule := range assign.Reserving() {
		s := spent("tr1", experiment.Options{Seeds: 1, CPUs: []int{2250}, Full: true, Only: rule + " fixed2x"})
		if rule == assign.FS {
			add("fluid.tr1_s.fs", benchline.One(s), "s")
			continue
		}
		took = append(took, s)
	}
	add("fluid.tr1_s", benchline.Quantile(took, 1), "s")
}

// reproSeeds is how often each case of a source's claims is run, as `pacer repro` does.
const reproSeeds = 3

// claimed measures which part of the claims of sources holds here, each case with so many seeds.
func claimed(seeds int, sources ...string) func(testing.TB, adder) {
	return func(t testing.TB, add adder) {
		for _, s := range registry.Sources(sources...) {
			claims, err := s.Claims(experiment.Options{Seeds: seeds, Stop: t.Context().Done()}, nil)
			if err != nil {
				t.Fatalf("source %s: %v", s.Name, err)
			}
			add("repro."+s.Name+".held_ratio", heldRatio(claims), "ratio")
			prints, err := s.Prints()
			if err != nil {
				t.Fatal(err)
			}
			listed, all := registry.Listed(prints, claims)
			add("repro."+s.Name+".listed_pct", benchline.One(100*float64(listed)/float64(all)), "%")
		}
	}
}

// heldRatio is the part of claims that holds, of n claims.
func heldRatio(claims []experiment.Claim) benchline.Measured {
	ratio := float64(experiment.Held(claims)) / float64(len(claims))
	return benchline.Measured{Value: ratio, N: len(claims), Spread: [2]float64{ratio, ratio}}
}
