package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/units"
)

func twoApps() []api.AppDetail {
	miss := 2.5
	return []api.AppDetail{
		{AppSummary: api.AppSummary{ID: "app-1", Name: "wordcount", State: api.AppFinished, Pacing: "paced", Verdict: api.VerdictFeasible,
			Deadline: 100, Duration: 97.5, ErrorPct: &miss, CoreSeconds: 120, MeanCores: 1.25, QuotaChanges: 17},
			Reason: "feasible: 100 s are enough",
			Executors: []api.AppExecutor{{ID: "1", Node: "n1", State: api.ExecutorExited, Registered: true,
				Memory: api.ExecutorMemory{Heap: 300 << 20, OffHeap: 128 << 20, Owed: 5 << 20, Resident: 700 << 20, Moves: 3, Moving: 1.5, Evicted: 200 << 20}}, {ID: "2", Node: "n1", State: api.ExecutorExited}},
			Stages: []api.AppStage{{StageKey: api.StageKey{Stage: 3}, Name: "collect at app.py:10", State: "done", Tasks: 36, Start: 12, Deadline: 20,
				Duration: 19.8, Records: 1000, CoreSeconds: 18, Executors: []api.ExecutorID{"1"},
				Samples: []api.AppSample{{At: 12.5, Grant: -1}, {At: 13, Grant: 0.75}}}},
			Notices: []string{"an executor was replaced"}},
		{AppSummary: api.AppSummary{ID: "app-2", Name: "join", State: api.AppRunning, Pacing: "recording", Verdict: api.VerdictNone}},
	}
}

func profile(name string) api.Profile {
	return api.Profile{Schema: api.ProfileSchema, Name: name, Runs: 1, Duration: 60, Cores: 2, Head: 10, Tail: 1, Stages: []api.ProfileStage{
		{ID: 0, Name: "a", Signature: "s", Parents: []int{}, Tasks: 4, Duration: 20, Records: 100, CoreSeconds: 30, NominalRate: 3.3},
		{ID: 2, Name: "b", Signature: "t", Parents: []int{0}, Tasks: 4, Duration: 20, Records: 100, CoreSeconds: 30, NominalRate: 3.3},
	}}
}

// jsonOf reads a command's JSON strictly into a T.
func jsonOf[T any](t *testing.T, o outcome) T {
	t.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(o.out))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil || o.code != 0 {
		t.Fatalf("exit code %d, %v: %s%s", o.code, err, o.out, o.err)
	}
	return v
}

// listed is a list as programs read it.
type listed struct {
	V            int                  `json:"v"`
	Applications []api.AppSummary     `json:"applications,omitempty"`
	Nodes        []api.NodeSummary    `json:"nodes,omitempty"`
	Profiles     []api.ProfileSummary `json:"profiles,omitempty"`
}

func TestAppsAreAListAndATable(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	if o := w.run(t, "--planner", f.address, "apps", "-o", "json"); strings.Join(strings.Fields(o.out), "") != `{"v":1,"applications":[]}` {
		t.Errorf("no application: %q, want an empty list", o.out)
	}
	f = startPlanner(t, &fakePlanner{apps: twoApps()})
	got := jsonOf[listed](t, w.run(t, "--planner", f.address, "apps", "-o", "json"))
	if d := cmp.Diff(listed{V: 1, Applications: []api.AppSummary{f.apps[1].AppSummary, f.apps[0].AppSummary}}, got); d != "" {
		t.Error(d)
	}
	for form, wants := range map[string][]string{"table": {"app-1", "wordcount", "finished", "2.5s", "1.25"},
		"wide": {"app-1", "wordcount", "finished", "100.0s", "97.5s", "+2.5%", "1.25", "120.0"},
		"yaml": {"v: 1", "applications:", "    name: wordcount"}} {
		o := w.run(t, "--planner", f.address, "apps", "-o", form)
		for _, want := range wants {
			if !strings.Contains(o.out, want) {
				t.Errorf("%s: no %q in\n%s", form, want, o.out)
			}
		}
	}
}

