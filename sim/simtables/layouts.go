package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/paper"
	"github.com/sparkpacer/pacer/supervisor"
)

// layout makes a table of what the experiments of a region gave.
type layout func(region, []paper.Cell) ([][]string, error)

// layouts is where a layout is entered. The first row of each is its heading.
func layouts() map[string]layout {
	return map[string]layout{"workloads": workloads, "cases": cases, "exits": exits, "slacks": slacks,
		"strategies": strategies, "scores": scores, "readings": readings, "effects": effects}
}

// render runs a region's experiments and returns what goes between its marks.
func render(r region) (string, error) {
	if !r.ofCells() {
		t, err := r.experiments[0].Run(experiment.Options{Seeds: r.seeds, Workers: r.workers, Jobs: r.jobs})
		body, shown := "", t.Shown
		if shown == nil {
			shown = t.Rows
		}
		for _, rows := range shown {
			body += experiment.Markdown(rows)
		}
		if r.seeds > 1 { // With one, nothing is drawn.
			body += fmt.Sprintf("\n%d seeds.\n", r.seeds)
		}
		return body + "\n", err
	}
	cells, err := run(r)
	if err != nil {
		return "", err
	}
	rows, err := layouts()[r.layout](r, cells)
	if err != nil {
		return "", err
	}
	runs, late := count(cells)
	return fmt.Sprintf("%s\n%d seeds, %d runs, %d of them late.\n\n", experiment.Markdown(rows), r.seeds, runs, late), nil
}

// run runs the experiments of a region.
func run(r region) ([]paper.Cell, error) {
	var cells []paper.Cell
	for _, law := range r.laws {
		for _, e := range r.experiments {
			t, err := e.Run(experiment.Options{Laws: []string{law}, Seeds: r.seeds})
			if err != nil {
				return nil, err
			}
			cells = append(cells, t.Cells.([]paper.Cell)...)
		}
	}
	return cells, nil
}

func count(cells []paper.Cell) (runs, late int) {
	for _, c := range cells {
		runs += len(c.Runs)
		late += c.Late
	}
	return runs, late
}

func percent(v float64) string { return fmt.Sprintf("%+.2f %%", v) }

// beside is a figure of the paper in brackets, "" if it has none.
func beside(v *float64) string {
	if v == nil {
		return ""
	}
	return " (" + percent(*v) + ")"
}

func lateOf(cells ...paper.Cell) string {
	runs, late := count(cells)
	return fmt.Sprintf("%d/%d", late, runs)
}

// workloads has a workload a row and a slack a column.
func workloads(r region, cells []paper.Cell) ([][]string, error) {
	rows := [][]string{{"law", "workload"}}
	for _, c := range cells {
		workload, slack, found := strings.Cut(c.Case, " +")
		if !found {
			return nil, fmt.Errorf("the case %q of %v is no workload with a slack", c.Case, experiment.Names(r.experiments))
		}
		if slack = "+" + strings.Replace(slack, "%", " %", 1); !slices.Contains(rows[0], slack) {
			rows[0] = append(rows[0], slack)
		}
		if last := rows[len(rows)-1]; last[0] != "`"+c.Law+"`" || last[1] != workload {
			rows = append(rows, []string{"`" + c.Law + "`", workload})
		}
		last := &rows[len(rows)-1]
		*last = append(*last, fmt.Sprintf("%s%s [%s, %s] %s", percent(c.Error), beside(c.Paper), percent(c.Least),
			percent(c.Most), lateOf(c)))
	}
	return rows, nil
}

// cases has a case a row.
func cases(_ region, cells []paper.Cell) ([][]string, error) {
	rows := [][]string{{"law", "case", "mean", "range", "late", "core-seconds"}}
	for _, c := range cells {
		rows = append(rows, []string{"`" + c.Law + "`", c.Case, percent(c.Error) + beside(c.Paper), percent(c.Least) +
			" to " + percent(c.Most),
			lateOf(c), fmt.Sprintf("%.2fx", c.CoreRatio)})
	}
	return rows, nil
}

// exits has a case a row, with the errors at the exit and at the context's stop.
func exits(_ region, cells []paper.Cell) ([][]string, error) {
	rows := [][]string{{"law", "case", "at the exit", "range", "late", "at the stop"}}
	for _, c := range cells {
		rows = append(rows, []string{"`" + c.Law + "`", c.Case, percent(c.Error), percent(c.Least) + " to " + percent(c.Most),
			lateOf(c), percent(c.StopError)})
	}
	return rows, nil
}

