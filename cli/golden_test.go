package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the output of the commands in testdata")

// waiting are an application that runs and three that wait for memory: of the first it is
// known when it starts and by when it has to, of the second when it starts, of the third neither.
func waiting() []api.AppDetail {
	app := func(id api.AppID, name string, submitted int, deadline units.Seconds) api.AppDetail {
		return api.AppDetail{AppSummary: api.AppSummary{ID: id, Name: name, State: api.AppQueued, Pacing: "unpaced", Verdict: api.VerdictNone,
			Deadline: deadline, Duration: units.Seconds(60 * (6 - submitted)), Submitted: time.Date(2026, 3, 4, 5, submitted, 0, 0, time.UTC)}}
	}
	runs, first, second, third := app("app-1", "etl", 0, 1800), app("app-2", "report", 2, 2400), app("app-3", "join", 3, 0), app("app-4", "first run", 4, 0)
	runs.State, runs.Pacing, runs.Verdict, runs.FirstLaunch, runs.Predicted, runs.MeanCores, runs.CoreSeconds = api.AppRunning, "paced", api.VerdictFeasible, 9, 1782, 1.5, 540
	first.Verdict, first.Reason = api.VerdictFeasible, "feasible beside 1 other"
	const full = "an executor of 4g heap, 409600k overhead and 256m off the heap fits no node now: the most that is free is 3g, on node n1, where a heap of 2389m would fit"
	first.Queue = &api.Queue{Place: 1, Of: 3, Start: 1681, Latest: 1900, Why: full}
	second.Queue = &api.Queue{Place: 2, Of: 3, Start: 2500, Why: full}
	third.Queue = &api.Queue{Place: 3, Of: 3, Why: full}
	return []api.AppDetail{runs, first, second, third}
}

// served is a queue under a policy that an operator has set, in which one application gives its place on a node to another.
func served() *api.QueueDetail {
	met, useful, wasted, fairness, fraction := 0.875, 0.9, 0.0625, 0.75, 0.72
	return &api.QueueDetail{QueuePolicy: api.QueuePolicy{Rule: "flexible", Order: "edf", Size: "time", Admission: "pythia", Late: "share"}, SetBy: "operator",
		Reserved: 1.3, Fraction: &fraction, Runs: 14, Idle: []api.IdleMemory{{App: "app-1", Node: "n1", Memory: 4 * units.GiB}},
		Gifts:  []api.Gift{{From: "app-1", Node: "n2", To: "app-2"}},
		Scores: api.Scores{Met: &met, Useful: &useful, Wasted: &wasted, Fairness: &fairness}}
}

// reported adds up runs of two profiles: one with all that there is to say, and one of which nobody knows how its run ended.
func reported() *api.Report {
	margin, pct, paced, profiled, held, offered := units.Seconds(412.5), 6.25, 3.21, 3.3, units.Cores(1.44), units.Cores(8)
	etl := api.ReportRow{Key: "etl", Runs: 9, Met: 5, Late: 1, Failed: 1, Killed: 1, Refused: 1, Margin: &margin, MarginPct: &pct, CoreHours: 3.75,
		PacedCoreHours: &paced, ProfileCoreHours: &profiled, Held: &held, Offered: &offered}
	total := etl
	total.Key, total.Runs, total.Unknown = "", 10, 1
	return &api.Report{V: api.Version, By: api.ByProfile, Rows: []api.ReportRow{etl, {Key: "join", Runs: 1, Unknown: 1}}, Total: total}
}

// TestGoldens runs the commands of each testdata/*.txt, its lines that begin with "$ pacer", and
// compares what a user sees. Run with -rewrite after a wanted change and read the difference.
func TestGoldens(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t)
			f := startPlanner(t, &fakePlanner{apps: waiting(), policy: served(), report: reported()})
			var got strings.Builder
			for line := range strings.Lines(string(text)) {
				command, is := strings.CutPrefix(line, "$ pacer ")
				if is {
					o := w.run(t, append([]string{"--planner", f.address}, strings.Fields(command)...)...)
					fmt.Fprintf(&got, "%s%s%s", line, o.out, o.err)
					if o.code != 0 {
						fmt.Fprintf(&got, "[exit %d]\n", o.code)
					}
				} else if strings.HasPrefix(line, "# ") {
					got.WriteString(line)
				}
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if d := cmp.Diff(string(text), got.String()); d != "" {
				t.Error(d)
			}
		})
	}
}
