package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// plainColumns need no word more.
var plainColumns = []string{"ID", "NAME", "USER", "NODE", "HOST", "LOGIN", "TASKS", "JOB", "EXECUTORS", "VERSION", "RUNS", "FAILED", "KILLED", "REFUSED", "PROFILE",
	"PART", "TIME", "SHARE", "STATE", "DEADLINE", "START", "STAGE", "CORES", "SINCE"}

// The columns that a command prints, and the words that stand in them, are explained by its --help.
func TestColumnsAndWordsAreExplained(t *testing.T) {
	w := newWorld(t)
	apps := waiting()
	apps[0].Executors = []api.AppExecutor{{ID: "1", Node: "n1", State: api.ExecutorRunning}}
	apps[0].Stages = []api.AppStage{{Name: "read", State: "running"}}
	p := profile("etl")
	f := startPlanner(t, &fakePlanner{apps: apps, policy: served(), report: reported(), nodes: []api.NodeSummary{{Node: "n1", State: "ready"}}, profiles: []api.Profile{p},
		history: &api.ProfileHistory{Name: "etl", Versions: []api.ProfileVersion{{Number: 1}}}, knee: &api.Knee{Runs: []api.KneeRun{{Heap: 1}}},
		plan: api.PlanReply{V: api.Version, Verdict: api.VerdictFeasible, Stages: []api.PlanReplyLine{{Name: "read"}}}, why: map[api.AppID]*api.Why{"app-1": {App: "app-1", Parts: []api.WhyPart{{Part: "queued"}}}}})
	words := map[string][]string{
		"apps": {"queued", "running", "ending", "finished", "failed", "unknown", "refused", "paced", "recording", "observed", "released", "unpaced", "off", "feasible", "tight",
			"infeasible", "none"},
		"apps show":  {"starting", "running", "exited", "done", "failed", "gone", "coming"},
		"nodes":      {"ready", "lost", "left", "another's", "draining", "drained", "asleep"},
		"apps --all": nil, "apps -o wide": nil, "profiles list": nil, "profiles show etl -o table": nil, "profiles history etl": nil, "profiles knee etl": nil, "supervisor show": nil,
		"policy show": nil, "report": nil, "plan --profile etl --deadline 5m": nil, "why app-1": nil, "auth list": nil,
	}
	cells, heading := regexp.MustCompile(`\s{2,}`), regexp.MustCompile(`^[A-Z][A-Z0-9 /%'.,-]+$`)
	for line, said := range words {
		args := strings.Fields(line)
		if line == "apps show" {
			args = append(args, "app-1")
		}
		o := w.run(t, append([]string{"--planner", f.address}, args...)...)
		help := w.run(t, append(slices.Clone(args), "--help")...).out
		tables := 0
		for row := range strings.Lines(o.out) {
			row = strings.TrimSpace(row)
			if columns := cells.Split(row, -1); len(columns) > 1 && heading.MatchString(row) {
				tables++
				for _, column := range columns {
					if !slices.Contains(plainColumns, column) && !strings.Contains(strings.ReplaceAll(help, "\n", " "), column) {
						t.Errorf("pacer %s --help does not explain the column %s", line, column)
					}
				}
			}
		}
		if tables == 0 || o.code != 0 {
			t.Errorf("pacer %s prints no table: exit code %d, %s%s", line, o.code, o.out, o.err)
		}
		for _, word := range said {
			if !strings.Contains(help, `"`+word+`"`) {
				t.Errorf("pacer %s --help does not explain %q", line, word)
			}
		}
	}
}