// What an application calls itself stays in its cell, and commands no terminal.
func TestNamesCommandNoTerminal(t *testing.T) {
	w := newWorld(t)
	apps := twoApps()
	apps[0].Name, apps[0].Reason = "two\nlines\tand \x1b[2J", "\x1b]0;title\a"
	f := startPlanner(t, &fakePlanner{apps: apps})
	for _, args := range [][]string{{"apps"}, {"apps", "show", "app-1"}, {"apps", "-o", "json"}, {"release", "app\x1b[2J"}} {
		o := w.run(t, append([]string{"--planner", f.address}, args...)...)
		if strings.ContainsAny(o.out+o.err, "\x1b\a") {
			t.Errorf("%v: %q", args, o.out+o.err)
		}
	}
	o := w.run(t, "--planner", f.address, "apps", "-o", "wide")
	if lines := strings.Split(strings.TrimSpace(o.out), "\n"); len(lines) != 3 || !strings.Contains(lines[2], `two\u000alines\u0009and \u001b[2J`) {
		t.Errorf("the table is\n%s", o.out)
	}
}

func TestShowHasTheFieldsThatScriptsRead(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{apps: twoApps()})
	o := w.run(t, "--planner", f.address, "apps", "show", "app-1", "-o", "json")
	fields := jsonOf[map[string]any](t, o)
	for _, name := range []string{"id", "name", "state", "deadline_s", "duration_s", "error_pct", "predicted_finish_s", "mean_cores", "core_seconds", "stages"} {
		if _, ok := fields[name]; !ok {
			t.Errorf("no field %s", name)
		}
	}
	o = w.run(t, "--planner", f.address, "apps", "show", "app-1")
	for _, want := range []string{"app-1", "feasible: 100 s are enough", "notice: an executor was replaced", "collect at app.py:10", "19.8s", "all 0.75"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
	w.run(t, "--planner", f.address, "apps", "show", "app-9").wantLine(t, command.ExitFailure, "app-9")
}

