package main

import (
	"fmt"
	"testing"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/fluid"
	"github.com/sparkpacer/pacer/test/benchline"
)

// fluidReserve measures the rules that reserve, beside their source's figures, and the CPU time of the source's number
// of jobs under each rule.
func fluidReserve(t testing.TB, add adder) {
	const name = "tr1"
	run := func(o fluid.Options) fluid.ReserveTable {
		o.Stop = t.Context().Done()
		table, err := fluid.RunReserve(name, o)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	table := run(fluid.Options{Seeds: 5, CPUs: []int{2250, 4500, 15000}})
	for _, c := range table.Cells {
		if !c.Usual() {
			continue
		}
		for figure, of := range map[string]func(fluid.ReserveRun) float64{
			"sdr":  func(r fluid.ReserveRun) float64 { return r.SDR },
			"ptr":  func(r fluid.ReserveRun) float64 { return r.PTR },
			"wtr":  func(r fluid.ReserveRun) float64 { return r.WTR },
			"jain": func(r fluid.ReserveRun) float64 { return r.Jain }} {
			var values []float64
			for _, r := range c.Runs {
				values = append(values, of(r))
			}
			add(fmt.Sprintf("fluid.tr1.%s.%s.%d.%s", c.Rule, c.Generator, c.CPUs, figure), benchline.Mean(values), "ratio")
		}
	}
	for _, m := range table.Measures {
		add("fluid.tr1."+m.Name, benchline.Mean(m.Values), m.Unit)
	}
	var took []float64
	for _, rule := range assign.Reserving() {
		began := cpuTime(t)
		run(fluid.Options{Seeds: 1, CPUs: []int{2250}, Full: true, Only: rule + " fixed2x"})
		spent := (cpuTime(t) - began).Seconds()
		if rule == assign.FS {
			add("fluid.tr1_s.fs", benchline.Quantile([]float64{spent}, 1), "s")
			continue
		}
		took = append(took, spent)
	}
	add("fluid.tr1_s", benchline.Quantile(took, 1), "s")
}
