package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// manyApps are applications of two users, submitted a minute after the other: one that runs, and n that have ended.
func manyApps(n int) []api.AppDetail {
	begin := time.Date(2026, 3, 4, 4, 0, 0, 0, time.UTC)
	apps := make([]api.AppDetail, 1+n)
	for i := range apps {
		a := &apps[i].AppSummary
		at := begin.Add(time.Duration(i) * time.Minute)
		a.ID, a.Name, a.User, a.State = api.NewAppID(at, uint64(i+1), "store", fmt.Sprint(i)), "etl", "ann", api.AppFinished
		a.Submitted, a.Deadline, a.Duration, a.Profile = at, 100, 90, "etl"
		if i%2 == 1 {
			a.User, a.Profile = "ben", "join"
		}
	}
	apps[0].State = api.AppRunning
	return apps
}

// TestTheNewestComeFirst: what lives and the last that ended, or what is asked for.
func TestTheNewestComeFirst(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{apps: manyApps(30)})
	for args, want := range map[string][]int{
		"":                             {30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 0},
		"--state running":              {0},
		"--user ben --since 42m":       {29, 27, 25},
		"--profile etl --all --user x": {},
		"--since 38m":                  {30, 29, 0},
	} {
		o := w.run(t, append([]string{"--planner", f.address, "apps", "-o", "json"}, strings.Fields(args)...)...)
		var got, ids []api.AppID
		for _, a := range jsonOf[listed](t, o).Applications {
			got = append(got, a.ID)
		}
		for _, i := range want {
			ids = append(ids, f.apps[i].ID)
		}
		if d := cmp.Diff(ids, got); d != "" {
			t.Errorf("%q: %s", args, d)
		}
	}
	if o := w.run(t, "--planner", f.address, "apps", "--all"); strings.Count(o.out, "\n") != 32 {
		t.Errorf("all:\n%s", o.out)
	}
}

// TestIDsMayBeCutShort: as far as one application has them.
func TestIDsMayBeCutShort(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{apps: manyApps(30)})
	for _, args := range [][]string{{"apps", "show"}, {"apps", "kill"}, {"logs"}} {
		o := w.run(t, append(append([]string{"--planner", f.address}, args...), "app-20260304043000")...)
		if strings.Contains(o.err, "is not known") {
			t.Errorf("%v: %s", args, o.err)
		}
		w.run(t, append(append([]string{"--planner", f.address}, args...), "app-2026030404")...).wantLine(t, command.ExitUsage, "31 applications")
	}
	w.run(t, "--planner", f.address, "apps", "show", "app-9").wantLine(t, command.ExitFailure, "app-9")
	if o := w.run(t, "--planner", f.address, "apps", "--state", "running"); !strings.Contains(o.out, "\napp-20260304040000-0001  ") {
		t.Errorf("the table is\n%s", o.out)
	}
}

// TestTheListFitsATerminal: 120 columns hold whatever applications are called.
func TestTheListFitsATerminal(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		var apps []api.AppSummary
		for i := range rapid.IntRange(1, 4).Draw(t, "applications") {
			at := now.Add(-time.Duration(rapid.IntRange(0, 400*24*3600).Draw(t, "ago")) * time.Second)
			apps = append(apps, api.AppSummary{ID: api.NewAppID(at, uint64(i), "store", "s"), Name: rapid.String().Draw(t, "name"),
				User: rapid.String().Draw(t, "user"), Submitted: at, EndedBy: rapid.SampledFrom([]api.EndedBy{"", api.EndedBySilence}).Draw(t, "by"),
				State:    rapid.SampledFrom([]api.AppState{api.AppRunning, api.AppFinished, api.AppFailed}).Draw(t, "state"),
				Deadline: units.Seconds(rapid.IntRange(0, 1e6).Draw(t, "deadline")), Predicted: units.Seconds(rapid.IntRange(0, 1e6).Draw(t, "predicted")),
				Duration: units.Seconds(rapid.IntRange(0, 1e6).Draw(t, "duration")), MeanCores: units.Cores(rapid.IntRange(0, 10000).Draw(t, "cores"))})
		}
		var out bytes.Buffer
		if err := printApps(&out, apps, "table", now); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(line) - 1; n > 120 {
				t.Fatalf("%d columns: %s", n, line)
			}
		}
	})
}

// TestOrdersAnswerPrograms: in JSON, with the version of its shape.
func TestOrdersAnswerPrograms(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{apps: twoApps()})
	for _, args := range []string{"release app-1", "kill app-1", "cap app-1 2", "deadline app-1 +10m", "nodes drain n1",
		"supervisor set speed", "profiles rm etl"} {
		o := w.run(t, append([]string{"--planner", f.address}, strings.Fields(args+" -o json")...)...)
		if got := jsonOf[map[string]any](t, o); got["v"] != 1.0 || got["message"] == "" {
			t.Errorf("%s: %s", args, o.out)
		}
	}
	w.run(t, "--planner", f.address, "apps", "-o", "xml").wantLine(t, command.ExitUsage, "json, yaml, wide")
}

// TestTheLastLinesOfALog: however it comes in pieces, and all that comes after them.
func TestTheLastLinesOfALog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n")), 0, 60, -1).Draw(t, "text")
		most := rapid.IntRange(-1, 5).Draw(t, "lines")
		lines := strings.SplitAfter(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		want := text
		if most >= 0 {
			want = strings.Join(lines[max(0, len(lines)-most):], "")
		}
		var out bytes.Buffer
		l := &lastLines{w: &out, most: most}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			_, _ = l.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		if err := l.end(); err != nil {
			t.Fatal(err)
		}
		_, _ = l.Write([]byte("more\n"))
		if got := out.String(); got != want+"more\n" {
			t.Fatalf("last %d of %q: %q", most, text, got)
		}
	})
}

// TestTopShowsThoseInTroubleFirst: and colours them on a terminal that wants colours.
func TestTopShowsThoseInTroubleFirst(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	apps := manyApps(3)
	var all []api.AppSummary
	for i := range apps {
		apps[i].State, apps[i].Risk = api.AppRunning, []api.Risk{api.RiskOK, api.RiskLate, api.RiskTight, ""}[i]
		apps[i].Headline = fmt.Sprintf("sentence %d", i)
		all = append(all, apps[i].AppSummary)
	}
	var p page
	if err := printTop(&p, []api.NodeSummary{{State: "ready", Offered: 4}, {State: "lost", Offered: 4}}, all, now); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(p.String(), "\n")
	if lines[0] != "05:06:07  1 of 2 nodes ready, 4.00 cores offered; 4 run, 0 wait; 1 will be late" {
		t.Errorf("the first line is %q", lines[0])
	}
	for i, want := range []int{1, 2, 0, 3} {
		if !strings.HasSuffix(lines[3+i], fmt.Sprintf("sentence %d", want)) {
			t.Errorf("line %d is %q, want sentence %d", i, lines[3+i], want)
		}
	}
	for colours, want := range map[bool]string{true: red + lines[3] + plainText, false: lines[3]} {
		if got := (screen{colours: colours}).coloured(lines[3], p.risks[3]); got != want {
			t.Errorf("colours %v: %q", colours, got)
		}
	}
}
