package browser

import (
	"encoding/json"
	"os"
	"strconv"
)

// AxeEnv names the file of axe-core, as scripts/browser.sh has fetched it.
const AxeEnv = "PACER_AXE"

// Fault is what axe-core finds wrong: the rule, how grave it is, and where.
type Fault struct {
	Rule   string   `json:"rule"`
	Impact string   `json:"impact"`
	Where  []string `json:"where"`
}

// Serious are the faults of what the page shows that axe-core calls serious or critical.
func (b *Tab) Serious() []Fault {
	b.t.Helper()
	source, err := os.ReadFile(os.Getenv(AxeEnv))
	if err != nil {
		b.t.Fatalf("%s names no axe-core (make web-test sets it): %v", AxeEnv, err)
	}
	Eval[any](b, string(source)+"; null")
	found := Eval[[]Fault](b, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) =>
		({rule: v.id, impact: v.impact, where: v.nodes.map((n) => n.target.join(" ") + ": " + n.failureSummary)})))`)
	var grave []Fault
	for _, f := range found {
		if f.Impact == "serious" || f.Impact == "critical" {
			grave = append(grave, f)
		}
	}
	return grave
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // A string has a form in JSON.
	return string(b)
}

func number(n int) string { return strconv.Itoa(n) }
