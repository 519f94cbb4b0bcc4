package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

// output is the -o flag: "table" or "json".
type output string

// String, Set and Type make it a flag value.
func (o *output) String() string { return string(*o) }

// Set refuses what is not a known form.
func (o *output) Set(s string) error {
	if s != "table" && s != "json" {
		return fmt.Errorf("%q: want table or json", s)
	}
	*o = output(s)
	return nil
}

// Type names the value in the help text.
func (o *output) Type() string { return "table|json" }

// outputFlag adds -o to c.
func outputFlag(c *cobra.Command) *output {
	o := output("table")
	c.Flags().VarP(&o, "output", "o", "form of the output")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"},
		cobra.ShellCompDirectiveNoFileComp))
	return &o
}

// printJSON writes v indented, a nil slice as an empty array.
func printJSON(w io.Writer, v any) error {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the output: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", body)
	return err
}

// table writes rows under a heading in aligned columns.
func table(w io.Writer, heading []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(heading, "\t"))
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(t, "\t")
			}
			fmt.Fprint(t, command.Visible(cell))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// fields writes names and values in two columns, leaving out empty values.
func fields(w io.Writer, pairs ...string) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" && pairs[i+1] != "-" {
			fmt.Fprintf(t, "%s:\t%s\n", pairs[i], command.Visible(pairs[i+1]))
		}
	}
	return t.Flush()
}

// seconds prints a duration for a table, "-" for none.
func seconds(s units.Seconds) string {
	if s == 0 {
		return "-"
	}
	if s >= manyHours {
		return fmt.Sprintf("%dh%02dm", int(s)/3600, int(s)%3600/60)
	}
	return fmt.Sprintf("%.1fs", float64(s))
}

// manyHours is from when on a time is printed in hours and minutes.
const manyHours units.Seconds = 10 * 3600

// percent prints an error of Eq 4 or 5, "-" when it is not known.
func percent(p *float64) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%+.1f%%", *p)
}

func list[T ~string](items []T) string {
	texts := make([]string, len(items))
	for i, s := range items {
		texts[i] = string(s)
	}
	return strings.Join(texts, ",")
}

// figure prints what was measured, "-" where nothing was.
func figure[T ~float64](v T, decimals int) string {
	if v == 0 {
		return "-"
	}
	return strconv.FormatFloat(float64(v), 'f', decimals, 64)
}

// count prints a number of records, "-" where Spark has counted none.
func count(n int64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

// stageName shortens a stage's name to n characters, as in "collect at /…/day.py:12": what
// tells the stages of a program apart is at its end.
func stageName(name string, n int) string {
	if utf8.RuneCountInString(name) <= n {
		return name
	}
	head, tail := "", []rune(name)
	if slash := strings.IndexByte(name, '/'); slash >= 0 {
		head, tail = name[:slash+1], []rune(name[strings.LastIndexByte(name, '/'):])
	}
	tail = tail[max(0, len(tail)-n+1):]
	begin := []rune(head)
	return string(begin[:min(len(begin), n-1-len(tail))]) + "…" + string(tail)
}
