package paper

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/infra/chart"
)

// draw writes the errors of cells as a plot, one file for each name; the name's end
// says the form (png, svg, pdf). Dots are the laws' runs, crosses the source's figures.
// Of cases with several applications a dot is the mean of their |error|.
func draw(title string, cells []Cell, files []string) error {
	p := chart.New(title, "", "error, % of the deadline (below 0: late)")
	var names []string
	for _, c := range cells {
		if !slices.Contains(names, c.Case) {
			names = append(names, c.Case)
		}
	}
	var order []string
	laws, paper := map[string][]chart.XY{}, []chart.XY{}
	for _, c := range cells {
		if !slices.Contains(order, c.Law) {
			order = append(order, c.Law)
		}
		at := float64(slices.Index(names, c.Case))
		shifted := at + 0.14*float64(slices.Index(order, c.Law)+1)
		if c.several {
			p.Label("mean of |error|, % of the deadline")
			laws[c.Law] = append(laws[c.Law], chart.XY{X: shifted, Y: c.Error})
		} else {
			for _, r := range c.Runs {
				laws[c.Law] = append(laws[c.Law], chart.XY{X: shifted, Y: r.Error})
			}
		}
		if c.Paper != nil && c.Law == order[0] {
			paper = append(paper, chart.XY{X: at - 0.14, Y: *c.Paper})
		}
	}
	fault := p.Line([]chart.XY{{X: -0.5, Y: 0}, {X: float64(len(names)) - 0.5, Y: 0}}, chart.Grey, "", false)
	for i, law := range order {
		fault = errors.Join(fault, p.Dots(laws[law], i, law))
	}
	fault = errors.Join(fault, p.Crosses(paper, chart.Black, "paper"))
	if fault != nil {
		return fmt.Errorf("draw %s: %w", title, fault)
	}
	p.Names(names...)
	p.Room()
	return chart.Save(max(16, 1.2*float64(len(names))), files, p)
}

// rows are cells as text, the heading first; columns of the source are in brackets.
func rows(cells []Cell) [][]string {
	rows := [][]string{{"LAW", "CASE", "ERROR", "(PAPER)", "FROM", "TO", "LATE", "STAGES", "(PAPER)", "CORES", "(PAPER)",
		"CORE-S", "QUOTAS", "VARIATION"}}
	paper := func(format string, v *float64) string {
		if v == nil {
			return "-"
		}
		return "(" + fmt.Sprintf(format, *v) + ")"
	}
	for _, c := range cells {
		ratio := "-" // Where no run at all cores is beside it.
		if c.CoreRatio > 0 {
			ratio = fmt.Sprintf("%.2fx", c.CoreRatio)
		}
		rows = append(rows, []string{c.Law, c.Case, fmt.Sprintf("%+.2f%%", c.Error), paper("%+.2f%%", c.Paper),
			fmt.Sprintf("%+.2f%%", c.Least),
			fmt.Sprintf("%+.2f%%", c.Most), fmt.Sprintf("%d/%d", c.Late, len(c.Runs)), fmt.Sprintf("%.2f%%", c.StageError),
			paper("%.2f%%", c.PaperStage),
			fmt.Sprintf("%.1f", c.MeanCores), paper("%.1f", c.PaperCores), ratio, fmt.Sprintf("%.0f", c.Changes),
			fmt.Sprintf("%.1f", c.Variation)})
	}
	return rows
}
