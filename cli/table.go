package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

// output is the form in which a command prints: "table", "wide", "json" or "yaml".
type output string

// outputFlags is the -o flag, which takes forms.
type outputFlags struct {
	*output
	forms []string
}

// String, Set and Type make it a flag value.
func (o outputFlags) String() string { return string(*o.output) }

// Set refuses what is not a known form.
func (o outputFlags) Set(s string) error {
	if !slices.Contains(o.forms, s) {
		return fmt.Errorf("%q: want %s", s, strings.Join(o.forms, ", "))
	}
	*o.output = output(s)
	return nil
}

// Type names the values in the help text.
func (o outputFlags) Type() string { return strings.Join(o.forms, "|") }

// outputFlag adds -o to c: table, json and yaml, and more.
func outputFlag(c *cobra.Command, more ...string) *output {
	o := output("table")
	forms := append([]string{"table", "json", "yaml"}, more...)
	c.Flags().VarP(outputFlags{&o, forms}, "output", "o", "form of the output")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(forms, cobra.ShellCompDirectiveNoFileComp))
	return &o
}

// encodes reports whether programs read that form.
func (o output) encodes() bool { return o == "json" || o == "yaml" }

// shape is the version of what programs read: it changes where a field goes or means something else.
const shape = `{"v":1`

// print encodes v, an object with the version of its shape first.
func (o output) print(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the output: %w", err)
	}
	if rest, is := bytes.CutPrefix(body, []byte("{")); is && !bytes.HasPrefix(body, []byte(`{"v":`)) {
		head := shape
		if len(rest) > 1 {
			head += ","
		}
		body = append([]byte(head), rest...)
	}
	return o.encode(w, body)
}

// figures encodes what a simulation or a trial has found, which has no version.
func (o output) figures(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the output: %w", err)
	}
	return o.encode(w, body)
}

// encode prints JSON in that form.
func (o output) encode(w io.Writer, body []byte) error {
	if o == "yaml" {
		return printYAML(w, body)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		return fmt.Errorf("encode the output: %w", err)
	}
	_, err := fmt.Fprintf(w, "%s\n", out.Bytes())
	return err
}

// printYAML prints JSON as YAML, its fields in their order.
func printYAML(w io.Writer, body []byte) error {
	var node yaml.Node
	if err := yaml.Unmarshal(body, &node); err != nil {
		return fmt.Errorf("encode the output: %w", err)
	}
	var plain func(*yaml.Node)
	plain = func(n *yaml.Node) {
		n.Style = 0
		for _, c := range n.Content {
			plain(c)
		}
	}
	plain(&node)
	out, err := yaml.Marshal(&node)
	if err == nil {
		_, err = w.Write(out)
	}
	if err != nil {
		return fmt.Errorf("encode the output: %w", err)
	}
	return nil
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

// seconds prints a duration for a table as in "97.5s", "12m 5s" and "3h 0m", "-" for none.
func seconds(s units.Seconds) string {
	if s == 0 {
		return "-"
	}
	return span(s)
}

// span is a duration, 0 too.
func span(s units.Seconds) string {
	whole := int64(math.Round(float64(s)))
	switch {
	case s < 0:
		return "-" + span(-s)
	case s < 119.95:
		return fmt.Sprintf("%.1fs", float64(s))
	case whole < 3600:
		return fmt.Sprintf("%dm %ds", whole/60, whole%60)
	case whole < 100*3600:
		return fmt.Sprintf("%dh %dm", whole/3600, whole%3600/60)
	}
	return fmt.Sprintf("%dd %dh", whole/86400, whole%86400/3600)
}

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
