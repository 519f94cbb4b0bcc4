package paper

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/infra/chart"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/mesh/hosts"
)

// The source's numbers. theirShare is of machines that are overloaded, per cent (4.5.3.2). theirGain is how many less
// GLAP has, and how many moves less, per cent (4.5.3.3, 4.5.3.4). theirSLAV is by cell (table 4.1); the last two are
// the similarity before and after averaging, per cent (Fig 4.5).
var (
	theirShare = map[string]float64{hosts.GLAP: 12, hosts.EcoCloud: 22, hosts.PABFD: 58, hosts.GRMP: 75}
	theirGain  = map[string][2]float64{hosts.EcoCloud: {43, 23}, hosts.PABFD: {73, 70}, hosts.GRMP: {78, 37}}
	theirSLAV  = map[string][9]float64{
		hosts.GLAP:     {0.00011, 0.00017, 0.00027, 0.00017, 0.00035, 0.00059, 0.00033, 0.00066, 0.001},
		hosts.EcoCloud: {0.00016, 0.00045, 0.00078, 0.00018, 0.00078, 0.00097, 0.00076, 0.0014, 0.002},
		hosts.PABFD:    {0.07, 0.19, 0.36, 0.18, 0.36, 0.57, 0.29, 0.48, 0.48},
		hosts.GRMP:     {0.27, 0.48, 0.72, 0.38, 0.61, 0.88, 0.41, 0.84, 1.24},
	}
	theirAlone, theirAveraged = 45.0, 100.0
)

// everyCell is what the figures are of.
const everyCell = "all sizes and ratios"

// slavOrder is from the least to the most.
var slavOrder = []string{hosts.GLAP, hosts.EcoCloud, hosts.PABFD, hosts.GRMP}

// glapFigures compares the policies of cells that all of them have run.
func glapFigures(cells []GLAPCell) (all []experiment.Figure) {
	var whole []map[string]GLAPCell // Cells of a size and ratio by policy: a table has them one after the other.
	for len(cells) > 0 {
		by, name := map[string]GLAPCell{}, cells[0].name()
		for ; len(cells) > 0 && cells[0].name() == name; cells = cells[1:] {
			by[cells[0].Policy] = cells[0]
		}
		if len(by) == len(slavOrder) {
			whole = append(whole, by)
		}
	}
	if len(whole) == 0 {
		return nil
	}
	seeds := len(whole[0][hosts.GLAP].Runs)
	type compared = func(c map[string]GLAPCell, seed int) float64
	add := func(name, unit, measure string, theirs, least float64, of compared, sum bool) {
		values := make([]float64, seeds)
		for seed := range values {
			for _, c := range whole {
				values[seed] += of(c, seed)
			}
			if !sum {
				values[seed] /= float64(len(whole))
			}
		}
		all = append(all, experiment.NewFigure(name, unit, values, experiment.Claim{Table: "Sec 4.5", Case: everyCell,
			Measure: measure, Theirs: theirs, Says: fmt.Sprintf("%.0f", theirs),
			Band: experiment.AtLeast(least, "demands are made up"), Why: "demands are made up"}))
	}
	less := func(policy string, of func(GLAPRun) float64) compared {
		return func(c map[string]GLAPCell, seed int) float64 {
			return gain(of(c[hosts.GLAP].Runs[seed]), of(c[policy].Runs[seed]))
		}
	}
	for _, p := range []struct {
		policy string
		least  float64
	}{{hosts.EcoCloud, 20}, {hosts.PABFD, 40}, {hosts.GRMP, 40}} {
		add("hosts.overloaded_gain_pct."+p.policy, "%", "machines overloaded, less than under "+p.policy,
			theirGain[p.policy][0], p.least, less(p.policy, func(r GLAPRun) float64 { return r.Overloaded }), false)
	}
	for _, policy := range slavOrder[1:] {
		add("hosts.migrations_gain_pct."+policy, "%", "moves, less than under "+policy, theirGain[policy][1], 0,
			less(policy, func(r GLAPRun) float64 { return r.Moves }), false)
	}
	add("hosts.slav_order_cells", "cells", "SLAV: glap, ecocloud, pabfd, grmp from the least on", 9, 7,
		func(c map[string]GLAPCell, seed int) float64 {
			if slices.IsSortedFunc(slavOrder, func(a, b string) int { // That an equal one is no better makes it unsorted.
				if c[a].Runs[seed].SLAV <= c[b].Runs[seed].SLAV {
					return -1
				}
				return 1
			}) {
				return 1
			}
			return 0
		}, true)
	add("hosts.similarity_pct", "%", "likeness of the tables when they have been averaged", theirAveraged, 99,
		func(c map[string]GLAPCell, seed int) float64 { return last(c[hosts.GLAP].Runs[seed].Similarity) }, false)
	return all
}