func TestShowSaysWhatAnObservedApplicationWouldHaveHad(t *testing.T) {
	w := newWorld(t)
	apps := twoApps()
	apps[0].WouldCores = new(units.Cores(0.62))
	f := startPlanner(t, &fakePlanner{apps: apps})
	o := w.run(t, "--planner", f.address, "apps", "show", "app-1")
	for _, want := range []string{"would-be cores", "0.62 (observed: no quota is written)", "WOULD-BE CORES OVER TIME", "WOULD-BE QUOTAS"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
}

// What an application lacked is told with when, where and who had it.
func TestShowSaysWhatAnApplicationLacked(t *testing.T) {
	w := newWorld(t)
	apps := twoApps()
	apps[0].Shortages = []api.AppShortage{
		{Node: "n1", Begin: 12, End: 45, Shortage: api.Shortage{App: "app-1", Asked: 1.5, Had: 0.5, To: "app-2", GivenUp: true}},
		{Node: "n2", Begin: 50, Shortage: api.Shortage{App: "app-1", Asked: 1, Had: 0.25}}}
	apps[0].Losses = []api.Loss{{App: "app-1", To: "app-2", CoreSeconds: 31}, {App: "app-1", CoreSeconds: 2}}
	f := startPlanner(t, &fakePlanner{apps: apps})
	o := w.run(t, "--planner", f.address, "apps", "show", "app-1")
	for _, want := range []string{
		"short: 12.0s to 45.0s on n1: it asked for 1.50 cores and had 0.50, most had app-2; given up, since not all there could be in time\n",
		"short: since 50.0s on n2: it asked for 1.00 cores and had 0.25, most had what is not Pacer's\n",
		"lost: 31.0 core-seconds to app-2\n", "lost: 2.0 core-seconds to what is not Pacer's\n"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
}

func TestOrdersReachThePlanner(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{apps: twoApps()})
	for _, c := range []struct {
		args string
		verb api.Verb
		want api.ControlRequest
	}{
		{"release app-2", api.VerbRelease, api.ControlRequest{V: api.Version, App: "app-2"}},
		{"deadline app-2 +10m", api.VerbDeadline, api.ControlRequest{V: api.Version, App: "app-2", Extend: 600}},
		{"deadline app-2 90s", api.VerbDeadline, api.ControlRequest{V: api.Version, App: "app-2", Deadline: 90}},
		{"cap app-2 1.5", api.VerbCap, api.ControlRequest{V: api.Version, App: "app-2", Cap: 1.5}},
		{"kill app-2", api.VerbKill, api.ControlRequest{V: api.Version, App: "app-2", User: userName()}},
		{"apps kill app-2", api.VerbKill, api.ControlRequest{V: api.Version, App: "app-2", User: userName()}},
		{"apps cap app-2 0", api.VerbCap, api.ControlRequest{V: api.Version, App: "app-2"}},
		{"supervisor set edf-prop --gamma 0.5 --node n1", api.VerbDivide, api.ControlRequest{V: api.Version, Node: "n1", Division: &api.Division{Strategy: "edf-prop", Gamma: 0.5}}},
		{"supervisor set default", api.VerbDivide, api.ControlRequest{V: api.Version}},
		{"policy set flexible --order sjf --size time-units", api.VerbPolicySet, api.ControlRequest{V: api.Version, Policy: &api.QueuePolicy{Rule: "flexible", Order: "sjf", Size: "time-units"}}},
		{"policy set rigid", api.VerbPolicySet, api.ControlRequest{V: api.Version, Policy: &api.QueuePolicy{Rule: "rigid"}}},
		{"policy set --admission pythia", api.VerbPolicySet, api.ControlRequest{V: api.Version, Policy: &api.QueuePolicy{Admission: "pythia"}}},
		{"policy set flexible --late refuse", api.VerbPolicySet, api.ControlRequest{V: api.Version, Policy: &api.QueuePolicy{Rule: "flexible", Late: "refuse"}}},
		{"policy default", api.VerbPolicySet, api.ControlRequest{V: api.Version}},
		{"profiles rm wordcount", api.VerbProfileRm, api.ControlRequest{V: api.Version, Profile: "wordcount"}},
		{"profiles pin wordcount", api.VerbPin, api.ControlRequest{V: api.Version, Profile: "wordcount"}},
		{"profiles pin wordcount 3", api.VerbPin, api.ControlRequest{V: api.Version, Profile: "wordcount", Query: &api.Query{To: 3}}},
		{"profiles unpin wordcount", api.VerbUnpin, api.ControlRequest{V: api.Version, Profile: "wordcount"}},
	} {
		o := w.run(t, append([]string{"--planner", f.address}, strings.Fields(c.args)...)...)
		said := "done: " + string(c.verb)
		if c.verb == api.VerbKill {
			said = "app-2 was told to end; its executors are stopped in 10s if it does not"
		}
		if o.code != 0 || o.out != said+"\n" {
			t.Errorf("%s: exit code %d, %q, %s", c.args, o.code, o.out, o.err)
		}
		if d := cmp.Diff(c.want, f.last(t, c.verb)); d != "" {
			t.Errorf("%s: %s", c.args, d)
		}
	}
	for args, want := range map[string]string{"deadline app-2 soon": "soon", "deadline app-2": "2 arg", "release": "1 arg", "deadline app-2 0s": "not after", "deadline app-2 +": `""`} {
		w.run(t, append([]string{"--planner", f.address}, strings.Fields(args)...)...).wantLine(t, command.ExitUsage, want)
	}
}

func TestProfilesAreStoredListedAndShown(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{profiles: []api.Profile{profile("wordcount")}})
	got := jsonOf[listed](t, w.run(t, "--planner", f.address, "profiles", "list", "-o", "json"))
	if d := cmp.Diff(listed{V: 1, Profiles: []api.ProfileSummary{f.profiles[0].Summary()}}, got); d != "" {
		t.Error(d)
	}
	o := w.run(t, "--planner", f.address, "profiles", "list")
	if !strings.Contains(o.out, "wordcount") || !strings.Contains(o.out, "60.0") {
		t.Errorf("list:\n%s", o.out)
	}
	shown := w.run(t, "--planner", f.address, "profiles", "show", "wordcount")
	path := filepath.Join(t.TempDir(), "p.json")
	if err := os.WriteFile(path, []byte(shown.out), 0o644); err != nil {
		t.Fatal(err)
	}
	// What show prints, put takes.
	if o := w.run(t, "--planner", f.address, "profiles", "put", path); o.code != 0 {
		t.Fatalf("put: %s", o.err)
	}
	if d := cmp.Diff(f.profiles[0], *f.last(t, api.VerbProfilePut).Body); d != "" {
		t.Error(d)
	}
	if o := w.runWith(t, context.Background(), shown.out, "--planner", f.address, "profiles", "put", "-"); o.code != 0 {
		t.Errorf("put from standard input: %s", o.err)
	}
	w.run(t, "--planner", f.address, "profiles", "show", "nobody").wantLine(t, command.ExitFailure, "nobody")
}

