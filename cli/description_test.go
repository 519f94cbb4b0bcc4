package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
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
		"field componets not found", "components[0]: count is 0, want 1 or more", `components[0]: memory "much": want a size`, "not-there.txt is not there",
		"components[0]: port 22: want 1024 to 65535", `components[0]: command "{{hosts \"b\"}}": no component of the class core with a port has the name "b"`,
		`components[1]: command "{{env \"HOME\"}}": want {{hosts "NAME"}}, {{index}} or {{count "NAME"}}`} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
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
