package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Markdown is a table, whose first row is its heading, below an empty line.
func Markdown(rows [][]string) string {
	var b strings.Builder
	b.WriteString("\n")
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

// Beside is a number of ours, and the source's in brackets where it has one.
func Beside(ours, theirs string) string {
	if theirs == "" {
		return ours
	}
	return ours + " (" + theirs + ")"
}

// FigureRows are figures as text in that format, the heading first: what the source says in brackets, where ours is
// wanted, and then fields of the claim, of "CASE" and "MEASURE". Figures that are in the cells already are left out.
func FigureRows(figures []Figure, format string, more ...string) [][]string {
	rows := [][]string{append([]string{"FIGURE", "MEAN", "FROM", "TO", "WANTED"}, more...)}
	for _, f := range figures {
		if f.InCells {
			continue
		}
		row := []string{f.Name, Beside(fmt.Sprintf(format, f.Ours), f.Says), fmt.Sprintf(format, f.Least),
			fmt.Sprintf(format, f.Most), cmp.Or(f.Band.String(), "-")}
		for _, field := range more {
			row = append(row, map[string]string{"CASE": f.Case, "MEASURE": f.Measure}[field])
		}
		rows = append(rows, row)
	}
	return rows
}

// Mean is the mean of values, 0 of none.
func Mean[N int | float64](values []N) (m float64) {
	for _, v := range values {
		m += float64(v)
	}
	return m / float64(max(1, len(values)))
}

// Median is the median of values, of which there is one at least.
func Median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// Over is the mean of a figure of runs, 0 of none.
func Over[R any](runs []R, of func(R) float64) float64 { return Mean(Each(runs, of)) }

// Each is a figure of each run.
func Each[R any](runs []R, of func(R) float64) (values []float64) {
	for _, r := range runs {
		values = append(values, of(r))
	}
	return values
}
