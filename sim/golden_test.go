package sim_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/paper"
	"github.com/sparkpacer/pacer/supervisor"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden output of the scenarios in testdata")

// TestScenarios runs each testdata/*.txt. Run with -rewrite after a wanted change
// and read the difference.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := sim.ParseScenario(file, string(text), paper.Workloads()...)
			if err != nil {
				t.Fatal(err)
			}
			report, err := s.Run(nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range report.Failed {
				t.Error(f)
			}
			if !strings.Contains(string(text), "\nexpect ") {
				t.Error("nothing is expected of its outcomes")
			}
			got := report.Text()
			if *rewrite {
				if err := os.WriteFile(file, []byte(s.Rewritten(got)), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if d := cmp.Diff(s.Golden(), got); d != "" {
				t.Error(d)
			}
		})
	}
}

// A strategy is a file, an entry in a table, a paper test and a scenario that shows
// what it is good and bad for: testdata/strategy-NAME.txt.
func TestEveryStrategyHasAScenario(t *testing.T) {
	for _, name := range supervisor.Strategies() {
		s := scenarioOf(t, "strategy", name)
		if got := s.Config.Node.Supervisor.Strategy; got != name {
			t.Errorf("the scenario of strategy %s has %s", name, got)
		}
	}
}

// An order of nodes is a file, an entry in a table, a test and a scenario:
// testdata/placement-NAME.txt.
func TestEveryOrderHasAScenario(t *testing.T) {
	for _, name := range placement.Orders() {
		s := scenarioOf(t, "placement", name)
		if c := s.Config.Planner; c.Placement != name || c.MaxNodes == 0 {
			t.Errorf("the scenario of order %s has %s on %d nodes", name, c.Placement, c.MaxNodes)
		}
	}
}

// A rule of the queue is a file, an entry in a table, a paper test and a scenario: testdata/queue-NAME.txt.
func TestEveryRuleOfTheQueueHasAScenario(t *testing.T) {
	for _, name := range assign.Rules() {
		s := scenarioOf(t, "queue", name)
		if got := s.Config.Planner.Queue.Rule; got != name {
			t.Errorf("the scenario of rule %s has %s", name, got)
		}
	}
}

// An admission is a row of a table, a paper test and a scenario: testdata/admission-NAME.txt.
func TestEveryAdmissionHasAScenario(t *testing.T) {
	for _, name := range assign.Admissions() {
		s := scenarioOf(t, "admission", name)
		if got := s.Config.Planner.Queue.Admission; got != name {
			t.Errorf("the scenario of admission %s has %s", name, got)
		}
	}
}

// scenarioOf reads the scenario that shows an entry of a table. It expects something.
func scenarioOf(t *testing.T, kind, name string) *sim.Scenario {
	t.Helper()
	file := "testdata/" + kind + "-" + name + ".txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.ParseScenario(file, string(text), paper.Workloads()...)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\nexpect ") {
		t.Errorf("%s expects nothing", file)
	}
	return s
}
