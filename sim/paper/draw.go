package paper

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/infra/chart"
)

// Draw writes the table's errors as a plot, one file for each name; the name's end
// says the form (png, svg, pdf). Dots are the laws' runs, crosses the source's figures.
// Of cases with several applications a dot is the mean of their |error|.
func (t Table) Draw(files ...string) error {
	p := chart.New(t.Title, "", "error, % of the deadline (below 0: late)")
	names := t.cases()
	var order []string
	laws, paper := map[string][]chart.XY{}, []chart.XY{}
	for _, c := range t.Cells {
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
		return fmt.Errorf("draw %s: %w", t.Name, fault)
	}
	p.Names(names...)
	p.Room()
	return chart.Save(max(16, 1.2*float64(len(names))), files, p)
}

func (t Table) cases() []string {
	var names []string
	seen := map[string]bool{}
	for _, c := range t.Cells {
		if !seen[c.Case] {
			seen[c.Case] = true
			names = append(names, c.Case)
		}
	}
	return names
}

// Heading names the columns of Rows; those of the source are in brackets.
func (t Table) Heading() []string {
	if t.Name == ablated {
		return EffectRows(nil, 0)[0]
	}
	return []string{"LAW", "CASE", "ERROR", "(PAPER)", "FROM", "TO", "LATE", "STAGES", "(PAPER)", "CORES", "(PAPER)",
		"CORE-S", "QUOTAS", "VARIATION"}
}

// Rows are the table's cells as text.
func (t Table) Rows() [][]string {
	if t.Name == ablated {
		return EffectRows(t.Cells, t.seeds)[1:]
	}
	var rows [][]string
	paper := func(format string, v *float64) string {
		if v == nil {
			return "-"
		}
		return "(" + fmt.Sprintf(format, *v) + ")"
	}
	for _, c := range t.Cells {
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
