package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/sparkpacer/pacer/cli"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/infra/metrics"
)

var rewrite = flag.Bool("rewrite", false, "make the blocks of docs/reference again")

// blocks are the parts of docs/reference that are made from code, by the name in the mark before them.
var blocks = map[string]func(t *testing.T) string{
	"commands":   func(*testing.T) string { return commands() },
	"exit codes": exitCodes,
	"metrics of both": func(t *testing.T) string {
		return series(t, func(r prometheus.Registerer) error {
			none := func() (time.Time, error) { return time.Time{}, nil }
			return errors.Join(metrics.Build(r, "0"), metrics.Certificate(r, none))
		})
	},
	"metrics of a planner": func(t *testing.T) string {
		return series(t, func(r prometheus.Registerer) error {
			_, err := metrics.NewPlanner(r, func() (metrics.View, error) { return metrics.View{}, nil })
			return err
		})
	},
	"metrics of a node": func(t *testing.T) string {
		return series(t, func(r prometheus.Registerer) error { _, err := metrics.NewNode(r); return err })
	},
	"API": operations,
}

// TestTheReferenceIsThisCodes holds that each block is in a page, as the code has it.
func TestTheReferenceIsThisCodes(t *testing.T) {
	mark := regexp.MustCompile(`(?s)(<!-- made from code: ([^\n]*) -->\n)(.*?)(<!-- end -->)`)
	pages, err := filepath.Glob("../../docs/reference/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, page := range pages {
		is, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		want := mark.ReplaceAllStringFunc(string(is), func(block string) string {
			parts := mark.FindStringSubmatch(block)
			made := blocks[parts[2]]
			if made == nil || seen[parts[2]] {
				t.Fatalf("%s: block %q is unknown, or there twice", page, parts[2])
			}
			seen[parts[2]] = true
			return parts[1] + "\n" + made(t) + "\n" + parts[4]
		})
		switch d := cmp.Diff(want, string(is)); {
		case d == "":
		case *rewrite:
			if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is not as the code has it, `go test ./test/pages -rewrite` makes it so:\n%s", page, d)
		}
	}
	if len(seen) != len(blocks) {
		t.Errorf("the pages have %d of %d blocks: %v", len(seen), len(blocks), seen)
	}
}

// commands are those that a user can give, with their help.
func commands() string {
	var out strings.Builder
	var tell func(c *cobra.Command)
	tell = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		if c.Runnable() {
			long := c.Long
			if long == "" {
				long = c.Short + "."
			}
			fmt.Fprintf(&out, "## %s\n\n```\n%s\n\n%s\n", c.CommandPath(), strings.TrimSpace(long), c.UseLine())
			if flags := c.LocalNonPersistentFlags().FlagUsages(); flags != "" {
				fmt.Fprintf(&out, "%s", flags)
			}
			if c.Example != "" {
				fmt.Fprintf(&out, "\n%s\n", c.Example)
			}
			out.WriteString("```\n\n")
		}
		for _, sub := range c.Commands() {
			tell(sub)
		}
	}
	for _, c := range append([]*cobra.Command{cli.Program()}, command.Daemons()...) {
		tell(c)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// table is a table of Markdown.
func table(head []string, rows [][]string) string {
	var out strings.Builder
	line := func(cells []string) { fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	line(slices.Repeat([]string{"---"}, len(head)))
	for _, row := range rows {
		for i := range row {
			row[i] = strings.ReplaceAll(strings.Join(strings.Fields(row[i]), " "), "|", `\|`)
		}
		line(row)
	}
	return out.String()
}

// exitCodes are the constants Exit... with what is said of them.
func exitCodes(t *testing.T) string {
	file, err := parser.ParseFile(token.NewFileSet(), "../../cli/command/exit.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Exit") {
			return true
		}
		name, code := spec.Names[0].Name, spec.Values[0].(*ast.BasicLit).Value
		means := regexp.MustCompile(`^`+name+` (is |plus )`).ReplaceAllString(spec.Doc.Text(), "")
		if name == "ExitSignal" {
			code, means = code+" + N", "N: "+means
		}
		rows = append(rows, []string{code, means})
		return true
	})
	if len(rows) < 8 {
		t.Fatalf("exit.go has %d exit codes only", len(rows))
	}
	return table([]string{"code", "meaning"}, rows)
}

// described notes what is registered, in the place of a registry.
type described struct{ found []string }

