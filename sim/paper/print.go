package paper

import (
	"fmt"
)

// Heading names the columns of Rows; those of the source are in brackets.
func Heading() []string {
	return []string{"LAW", "CASE", "ERROR", "(PAPER)", "FROM", "TO", "LATE", "STAGES", "(PAPER)", "CORES", "(PAPER)", "CORE-S", "QUOTAS", "VARIATION"}
}

// Rows are the table's cells as text.
func (t Table) Rows() [][]string {
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
		rows = append(rows, []string{c.Law, c.Case, fmt.Sprintf("%+.2f%%", c.Error), paper("%+.2f%%", c.Paper), fmt.Sprintf("%+.2f%%", c.Least),
			fmt.Sprintf("%+.2f%%", c.Most), fmt.Sprintf("%d/%d", c.Late, len(c.Runs)), fmt.Sprintf("%.2f%%", c.StageError), paper("%.2f%%", c.PaperStage),
			fmt.Sprintf("%.1f", c.MeanCores), paper("%.1f", c.PaperCores), ratio, fmt.Sprintf("%.0f", c.Changes),
			fmt.Sprintf("%.1f", c.Variation)})
	}
	return rows
}
