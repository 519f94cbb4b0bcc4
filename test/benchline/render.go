package benchline

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Goal bounds the figures whose names match a pattern of path.Match.
type Goal struct {
	Pattern string
	// Least and Most are the bounds, in the figures' unit.
	Least, Most float64
	// Text says them.
	Text string
}

// Met reports whether a figure meets the goal.
func (g Goal) Met(v float64) bool { return v >= g.Least && v <= g.Most }

// goalOf is the first of goals for a name.
func goalOf(goals []Goal, name string) (Goal, bool) {
	for _, g := range goals {
		if ok, err := path.Match(g.Pattern, name); err == nil && ok {
			return g, true
		}
	}
	return Goal{}, false
}

// Table prints figures in columns.
func Table(w io.Writer, lines []Line, goals []Goal) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "FIGURE\tVALUE\tUNIT\tSPREAD\tN\tGOAL")
	for _, l := range lines {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\n", l.Name, number(l.Value), l.Unit, l.spread(), l.N, l.goal(goals))
	}
	return t.Flush()
}

// Render writes lines, which are in order of name, as Markdown, in a section for each
// first part of the names. Figures of other sources than those given are marked, and
// those of different places told apart.
func Render(w io.Writer, lines []Line, sources string, goals []Goal) error {
	out := bufio.NewWriter(w)
	var places []string
	for _, l := range lines {
		if p := l.Place(); !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	slices.Sort(places)
	fmt.Fprintf(out, `# Figures

Written by `+"`make figures`"+` from docs/figures.jsonl, which has the newest line of each figure; not to be edited.
The value stands with the least and the greatest of the n values it stands for. What a name means stands in
package bench.

The sources are %s. A date with † is that of a figure of other sources.
`, sources)
	if len(places) > 0 {
		fmt.Fprintln(out)
	}
	for i, p := range places {
		fmt.Fprintf(out, "- (%c) %s\n", letter(i), p)
	}
	section := ""
	for _, l := range lines {
		if s, _, _ := strings.Cut(l.Name, "."); s != section {
			section = s
			fmt.Fprintf(out,
				"\n## %s\n\n| figure | value | unit | spread | n | goal | date | commit | on "+
					"|\n|---|---|---|---|---|---|---|---|---|\n", s)
		}
		mark := ""
		if l.Sources != sources {
			mark = " †"
		}
		others := ""
		if l.Machines > 1 {
			others = fmt.Sprintf(" and %d more", l.Machines-1)
		}
		fmt.Fprintf(out, "| `%s` | %s | %s | %s | %d | %s | %s%s | %s | (%c)%s |\n", l.Name, number(l.Value), l.Unit,
			l.spread(), l.N, l.goal(goals),
			l.Date.UTC().Format("2006-01-02"), mark, l.Commit, letter(slices.Index(places, l.Place())), others)
	}
	return out.Flush()
}

func letter(i int) rune { return rune('a' + i%26) }

// spread is empty for a single value.
func (l Line) spread() string {
	if l.N == 1 {
		return ""
	}
	return number(l.Spread[0]) + " to " + number(l.Spread[1])
}

func (l Line) goal(goals []Goal) string {
	g, ok := goalOf(goals, l.Name)
	switch {
	case !ok:
		return ""
	case g.Met(l.Value):
		return g.Text + ": met"
	}
	return g.Text + ": **missed**"
}

// number has four digits, or all that stand before the point.
func number(v float64) string {
	if v >= 10_000 || v <= -10_000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// natural compares names by their parts, numbers among them by value.
func natural(a, b string) int {
	left, right := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(left), len(right)) {
		x, errX := strconv.Atoi(left[i])
		y, errY := strconv.Atoi(right[i])
		c := strings.Compare(left[i], right[i])
		if errX == nil && errY == nil {
			c = x - y
		}
		if c != 0 {
			return c
		}
	}
	return len(left) - len(right)
}
