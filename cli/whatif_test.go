package cli

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/sim/whatif"
)

// aFile writes a profile to a file in a new working directory, without a planner anywhere.
func aFile(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	body, err := profile("wordcount").Encode()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("p.json", body, 0o644); err != nil {
		t.Fatal(err)
	}
	return w
}

// answered is an answer as programs read it.
type answered struct {
	V int `json:"v"`
	whatif.Answer
}

func TestWhatIfNeedsNoPlanner(t *testing.T) {
	w := aFile(t)
	alone := []string{"--planner", "127.0.0.1:1", "plan", "--profile", "p.json"}
	a := jsonOf[answered](t, w.run(t, slices.Concat(alone, []string{"--cores", "2,4", "--input", "1x..2x", "-o", "json"})...))
	if len(a.Cells) != 12 || a.Cells[0].Cores != 2 || a.Cells[1].Executors != 1 || a.Cells[2].Input != 1.2 || a.Cells[0].Keeps != nil {
		t.Errorf("%+v", a)
	}
	for args, want := range map[string]struct {
		code int
		says []string
	}{
		"":                                         {0, []string{"EARLIEST DEADLINE", "derived: recorded at"}},
		"--deadline 1h":                            {0, []string{"cheapest with 1x input", "yes"}},
		"--deadline 3s --cores 1,2":                {76, []string{"none of these cores keeps the deadline", "no"}},
		"--executors 1x2,2x4":                      {0, []string{"1 x 2", "2 x 4"}},
		"--deadline 1h --stage-deadlines":          {0, []string{"STAGE'S CORES"}},
		"--input 2x -o yaml":                       {0, []string{"sure: guessed"}},
		"--by 06:00 --cores 4 --certainty 0.9":     {0, []string{"certainty:  90 %"}},
		"--deadline 1h --by 06:00":                 {64, []string{"--deadline and --by exclude each other"}},
		"--cores 4 --executors 1x4":                {64, []string{"--cores and --executors exclude each other"}},
		"--cores 4,none":                           {64, []string{`--cores: "none", want a number > 0`}},
		"--executors 2":                            {64, []string{`--executors: "2", want a number of executors`}},
		"--executors 300x2":                        {64, []string{"executors: 300, want 1 to 256"}},
		"--input 3x..1x":                           {64, []string{"want a range from less to more"}},
		"--input -1":                               {64, []string{`--input: "-1", want a number > 0`}},
		"--by never":                               {64, []string{"--by"}},
		"--by 2020-01-01T06:00":                    {64, []string{"is past"}},
		"--stage-deadlines":                        {64, []string{"--stage-deadlines: it needs --deadline or --by"}},
		"--certainty 2 --cores 1,2":                {64, []string{"certainty: 2, want 0.5 to 0.99"}},
		"--cores 1,2 --input 1x..2x --deadline no": {64, []string{"--deadline"}},
	} {
		o := w.run(t, slices.Concat(alone, strings.Fields(args))...)
		if o.code != want.code || (o.code == command.ExitUsage) != (strings.Count(o.err, "\n") == 1) {
			t.Errorf("%s: exit code %d, want %d:\n%s%s", args, o.code, want.code, o.out, o.err)
		}
		for _, says := range want.says {
			if !strings.Contains(o.out+o.err, says) {
				t.Errorf("%s: no %q:\n%s%s", args, says, o.out, o.err)
			}
		}
	}
}

// A deadline as a time counts from now.
func TestWhatIfByATime(t *testing.T) {
	w := aFile(t)
	w.now = time.Date(2026, 11, 29, 5, 0, 0, 0, time.UTC)
	a := jsonOf[answered](t, w.run(t, "plan", "--profile", "./p.json", "--by", "06:00", "--cores", "2", "-o", "json"))
	if a.Deadline != 3600 || len(a.Cells) != 1 || !*a.Cells[0].Keeps || a.Cheapest[0].Cores != 1 {
		t.Errorf("%+v", a)
	}
}

// Beside a planner the stored profile is meant first, and one deadline at one number of cores is the planner's to answer.
func TestWhatIfBesideAPlanner(t *testing.T) {
	w := aFile(t)
	stored := profile("wordcount")
	stored.Runs = 7
	f := startPlanner(t, &fakePlanner{profiles: []api.Profile{stored}, plan: api.PlanReply{V: api.Version, Verdict: api.VerdictTight}})
	a := jsonOf[answered](t, w.run(t, "--planner", f.address, "plan", "--profile", "wordcount", "--cores", "2,4", "-o", "json"))
	if a.Runs != 7 || len(a.Cells) != 2 || len(f.planned) != 0 {
		t.Errorf("%d plans asked for, %+v", len(f.planned), a)
	}
	a = jsonOf[answered](t, w.run(t, "--planner", f.address, "plan", "--profile", "./p.json", "-o", "json"))
	if a.Runs == 7 || len(a.Cells) < 2 {
		t.Errorf("%+v", a)
	}
	if o := w.run(t, "--planner", f.address, "plan", "--profile", "wordcount", "--deadline", "1h", "--cores", "2"); o.code != 0 || len(f.planned) != 1 ||
		!strings.Contains(o.out, "tight") {
		t.Errorf("%+v", o)
	}
	w.run(t, "--planner", f.address, "plan", "--profile", "none", "--cores", "1,2").wantLine(t, command.ExitFailure, "profile none is not known")
}

// The log of a run takes the place of a profile: the time of its threads says what it used, and its cluster's times do not count.
func TestWhatIfOfAnEventLog(t *testing.T) {
	w := newWorld(t)
	t.Chdir(t.TempDir())
	for name, body := range map[string]string{"app-1": smallLog, "app-2": strings.ReplaceAll(smallLog, "sales", "costs"), "app-3": "no log",
		"app-4": strings.ReplaceAll(smallLog, "app-1", "app-4")} {
		if err := os.WriteFile(name, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := jsonOf[answered](t, w.run(t, "plan", "--eventlog", "app-1", "--cores", "2,4", "-o", "json"))
	if a.Profile != "sales *" || len(a.Cells) != 2 || a.Cells[1].Sure != whatif.Guessed || !strings.Contains(a.Cells[1].Why[1], "guessed from its threads' time") {
		t.Errorf("%+v", a)
	}
	if c := a.Cells[1]; c.Most.High/c.Finish < 1.3 {
		t.Errorf("work that is guessed may be a quarter other: %+v", c.Most)
	}
	for other, want := range map[string]int{"app-4": 2, "app-1": 1} {
		if both := jsonOf[answered](t, w.run(t, "plan", "--eventlog", "app-1", "--eventlog", other, "-o", "json")); both.Runs != want {
			t.Errorf("%d runs of app-1 and %s, want %d", both.Runs, other, want)
		}
	}
	for args, says := range map[string]string{
		"--eventlog app-1 --eventlog app-2": "logs of 2 applications, costs * and sales * among them",
		"--eventlog app-3":                  `--eventlog: app-3 makes no profile`,
		"--eventlog app-1 --profile p":      "want one of --profile and --eventlog", "--cores 4": "want one of --profile and --eventlog",
	} {
		w.run(t, append([]string{"plan"}, strings.Fields(args)...)...).wantLine(t, command.ExitUsage, says)
	}
}
