package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A description that cannot be is refused in one line with the field and the rule, before anything goes anywhere: with exit code 66 where
// a file is missing. Files are where the description is.
func TestDescriptionsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	w.fakeSpark(t, "exit 0")
	for text, want := range map[string]string{
		"main: a\ncomponents: [{name: a, memory: 1g, command: [x], files: [none.txt]}]": "66 components[0]: files: stat DIR/none.txt: no such file",
		"main: a\ncomponents: [{name: a, memory: x, command: [x], files: [none.txt]}]":  `66 components[0]: memory "x": want a size such as 512m or 2g; components[0]: files: `,
		"spark: {submit: [none.py]}":                                                                      "66 the application: stat DIR/none.py: no such file",
		"spark: {submit: [--py-files, none.py, app.yaml]}":                                                "66 --py-files: stat DIR/none.py: no such file",
		"spark: {submit: [--properties-file, none.conf, app.yaml]}":                                       "66 --properties-file: open DIR/none.conf: no such file",
		"spark: {submit: [--deploy-mode, client, app.py]}":                                                "64 spark: submit: --master and --deploy-mode: want none",
		"spark: {submit: [--master, yarn, --conf, spark.pacer.planner=a:1, app.py]}":                      "64 spark: submit: --master and --deploy-mode: want none",
		"main: a\ncomponents: [{name: a, memory: 1g, command: ['{{hosts \"b\"}}']}]":                      `64 components[0]: command "{{hosts \"b\"}}": no component of the class core with a port has the name "b"`,
		"spark: {submit: [app.py, '{{hosts \"b\"}}']}\ncomponents: [{name: a, memory: 1g, command: [x]}]": `64 spark: command "{{hosts \"b\"}}": no component of the class core`,
	} {
		path := write(t, text)
		code, want, _ := strings.Cut(strings.ReplaceAll(want, "DIR", filepath.Dir(path)), " ")
		n, err := strconv.Atoi(code)
		if err != nil {
			t.Fatal(err)
		}
		w.run(t, "submit", path).wantLine(t, n, want)
	}
	w.run(t, "submit", filepath.Join(t.TempDir(), "app.yaml")).wantLine(t, command.ExitNoInput, "description: open ")
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.verbs) != 0 {
		t.Errorf("the planner was asked %v", f.verbs)
	}
}

// The example of the documents is a description, with its defaults and its files.
func TestTheExampleIsADescription(t *testing.T) {
	d, to, err := readDescription("../docs/examples/parameters/app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := to.group.Components
	if to.name != "parameters" || d.Deadline != "10m" || to.group.Main != "chief" || to.main() != "chief-0" || len(c) != 3 ||
		c[0].Class != api.ComponentCore || c[0].Memory != 128*units.MiB || c[1].Members() != 3 || c[2].Port != 17700 {
		t.Errorf("it is %+v, %+v", d, to.group)
	}
	if f := c[2].Files; len(f) != 1 || f[0].Name != "parameters.py" || !api.ValidDigest(f[0].SHA256) || len(to.files[2].sources) != 1 {
		t.Errorf("its files are %+v", f)
	}
}

// All that is wrong with a description is said at once, on one line, with the field and the rule.
func TestFaultsOfDescriptions(t *testing.T) {
	_, _, err := readDescription(write(t, `
deadline: 90
class: fast
main: nobody
componets: []
components:
  - {name: a, count: 0, memory: much, command: ['{{hosts "b"}}'], files: [not-there.txt], port: 22}
  - {name: b, memory: 1g, command: ['{{env "HOME"}}']}
`))
	for _, want := range []string{`deadline: "90" has no unit`, `class "fast": want one of`, `main "nobody" is the name of no component`,
		"field componets not found", "components[0]: count is 0, want 1 or more", `components[0]: memory "much": want a size`, "not-there.txt: no such file",
		"components[0]: port 22: want 1024 to 65535", `components[0]: command "{{hosts \"b\"}}": no component of the class core with a port has the name "b"`,
		`components[1]: command "{{env \"HOME\"}}": want {{hosts "NAME"}}, {{index}} or {{count "NAME"}}`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
	if _, _, err := readDescription(write(t, "name: x")); err == nil || !strings.Contains(err.Error(), "components: there is none") {
		t.Errorf("an empty one: %v", err)
	}
	if _, to, err := readDescription(write(t, "spark: {submit: [app.py, 3]}")); err != nil || to.group != nil || to.name != "app" {
		t.Errorf("Spark alone: %+v, %v", to, err)
	}
	if _, _, err := readDescription(write(t, "main: a\nspark: {submit: [app.py]}\ncomponents: [{name: a, memory: 1g, command: [x]}]")); err == nil || !strings.Contains(err.Error(), `main is "a"`) {
		t.Errorf("Spark that ends with another program: %v", err)
	}
}
