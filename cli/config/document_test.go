package config

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/units"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the table of docs/configuration.md but for what keys mean")

const document = "../../docs/configuration.md"

// machines are the defaults that are the machine's or the user's.
var machines = map[string]string{"node.name": "the machine's", "node.memory": "75 % of the machine's", "planner.state": "the user's", "node.state": "the user's"}

// row is what the document's table has of s before its meaning.
func (s setting) row(c *Config) string {
	v := s.value(c)
	is := fmt.Sprintf("`%v`", plain(v))
	if v == "" {
		is = ""
	}
	if what, ok := machines[s.key]; ok {
		is = what
	}
	unit := s.values.unit
	switch v.(type) {
	case time.Duration:
		unit = "time"
	case units.Bytes:
		unit = "size"
	case units.Cores:
		unit = "cores"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |", s.key, is, strings.TrimPrefix(unit+", "+s.values.text, ", "), s.effect)
}

// The document's table has the keys in their order with defaults, units, ranges and when another value
// holds, and a meaning of each; it names what became of the keys that are gone.
func TestTheDocumentHasTheTable(t *testing.T) {
	body, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	const head = "|---|---|---|---|---|\n"
	before, rest, _ := strings.Cut(string(body), head)
	is, after, _ := strings.Cut(rest, "\n\n")
	meanings := map[string]string{}
	for _, line := range strings.Split(is, "\n") {
		cells := regexp.MustCompile(` \| |^\| | \|$`).Split(line, -1)
		if len(cells) != 7 {
			t.Fatalf("%d cells: %s", len(cells), line)
		}
		meanings[cells[1]] = cells[5]
	}
	var want []string
	c := Default()
	for _, s := range settings {
		meaning := meanings["`"+s.key+"`"]
		if meaning == "" {
			t.Errorf("%s has no meaning", s.key)
		}
		want = append(want, s.row(&c)+" "+meaning+" |")
	}
	if *rewrite {
		if err := os.WriteFile(document, []byte(before+head+strings.Join(want, "\n")+"\n\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if d := cmp.Diff(want, strings.Split(is, "\n")); d != "" {
		t.Errorf("%s is not as the table of keys, -rewrite makes it so:\n%s", document, d)
	}
	_, old, _ := strings.Cut(after, "## Keys of earlier releases\n")
	old, _, _ = strings.Cut(old, "\n## ")
	old = strings.Join(strings.Fields(old), " ")
	for _, keys := range gone {
		for _, pair := range strings.Fields(keys) {
			if key, holds, _ := strings.Cut(pair, "="); !strings.Contains(old, "`"+key+"` "+holds) {
				t.Errorf("%s does not say among the keys of earlier releases: %s %s", document, key, holds)
			}
		}
	}
}

// The configuration that a package installs is one, and has the states where the units have them: a command of root,
// as `pacer auth init`, means the planner that its unit starts.
func TestThePackagesConfigurationIsTheUnits(t *testing.T) {
	c, err := Load(Sources{File: "../../deploy/packages/config.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	for unit, state := range map[string]string{"planner": "PACER_PLANNER_STATE=" + c.Planner.State,
		"node": "PACER_NODE_STATE=" + c.Node.State, "node-attached": "PACER_NODE_STATE=" + c.Node.State} {
		body, err := os.ReadFile("../../deploy/systemd/pacer-" + unit + ".service")
		if err != nil || !strings.Contains(string(body), state+" ") {
			t.Errorf("pacer-%s.service does not have %s: %v", unit, state, err)
		}
	}
}