// gain is how much less ours is than theirs, in percent of theirs; -100 where it is twice as much or
// more, for theirs may be 0.
func gain(ours, theirs float64) float64 {
	if ours >= 2*theirs {
		if ours == 0 {
			return 0
		}
		return -100
	}
	return 100 * (1 - ours/theirs)
}

func last(v []float64) float64 { return v[len(v)-1] }

// glapRows are cells as text, the heading first: means over the seeds, the source's in brackets.
func glapRows(cells []GLAPCell) [][]string {
	rows := [][]string{{"MACHINES-RATIO", "POLICY", "ACTIVE", "BEST FIT", "OVERLOADED", "10 % TO 90 %", "MOVES", "SLAV",
		"ENERGY"}}
	for _, c := range cells {
		slav := fmt.Sprintf("%.2g", c.over(func(r GLAPRun) float64 { return r.SLAV }))
		size, ratio := slices.Index([]int{500, 1000, 2000}, c.Machines), c.Ratio-2
		if size >= 0 && c.World == "" {
			slav += fmt.Sprintf(" (%.2g)", theirSLAV[c.Policy][3*size+ratio])
		}
		number := func(format string, of func(GLAPRun) float64) string { return fmt.Sprintf(format, c.over(of)) }
		share := func(i int) string { return number("%.1f", func(r GLAPRun) float64 { return r.Share[i] }) }
		rows = append(rows, []string{c.name(), c.Policy, number("%.0f", func(r GLAPRun) float64 { return r.Active }),
			number("%.0f", func(r GLAPRun) float64 { return r.Fit }),
			fmt.Sprintf("%s %% (%.0f %%)", share(0), theirShare[c.Policy]), share(1) + " to " + share(2) + " %",
			number("%.0f", func(r GLAPRun) float64 { return r.Moves }), slav,
			number("%.1f kJ", func(r GLAPRun) float64 { return r.Kilojoules })})
	}
	return rows
}

// learningRows are cells of glapLearning as text, the heading first.
func learningRows(cells []GLAPCell) [][]string {
	rows := [][]string{{"MACHINES-RATIO", "LEARNT ALONE", "5 ROUNDS", "10 ROUNDS", "20 ROUNDS", "IN THE END"}}
	for _, c := range cells {
		at := func(round int) string {
			of := func(r GLAPRun) float64 { return r.Similarity[min(round, len(r.Similarity)-1)] }
			return fmt.Sprintf("%.1f %%", c.over(of))
		}
		end := fmt.Sprintf("%.2f %% (%.0f %%)", c.over(func(r GLAPRun) float64 { return last(r.Similarity) }), theirAveraged)
		rows = append(rows, []string{c.name(), fmt.Sprintf("%s (%.0f %%)", at(0), theirAlone), at(5), at(10), at(20), end})
	}
	return rows
}

// drawLearning plots how alike the tables become: one file for each name, whose end says the form.
func drawLearning(title string, cells []GLAPCell, files []string) (fault error) {
	p := chart.New(title, "rounds of averaging", "similarity, %")
	for hue, c := range cells {
		var line []chart.XY
		for round, s := range c.Runs[0].Similarity {
			line = append(line, chart.XY{X: float64(round), Y: s})
		}
		fault = errors.Join(fault, p.Line(line, hue, c.name(), false))
	}
	p.Room()
	return errors.Join(fault, chart.Save(16, files, p))
}

// drawOverloaded plots the part of the machines that is overloaded.
func drawOverloaded(title string, cells []GLAPCell, files []string) (fault error) {
	p := chart.New(title, "", "machines overloaded, %")
	var names []string
	for hue, policy := range slavOrder {
		var dots []chart.XY
		for _, c := range cells {
			if !slices.Contains(names, c.name()) {
				names = append(names, c.name())
			}
			if c.Policy == policy {
				x := float64(slices.Index(names, c.name()))
				dots = append(dots, chart.XY{X: x, Y: c.over(func(r GLAPRun) float64 { return r.Share[0] })})
			}
		}
		fault = errors.Join(fault, p.Dots(dots, hue, policy))
	}
	p.Names(names...)
	p.Room()
	return errors.Join(fault, chart.Save(16, files, p))
}