// A profile of the source's launcher is stored under its file's name, or the one that its user says.
func TestTheAuthorsProfilesAreStored(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	path := filepath.Join(t.TempDir(), "kmeans-app.json")
	if err := os.WriteFile(path, []byte(`{"0": {"duration": 8000, "nominalrate": 1000.0, "numtask": 16, "parentsIds": []}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{"kmeans": nil, "mine": {"--name", "mine"}} {
		if o := w.run(t, append([]string{"--planner", f.address, "profiles", "put", path}, args...)...); o.code != 0 {
			t.Fatal(o.err)
		}
		if p := f.last(t, api.VerbProfilePut).Body; p.Name != want || p.Stages[0].CoreSeconds != 8 {
			t.Errorf("%+v, want %s", p, want)
		}
	}
	w.runWith(t, context.Background(), `{"0": {"duration": -1}}`, "profiles", "put", "-").wantLine(t, command.ExitUsage, "stage 0: duration is -1")
	if o := w.run(t, "profiles", "schema"); !json.Valid([]byte(o.out)) || o.out != string(api.ProfileJSONSchema()) {
		t.Errorf("%s", o.out)
	}
}

func TestVersionsAreListedAndCompared(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{profiles: []api.Profile{profile("wordcount")}, history: &api.ProfileHistory{V: api.Version, Name: "wordcount",
		Versions: []api.ProfileVersion{{Number: 2, How: "merged", By: "app-7", Runs: 3, Stages: 2, Duration: 60, Work: 60},
			{Number: 1, How: "put", By: "ann", Pinned: true, Runs: 2, Stages: 2, Duration: 50, Work: 40}},
		Diff: &api.ProfileDiff{From: 1, To: 2, Said: []string{"50 % more work in all", "stage 0 (a): twice the input"}}}})
	if o := w.run(t, "--planner", f.address, "profiles", "history", "wordcount"); !strings.Contains(o.out, "pinned") || !strings.Contains(o.out, "app-7") {
		t.Errorf("%s%s", o.out, o.err)
	}
	if got := jsonOf[api.ProfileHistory](t, w.run(t, "--planner", f.address, "profiles", "history", "wordcount", "-o", "json")); len(got.Versions) != 2 {
		t.Errorf("%+v", got)
	}
	o := w.run(t, "--planner", f.address, "profiles", "diff", "wordcount", "1")
	if o.out != "profile wordcount, from version 1 to 2:\n  50 % more work in all\n  stage 0 (a): twice the input\n" {
		t.Errorf("%s%s", o.out, o.err)
	}
	if q := f.last(t, api.VerbVersions).Query; q == nil || q.From != 1 || q.To != 0 {
		t.Errorf("asked for %+v", q)
	}
	w.run(t, "--planner", f.address, "profiles", "diff", "wordcount", "first").wantLine(t, command.ExitUsage, "number of a version")
	w.run(t, "--planner", f.address, "profiles", "show", "wordcount", "--version", "2")
	if q := f.last(t, api.VerbProfile).Query; q == nil || q.To != 2 {
		t.Errorf("asked for %+v", q)
	}
}

func TestTheKneeOfAHeapIsPrinted(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{knee: &api.Knee{V: api.Version, Name: "wordcount", Good: 2 << 30, Bad: 1 << 30, Next: 1536 << 20,
		Runs: []api.KneeRun{{Heap: 1 << 30, Work: 80, Live: 900 << 20, Collecting: 0.75, Bad: true},
			{Heap: 1280 << 20, OutOfMemory: true, Bad: true}, {Heap: 2 << 30, Work: 40.25, Live: 1 << 30, Collecting: 0.05}},
		Advice: "the next run has 1536m", Sure: "between 1g and 2g"}})
	o := w.run(t, "--planner", f.address, "profiles", "knee", "wordcount", "--shared")
	for _, want := range []string{"HEAP", "1g", "80.0", "75%", "too small", "out of memory", "40.2", "good", "the next run has 1536m", "between 1g and 2g"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s%s", want, o.out, o.err)
		}
	}
	if q := f.last(t, api.VerbKnee); q.Profile != "wordcount" || !q.Shared {
		t.Errorf("asked for %+v", q)
	}
	if got := jsonOf[api.Knee](t, w.run(t, "--planner", f.address, "profiles", "knee", "wordcount", "-o", "json")); len(got.Runs) != 3 || got.Advice == "" {
		t.Errorf("%+v", got)
	}
	w.run(t, "--planner", f.address, "profiles", "knee").wantLine(t, command.ExitUsage, "knee")
}

func TestVariantsAreCountedAndShown(t *testing.T) {
	w := newWorld(t)
	p, other := profile("wordcount"), profile("wordcount")
	p.Share, other.Share, other.Stages[1].Name, other.Stages[1].Missed = 0.7, 0.3, "monthly", 2
	p.Variants = []api.Profile{other}
	f := startPlanner(t, &fakePlanner{profiles: []api.Profile{p}})
	if o := w.run(t, "--planner", f.address, "profiles", "list"); !slices.Equal(strings.Fields(o.out)[9:14], []string{"wordcount", "-", "1", "2", "2"}) {
		t.Errorf("list:\n%s", o.out)
	}
	o := w.run(t, "--planner", f.address, "profiles", "show", "wordcount", "-o", "table")
	first, second, _ := strings.Cut(o.out, "2 of 2, 30 % of the newest runs")
	if !strings.Contains(first, "1 of 2, 70 % of the newest runs") || strings.Contains(first, "monthly") || !strings.Contains(second, "monthly") {
		t.Errorf("show:\n%s", o.out)
	}
}

func TestABadProfileIsRefusedWithAllItsFaults(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		`{"schema":1,"name":"x","surprise":1}`:                                               "surprise",
		`{"schema":1,"name":"","duration_s":-1,"stages":[{"id":1,"parents":[1],"tasks":0}]}`: "name is empty",
		`{"schema":1,"name":"x","stages":[{"id":1,"parents":[1],"tasks":0,"colour":1}]}`:     "stages[0].colour is an unknown field",
		`{"schema":2,"name":"x","surprise":1,"stages":[]}`:                                   "of a later version",
		`nonsense`: "profile",
	} {
		w.runWith(t, context.Background(), body, "profiles", "put", "-").wantLine(t, command.ExitUsage, want)
	}
	p := profile("cyclic")
	p.Stages[0].Parents, p.Stages[1].CoreSeconds = []int{2}, -1
	body, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	o := w.runWith(t, context.Background(), string(body), "profiles", "put", "-")
	o.wantLine(t, command.ExitUsage, "cycles")
	o.wantLine(t, command.ExitUsage, "core_seconds")
	w.run(t, "profiles", "put", "/does/not/exist").wantLine(t, command.ExitNoInput, "/does/not/exist")
}

func TestPlanAnswersByItsExitCode(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{})
	for _, c := range []struct {
		verdict api.Verdict
		code    int
	}{{api.VerdictFeasible, 0}, {api.VerdictTight, 0}, {api.VerdictInfeasible, 76}, {api.VerdictUnknown, 1}} {
		f.willPlan(api.PlanReply{V: api.Version, Verdict: c.verdict, Reason: "because", Earliest: 70, Cores: 1.8,
			Stages: []api.PlanReplyLine{{ID: 0, Name: "a", Start: 10, Deadline: 30, Cores: 0.95}}})
		o := w.run(t, "--planner", f.address, "plan", "--profile", "wordcount", "--deadline", "90s")
		if o.code != c.code || !strings.Contains(o.out, string(c.verdict)) || !strings.Contains(o.out, "0.95") {
			t.Errorf("%s: exit code %d, want %d:\n%s%s", c.verdict, o.code, c.code, o.out, o.err)
		}
		if c.code != 1 && o.err != "" {
			t.Errorf("%s: said %q", c.verdict, o.err)
		}
	}
	if r := f.firstPlan(); r.Profile != "wordcount" || r.Deadline != 90 || r.Body != nil {
		t.Errorf("asked %+v", r)
	}
	f.willPlan(api.PlanReply{V: api.Version, Error: api.Errorf(api.KindNotFound, "profile wordcount is not known")})
	w.run(t, "--planner", f.address, "plan", "--profile", "wordcount", "--deadline", "90s").wantLine(t, 1, "not known")
}

// A profile that is stored is meant before a file of the same name.
func TestPlanTakesAStoredProfileOrAFile(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{known: []string{"ETL / daily", "both.json"}, plan: api.PlanReply{V: api.Version, Verdict: api.VerdictTight}})
	body, err := profile("mine").Encode()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range map[string]string{"mine": string(body), "both.json": string(body), "app.py": "print(1)"} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for text, file := range map[string]bool{
		"ETL / daily": false, "both.json": false, "./both.json": true, "mine": true, filepath.Join(dir, "mine"): true, "../" + filepath.Base(dir) + "/mine": true,
	} {
		reply := jsonOf[api.PlanReply](t, w.run(t, "--planner", f.address, "plan", "--profile", text, "--deadline", "2m", "--cores", "1.5", "-o", "json"))
		if reply.Verdict != api.VerdictTight || reply.Stages == nil {
			t.Errorf("%s: %+v", text, reply)
		}
		r := f.lastPlan()
		if r.Cores != 1.5 || r.Deadline != 120 || (r.Body != nil) != file || r.Body == nil && r.Profile != text || r.Body != nil && r.Profile != "mine" {
			t.Errorf("%s: asked %+v", text, r)
		}
	}
	w.run(t, "--planner", f.address, "plan", "--profile", "neither", "--deadline", "2m").wantLine(t, command.ExitFailure, `profile "neither" is not known`)
	w.run(t, "--planner", f.address, "plan", "--profile", "app.py", "--deadline", "2m").wantLine(t, command.ExitFailure, `profile "app.py" is not known; nor is it a profile file`)
}

func TestLogsComeFromTheExecutorsNodes(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{apps: twoApps()})
	if o := w.run(t, "--planner", f.address, "logs", "app-1", "2", "--stream", "stdout"); o.out != "stdout of 2\n" {
		t.Errorf("exit code %d, %q, %s", o.code, o.out, o.err)
	}
	o := w.run(t, "--planner", f.address, "logs", "app-1")
	for _, want := range []string{"==> executor 1 on n1 <==\nstderr of 1\n", "==> executor 2 on n1 <==\nstderr of 2\n"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in %q", want, o.out)
		}
	}
	w.run(t, "--planner", f.address, "logs", "app-1", "7").wantLine(t, command.ExitFailure, "no executor 7")
	w.run(t, "--planner", f.address, "logs", "app-2").wantLine(t, command.ExitFailure, "no executor")
	w.run(t, "--planner", f.address, "logs", "app-1", "--stream", "both").wantLine(t, command.ExitUsage, "both")
	w.run(t, "--planner", f.address, "logs", "app-1", "-f").wantLine(t, command.ExitUsage, "--follow")
}

func TestNodesAreListed(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{nodes: []api.NodeSummary{{Node: "n1", Host: "h", State: "up", Offered: 1.8, Total: 2, Memory: 1 << 30, Epoch: 7, Executors: 2, Version: "1.2.3",
		Pressure: api.Pressure{CPU: 0.25, IO: 0.0625}, Lacks: "no memory.low", Lends: &api.NodeLends{Lent: 2 << 30, Lendable: 3 << 30}}, {Node: "n2", Lends: &api.NodeLends{Not: "it cannot"}}}})
	got := jsonOf[listed](t, w.run(t, "--planner", f.address, "nodes", "-o", "json"))
	if d := cmp.Diff(listed{V: 1, Nodes: f.nodes}, got); d != "" {
		t.Error(d)
	}
	if o := w.run(t, "--planner", f.address, "nodes"); !strings.Contains(o.out, "n1") || !strings.Contains(o.out, "1.80") || !strings.Contains(o.out, "1g") || !strings.Contains(o.out, "1.2.3") ||
		!strings.Contains(o.out, "cpu 25%, io 6%") || !strings.Contains(o.out, "n1: its kernel has no memory.low\n") ||
		!strings.Contains(o.out, "n1: 2g is lent to batch work, 3g of what executors claim is lendable\nn2: it lends nothing: it cannot\n") {
		t.Errorf("table:\n%s", o.out)
	}
	for use, verb := range map[string]api.Verb{"drain": api.VerbDrain, "undrain": api.VerbUndrain} {
		if o := w.run(t, "--planner", f.address, "nodes", use, "n1"); o.code != 0 || o.out != "done: "+string(verb)+"\n" || f.last(t, verb).Node != "n1" {
			t.Errorf("%s: exit code %d, %q, %s", use, o.code, o.out, o.err)
		}
		w.run(t, "--planner", f.address, "nodes", use).wantLine(t, command.ExitUsage, use)
	}
}

func TestTheSupervisorIsShown(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{nodes: []api.NodeSummary{{Node: "n1", Division: api.Division{Strategy: "edf-pure", Eq21: "on-top"}},
		{Node: "n2", Division: api.Division{Strategy: "speed", Gamma: 0.5, Eq21: "printed"}, SetBy: "operator"}}})
	o := w.run(t, "--planner", f.address, "supervisor", "show")
	for _, want := range []string{"n1    edf-pure  0      on-top   configuration", "n2    speed     0.5    printed  operator"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
	if got := jsonOf[listed](t, w.run(t, "--planner", f.address, "supervisor", "show", "--node", "n2", "-o", "json")).Nodes; len(got) != 1 || got[0].Node != "n2" {
		t.Errorf("of one node %+v", got)
	}
	w.run(t, "--planner", f.address, "supervisor", "show", "--node", "n3").wantLine(t, command.ExitFailure, "n3")
	w.run(t, "--planner", f.address, "supervisor", "set").wantLine(t, command.ExitUsage, "1 arg")
}

func TestAnUnreachablePlannerHasItsOwnExitCode(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{{"apps"}, {"nodes"}, {"release", "a"}, {"profiles", "list"}, {"logs", "a"}} {
		w.run(t, append([]string{"--planner", "127.0.0.1:1"}, args...)...).wantLine(t, command.ExitUnavailable, "127.0.0.1:1")
	}
}

func TestConfigShowsWhatHolds(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.env["XDG_CONFIG_HOME"], "pacer", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("planner:\n  max-pool: 3\n  listen: 127.0.0.1:5555\nnode:\n  memory: 2g\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.env["PACER_PLANNER_MAX_NODES"] = "5"
	o := w.run(t, "--set", "node.gamma=0.25", "config", "show")
	for _, want := range []string{"max-pool: 3\n", "max-nodes: 5\n", "gamma: 0.25\n", "memory: 2g\n", "planner: 127.0.0.1:5555\n"} {
		if o.code != 0 || !strings.Contains(o.out, want) {
			t.Errorf("exit code %d, no %q in\n%s%s", o.code, want, o.out, o.err)
		}
	}
	if o := w.run(t, "config", "show", "--defaults"); !strings.Contains(o.out, "max-pool: 4\n") {
		t.Errorf("the defaults:\n%s", o.out)
	}
	w.run(t, "--set", "frob=1", "apps").wantLine(t, command.ExitConfig, "frob")
	w.env["PACER_CONFIG"] = "/does/not/exist"
	w.run(t, "apps").wantLine(t, command.ExitNoInput, "/does/not/exist")
}

func TestConfigValidateReportsTheDaemonsFaultsToo(t *testing.T) {
	w := newWorld(t)
	o := w.run(t, "--set", "planner.max-pool=0", "--set", "node.gamma=2", "--set", "log.level=loud", "config", "validate")
	o.wantLine(t, command.ExitConfig, "log.level")
	o = w.run(t, "--set", "planner.max-pool=0", "--set", "node.gamma=2", "--set", "planner.listen=0.0.0.0", "config", "validate")
	for _, want := range []string{"max-pool", "gamma", "host:port"} {
		o.wantLine(t, command.ExitConfig, want)
	}
}

// A value that cannot be read hides none that may not be.
func TestConfigValidateReportsFiveOfFive(t *testing.T) {
	w := newWorld(t)
	o := w.run(t, "--set", "node.memory=lots", "--set", "planner.max-pool=0", "--set", "planner.frob=1", "--set", "node.offered-cores=-3",
		"--set", "planner.listen=nowhere", "config", "validate")
	for _, want := range []string{`node.memory: size "lots"`, "planner.max-pool: 0", "planner.frob", "node.offered-cores: -3", `"nowhere"`} {
		o.wantLine(t, command.ExitConfig, want)
		if n := strings.Count(o.err, want); n != 1 {
			t.Errorf("%q is said %d times", want, n)
		}
	}
}

func TestDaemonsRefuseABadConfigurationBeforeTheyStart(t *testing.T) {
	w := newWorld(t)
	w.run(t, "up", "--listen", "0.0.0.0").wantLine(t, command.ExitConfig, "host:port")
	w.run(t, "up", "--nats-url", "http://h:4222").wantLine(t, command.ExitConfig, "nats-url")
	w.run(t, "up", "--log-format", "xml").wantLine(t, command.ExitConfig, "xml")
	w.run(t, "up", "--frob").wantLine(t, command.ExitUsage, "--frob")
	w.run(t, "up", "extra").wantLine(t, command.ExitUsage, "extra")
}

func TestAWrongCommandLineIsOneLineAndCode64(t *testing.T) {
	w := newWorld(t)
	for args, want := range map[string]string{
		"frob": "frob", "apps frob": "frob", "apps -o xml": "xml", "profiles": "sub-command", "profiles frob": "frob", "apps --frob": "--frob",
		"jar frob": "frob", "version extra": "extra", "config": "sub-command", "app": "did you mean apps, ",
		"identify app-1 --stage x": `"x" for "--stage" flag: want a whole number`, "identify app-1 --low x": "want a number",
		"apps --since x": "want a time such as 90s or 15m", "apps --planner h": `--planner "h": want host:port`,
	} {
		w.run(t, strings.Fields(args)...).wantLine(t, command.ExitUsage, want)
	}
}

func TestVersionAndJarAreForScripts(t *testing.T) {
	w := newWorld(t)
	v := jsonOf[map[string]any](t, w.run(t, "version", "-o", "json"))
	if v["version"] != config.Release() || v["protocol"] != float64(api.Version) {
		t.Errorf("%v", v)
	}
	if o := w.run(t, "version"); !strings.HasPrefix(o.out, "pacer "+config.Release()+" ") {
		t.Errorf("%q", o.out)
	}
	o := w.run(t, "jar")
	path := strings.TrimSuffix(o.out, "\n")
	if _, err := os.Stat(path); err != nil || o.code != 0 || strings.ContainsAny(path, "\n ") {
		t.Errorf("exit code %d, %q: %v", o.code, o.out, err)
	}
}

func TestCompletionOffersApplicationsAndProfiles(t *testing.T) {
	w := newWorld(t)
	f := startPlanner(t, &fakePlanner{apps: twoApps(), profiles: []api.Profile{profile("wordcount")}})
	w.env["PACER_CLIENT_PLANNER"] = f.address
	for args, want := range map[string]string{"release": "app-1\twordcount\n", "profiles show": "wordcount\n", "apps show": "app-2\tjoin\n"} {
		o := w.run(t, append(append([]string{"__complete"}, strings.Fields(args)...), "")...)
		if !strings.Contains(o.out, want) {
			t.Errorf("%s: %q", args, o.out)
		}
	}
	if o := w.run(t, "completion", "bash"); o.code != 0 || !strings.Contains(o.out, "__start_pacer") {
		t.Errorf("exit code %d", o.code)
	}
}