func (d *described) Register(c prometheus.Collector) error {
	all := make(chan *prometheus.Desc)
	go func() { c.Describe(all); close(all) }()
	for desc := range all {
		d.found = append(d.found, desc.String())
	}
	return nil
}

func (d *described) MustRegister(...prometheus.Collector) {}
func (d *described) Unregister(prometheus.Collector) bool { return false }

// series are the metrics that a daemon registers.
func series(t *testing.T, register func(prometheus.Registerer) error) string {
	d := &described{}
	if err := register(d); err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`^Desc\{fqName: "([^"]*)", help: ("(?:[^"\\]|\\.)*"), (?:unit: "[^"]*", )?constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}\}$`)
	var rows [][]string
	for _, text := range d.found {
		if !strings.Contains(text, `fqName: "pacer_`) {
			continue // Of the Go runtime.
		}
		parts := form.FindStringSubmatch(text)
		if parts == nil {
			t.Fatalf("no description of a metric: %s", text)
		}
		help, err := strconv.Unquote(parts[2])
		if err != nil {
			t.Fatal(err)
		}
		var labels []string
		for _, label := range regexp.MustCompile(`\w+(="[^"]*")?`).FindAllString(parts[3]+","+parts[4], -1) {
			name, _, _ := strings.Cut(label, "=")
			labels = append(labels, "`"+name+"`")
		}
		rows = append(rows, []string{"`" + parts[1] + "`", strings.Join(labels, ", "), help})
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return table([]string{"metric", "labels", "meaning"}, rows)
}

// operations are those of the API, as web/openapi.yaml describes them.
func operations(t *testing.T) string {
	body, err := os.ReadFile("../../web/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type parameter struct{ Name, In, Description string }
	var doc struct {
		Paths yaml.Node
	}
	if err := yaml.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for i := 0; i+1 < len(doc.Paths.Content); i += 2 {
		path, methods := doc.Paths.Content[i].Value, doc.Paths.Content[i+1].Content
		for k := 0; k+1 < len(methods); k += 2 {
			if methods[k].Kind != yaml.ScalarNode || methods[k].Value == "parameters" {
				continue
			}
			var o struct {
				Summary    string
				Parameters []parameter
			}
			if err := methods[k+1].Decode(&o); err != nil {
				t.Fatalf("%s %s: %v", methods[k].Value, path, err)
			}
			var asks []string
			for _, p := range o.Parameters {
				if p.In == "query" {
					asks = append(asks, "`"+p.Name+"`: "+p.Description)
				}
			}
			rows = append(rows, []string{"`" + strings.ToUpper(methods[k].Value) + " " + path + "`", o.Summary, strings.Join(asks, ". ")})
		}
	}
	return table([]string{"request", "answer", "parameters"}, rows)
}

// settings have no row in docs/configuration.md, with the reason.
var unsaid = map[string]string{
	"spark.pacer.attached": "a driver sets it for the executors of an attached application",
}

// TestEveryKeyAndSettingIsDocumented counts the keys of the configuration and the settings of an application that
// docs/configuration.md has a row of: docs.keys_documented_pct. It has no row of another one.
func TestEveryKeyAndSettingIsDocumented(t *testing.T) {
	read := func(path, pattern string) (found []string) {
		t.Helper()
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(body), -1) {
			found = append(found, m[1])
		}
		return found
	}
	const key = `((?:client|log|planner|node)\.[a-z-]+|spark\.pacer\.[A-Za-z.]+)`
	code := slices.Concat(read("../../cli/config/table.go", `(?m)^\t\{"`+key+`"`),
		read("../../spark/src/main/scala/org/apache/spark/pacer/PacerConf.scala", `(?m)^  val \w+ = "`+key+`"`))
	rows := read("../../docs/configuration.md", "(?m)^\\| `"+key+"` \\|")
	code = slices.DeleteFunc(code, func(name string) bool { return unsaid[name] != "" })
	if len(code) < 90 {
		t.Fatalf("the code has %d keys and settings only", len(code))
	}
	told := 0
	for _, name := range code {
		if slices.Contains(rows, name) {
			told++
		} else {
			t.Errorf("docs/configuration.md has no row of %s", name)
		}
	}
	for _, name := range rows {
		if !slices.Contains(code, name) {
			t.Errorf("docs/configuration.md has a row of %s, which nothing reads", name)
		}
	}
	fmt.Printf("docs.keys_documented_pct %d\n", 100*told/len(code))
}