// slacks has a law and a slack a row, over all workloads.
func slacks(r region, cells []paper.Cell) ([][]string, error) {
	rows := [][]string{{"law", "slack", "means of the workloads", "all runs", "late"}}
	for _, law := range r.laws {
		for _, slack := range []string{"+0%", "+20%", "+40%"} {
			var of []paper.Cell
			mean, all := [2]float64{math.Inf(1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(-1)}
			for _, c := range cells {
				if c.Law == law && strings.HasSuffix(c.Case, " "+slack) {
					of = append(of, c)
					mean = [2]float64{min(mean[0], c.Error), max(mean[1], c.Error)}
					all = [2]float64{min(all[0], c.Least), max(all[1], c.Most)}
				}
			}
			if len(of) == 0 {
				return nil, fmt.Errorf("no case of %v has the slack %s", experiment.Names(r.experiments), slack)
			}
			rows = append(rows, []string{"`" + law + "`", strings.Replace(slack, "%", " %", 1), percent(mean[0]) + " to " +
				percent(mean[1]),
				percent(all[0]) + " to " + percent(all[1]), lateOf(of...)})
		}
	}
	return rows, nil
}

// composites are the benchmarks of several applications.
var composites = []string{"bench1", "bench2", "bench3"}

// strategies has a strategy and a gamma a row: the mean of |eps_a| in each benchmark
// and how many were late, law by law.
func strategies(r region, cells []paper.Cell) ([][]string, error) {
	rows := [][]string{{"strategy, gamma"}}
	for _, law := range r.laws {
		for i := range composites {
			rows[0] = append(rows[0], fmt.Sprintf("`%s` %d", law, i+1))
		}
	}
	for _, strategy := range supervisor.Strategies() {
		for gamma := range 2 {
			row := []string{fmt.Sprintf("%s, %d", strategy, gamma)}
			for _, law := range r.laws {
				for _, b := range composites {
					c, err := cell(cells, law, fmt.Sprintf("%s %s g=%d", b, strategy, gamma))
					if err != nil {
						return nil, err
					}
					row = append(row, fmt.Sprintf("%.1f%s %s", c.Error, bare(c.Paper), lateOf(c)))
				}
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// scores has a strategy and a gamma a row, with what strategies are ordered by, the best one
// of each gamma first.
func scores(_ region, cells []paper.Cell) ([][]string, error) {
	rows := [][]string{{"gamma", "strategy", "late", "mean lateness", "mean error", "mean core-seconds"}}
	for gamma := range 2 {
		type scored struct {
			strategy string
			paper.Score
		}
		var all []scored
		for _, name := range supervisor.Strategies() {
			all = append(all, scored{name, paper.ScoreOf(cells, name, gamma)})
		}
		slices.SortStableFunc(all, func(a, b scored) int { return a.Compare(b.Score) })
		for _, s := range all {
			if s.Runs == 0 {
				return nil, fmt.Errorf("no run under %s with gamma %d", s.strategy, gamma)
			}
			rows = append(rows, []string{fmt.Sprint(gamma), s.strategy, fmt.Sprintf("%d/%d", s.Late, s.Runs),
				fmt.Sprintf("%.2f s", s.Lateness),
				fmt.Sprintf("%.2f %%", s.Error), fmt.Sprintf("%.0f", s.CoreSeconds)})
		}
	}
	return rows, nil
}

// effects has a rule of life beside others a row.
func effects(r region, cells []paper.Cell) ([][]string, error) {
	return paper.EffectRows(cells, r.seeds), nil
}

func bare(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(" (%.1f)", *v)
}

func cell(cells []paper.Cell, law, name string) (paper.Cell, error) {
	for _, c := range cells {
		if c.Law == law && c.Case == name {
			return c, nil
		}
	}
	return paper.Cell{}, fmt.Errorf("no case %q under %s", name, law)
}

// readings has Benchmark 2 with gamma 1, a law and a reading of Eq 21 a row.
func readings(r region, cells []paper.Cell) ([][]string, error) {
	source := []string{"", "the paper"}
	var rows [][]string
	for _, law := range r.laws {
		for _, reading := range supervisor.Eq21Readings() {
			row := []string{"`" + law + "`", reading}
			for _, strategy := range supervisor.Strategies() {
				c, err := cell(cells, law, fmt.Sprintf("bench2 %s g=1 %s", strategy, reading))
				if err != nil {
					return nil, err
				}
				row = append(row, fmt.Sprintf("%.1f", c.Error))
				if len(source) < 2+len(supervisor.Strategies()) {
					source = append(source, strings.Trim(bare(c.Paper), " ()"))
				}
			}
			rows = append(rows, row)
		}
	}
	heading := append([]string{"law", "Eq 21"}, supervisor.Strategies()...)
	return append([][]string{heading, source}, rows...), nil
}
