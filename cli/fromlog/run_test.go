package fromlog

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/eventlog"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

var errFault = errors.New("it is none")

// read reads the golden log of a kind.
func read(t *testing.T, kind string) eventlog.Application {
	t.Helper()
	paths, err := eventlog.Logs(filepath.Join("..", "..", "infra", "eventlog", "testdata", "logs", kind))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	sources, err := eventlog.Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	app, err := eventlog.Read(sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	app.Jobs[len(app.Jobs)-1].Failed = false // Its program goes on behind a job that fails.
	return app
}

// A log makes a profile that can be stored, and that is the run's own: aligned with it each stage is itself.
func TestALogMakesItsProfile(t *testing.T) {
	for _, kind := range []string{"3.5.9-single-plain", "4.0.5-rolling-zstd", "4.3.0-single-zstd"} {
		app := read(t, kind)
		p, terms, err := Run(&app, "events", nil)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		body, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := api.DecodeProfile(bytes.NewReader(body)); err != nil || len(back.Stages) != 7 {
			t.Errorf("%s: it is not read back: %v", kind, err)
		}
		if !p.Contended || !p.HeadContended || !p.ExitContended || p.Cores != 2 || p.Duration <= 0 || p.Runs != 1 {
			t.Errorf("%s: %+v", kind, p)
		}
		if last := p.Stages[6]; !last.Failed || p.Stages[1].Parents[0] != 0 || len(terms.Tried) > 0 {
			t.Errorf("%s: %+v", kind, p.Stages)
		}
		for i, pair := range profiles.Align(p.Stages, p.Stages).Pairs {
			if pair.Seen != i || pair.Known != i {
				t.Errorf("%s: stage %d is taken for %d", kind, pair.Seen, pair.Known)
			}
		}
		for id, s := range p.Stages {
			if p.Habit.Stages[id].Sure != api.SureGuessed || s.CoreSeconds <= 0 || s.Signature == "" {
				t.Errorf("%s: stage %d of %v core-seconds is %q", kind, id, s.CoreSeconds, p.Habit.Stages[id].Sure)
			}
		}
	}
}

// job is an application whose stages took that CPU time and run time, the first of Python.
func job(cpu, run, gc float64) eventlog.Application {
	app := eventlog.Application{ID: "a", Name: "job", Start: 1000, End: 90_000,
		Settings:  eventlog.Settings{"spark.app.submitTime": "500", "spark.task.cpus": "1"},
		Executors: []eventlog.Executor{{ID: "1", Cores: 4, Added: 1500}, {ID: "2", Cores: 4, Added: 2000, Removed: 3000}, {ID: "3", Cores: 2, Added: 3000}}}
	for id, python := range []bool{true, false} {
		a := eventlog.Attempt{Tasks: 8, Submitted: int64(10_000 * (id + 1)), Completed: int64(10_000*(id+1) + 9000)}
		a.Done.Tasks, a.Done.CPU, a.Done.Run, a.Done.GC = 8, 10*units.Seconds(cpu), 10*units.Seconds(run), 10*units.Seconds(gc)
		a.Done.Input = eventlog.Flow{Bytes: 1 << 30, Records: 1000}
		app.Stages = append(app.Stages, eventlog.Stage{ID: id, Name: "count at a.py:1", Signature: string(rune('a' + id)), Job: id,
			Query: eventlog.NoQuery, Python: python, Partitions: 8, Attempts: []eventlog.Attempt{a}})
	}
	return app
}

// How sure work is hangs on what is known: groups of earlier runs, the time without waiting, or nothing.
func TestAFactorIsMeasuredDerivedOrGuessed(t *testing.T) {
	for _, c := range []struct {
		name         string
		cpu, run, gc float64
		known        float64
		python, jvm  float64
		sure         api.Sure
	}{
		{"derived from the time without waiting", 2, 2.5, 0.1, 0, 24, 25, api.SureDerived},
		{"a busy machine tells nothing", 2, 9, 0, 0, 90, 36.5, api.SureGuessed},
		{"too little work tells nothing", 0.1, 0.12, 0, 0, 1.2, 1.3, api.SureGuessed},
		{"compilers take their time from tasks", 1, 1.7, 0.1, 0, 16, 17, api.SureGuessed},
		{"compilers have cores of their own", 4, 4.2, 0, 0, 42, 56.25, api.SureDerived},
		{"measured by earlier runs", 2, 2.5, 0, 1.5, 30, 30, api.SureMeasured},
	} {
		app := job(c.cpu, c.run, c.gc)
		var known *api.Profile
		if c.known > 0 {
			p, _, err := Run(&app, "job", nil)
			if err != nil {
				t.Fatal(err)
			}
			p.Habit.Stages = map[int]api.StageHabit{0: {Factor: c.known}, 1: {Factor: c.known}}
			known = &p
		}
		p, _, err := Run(&app, "job", known)
		if err != nil {
			t.Fatal(err)
		}
		python, jvm := float64(p.Stages[0].CoreSeconds), float64(p.Stages[1].CoreSeconds)
		if math.Abs(python-c.python) > 0.01 || math.Abs(jvm-c.jvm) > 0.01 || p.Habit.Stages[1].Sure != c.sure {
			t.Errorf("%s: %v and %v core-seconds, %q, want %v and %v, %q", c.name, python, jvm, p.Habit.Stages[1].Sure, c.python, c.jvm, c.sure)
		}
		if p.Cores != 8 || math.Abs(float64(p.Head)-9.5) > 1e-9 {
			t.Errorf("%s: %v cores, the head takes %v", c.name, p.Cores, p.Head)
		}
	}
}

func TestALogThatIsNoWholeRunTeachesNothing(t *testing.T) {
	for want, spoil := range map[string]func(*eventlog.Application){
		"it is cut off: here":              func(a *eventlog.Application) { a.Cut = "here" },
		"it is of a streaming query":       func(a *eventlog.Application) { a.Streaming = true },
		"its application failed":           func(a *eventlog.Application) { a.Failed = true },
		"its last job failed":              func(a *eventlog.Application) { a.Jobs = []eventlog.Job{{}, {Failed: true}} },
		"it has no stage that is complete": func(a *eventlog.Application) { a.Stages = nil },
	} {
		app := job(1, 1, 0)
		spoil(&app)
		if _, _, err := Run(&app, "job", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The oldest run comes first, each goes where a run would, and what is no log is in nobody's way.
func TestLogsAreMergedAsRunsAre(t *testing.T) {
	older, newer, other, broken := job(1, 1, 0), job(2, 2, 0), job(1, 1, 0), job(1, 1, 0)
	newer.Start, newer.End, other.Name, broken.Failed = 2_000_000, 2_090_000, "other 2026-11-29", true
	other.ID, broken.ID = "other", "broken"
	for i := range newer.Stages {
		a := &newer.Stages[i].Attempts[0]
		a.Submitted, a.Completed = a.Submitted+2_000_000, a.Completed+2_000_000
	}
	logs := []Log{{Path: "newer", Application: newer}, {Path: "older", Application: older}, {Path: "other", Application: other},
		{Path: "broken", Application: broken}, {Path: "none", Fault: errFault}}
	asked := map[string]int{}
	made, became, err := Shelve(logs, "", func(name string) (*api.Profile, error) {
		asked[name]++
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []Became{{"none", "", Skipped, "it is none"}, {"older", "job", New, ""}, {"other", "other *", New, ""},
		{"broken", "job", Skipped, "its application failed"}, {"newer", "job", Merged, ""}}
	if d := cmp.Diff(want, became); d != "" {
		t.Error(d)
	}
	if len(made) != 2 || made[0].Name != "job" || made[0].Runs != 2 || made[1].Name != "other *" || asked["job"] != 1 {
		t.Errorf("%+v, asked %v", made, asked)
	}
	if got := float64(made[0].Stages[1].CoreSeconds); got <= 20 || got >= 35 {
		t.Errorf("%v core-seconds, want the mean of both runs", got)
	}
	one, _, err := Shelve(logs, "all", func(string) (*api.Profile, error) { return nil, nil })
	if err != nil || len(one) != 1 || one[0].Name != "all" || one[0].Runs != 3 {
		t.Errorf("%+v, %v", one, err)
	}
}

// A run teaches its profile once, however often its log is put, and whatever has taught that in between. A profile
// knows its newest runs.
func TestALogCountsOnce(t *testing.T) {
	var stored *api.Profile
	shelve := func(want string, logs ...Log) {
		t.Helper()
		made, became, err := Shelve(logs, "job", func(string) (*api.Profile, error) { return stored, nil })
		if err != nil {
			t.Fatal(err)
		}
		var as []string
		for _, b := range became {
			as = append(as, b.As)
			if again := strings.Contains(b.Why, "has taught the profile before"); again != (b.As == Known) {
				t.Errorf("%+v", b)
			}
		}
		if got := strings.Join(as, " "); got != want {
			t.Errorf("the logs became %q, want %q", got, want)
		}
		for i := range made {
			stored = &made[i]
		}
	}
	night := func(start int64, by float64) Log {
		app := job(by, by, 0)
		app.Start = start
		return Log{Application: app}
	}
	shelve("new merged known", night(1000, 1), night(1001, 1), night(1001, 1))
	shelve("known", night(1000, 1))
	strange := night(1002, 1)
	strange.Stages = strange.Stages[1:]
	shelve("variant known", strange, strange)
	learnt, _, err := profiles.Learn(*stored, *stored, profiles.Terms{})
	if err != nil {
		t.Fatal(err)
	}
	stored = &learnt
	shelve("known known", night(1001, 1), strange)
	if stored.Runs < 3 || len(stored.Habit.Logs) != 3 || len(stored.Variants) != 1 || stored.Variants[0].Habit.Logs != nil {
		t.Errorf("%d runs, logs %v", stored.Runs, stored.Habit.Logs)
	}
	for start := range int64(api.MostLogs) {
		shelve("merged", night(2000+start, 1))
	}
	if err := stored.Validate(); err != nil || len(stored.Habit.Logs) != api.MostLogs {
		t.Errorf("%d logs are known, %v", len(stored.Habit.Logs), err)
	}
	shelve("known", night(2000, 1))
	shelve("merged", night(1000, 1))
}

// A run under Pacer takes the place of work that was guessed, and a log does not change work that was measured.
func TestWhatIsMeasuredReplacesWhatIsGuessed(t *testing.T) {
	app := job(0.5, 0.5, 0)
	guessed, _, err := Run(&app, "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	if doubt := profiles.Doubt(guessed); math.Abs(float64(doubt)-0.3) > 1e-9 {
		t.Errorf("the doubt is %v", doubt)
	}
	measured := guessed
	measured.Contended, measured.Habit.Stages = false, nil
	measured.Stages = append([]api.ProfileStage{}, guessed.Stages...)
	for i := range measured.Stages {
		measured.Stages[i].CoreSeconds = 100
	}
	after := profiles.Merge(guessed, measured, profiles.Terms{})
	if got := after.Stages[0].CoreSeconds; got != 100 || after.Habit.Stages[0].Sure != api.SureMeasured || profiles.Doubt(after) != 0 {
		t.Errorf("%v core-seconds after a run under Pacer, %+v", got, after.Habit.Stages)
	}
	if back := profiles.Merge(after, guessed, profiles.Terms{}); back.Stages[0].CoreSeconds != 100 || profiles.Doubt(back) != 0 {
		t.Errorf("%v core-seconds after a log", back.Stages[0].CoreSeconds)
	}
	wide := profiles.Reserve(guessed, 0.95, 0.05)[0]
	guessed.Habit.Stages = nil
	if kept := profiles.Reserve(guessed, 0.95, 0.05)[0]; wide <= 2*kept || len(after.Residuals) > 0 {
		t.Errorf("%v is kept for a guess, %v for what is known, residuals %v", wide, kept, after.Residuals)
	}
}

func TestAProfileHasTheNameOfItsRun(t *testing.T) {
	for _, c := range []struct{ name, command, want string }{
		{"report 2026-11-29", "org.apache.spark.deploy.SparkSubmit /jobs/report.py", "report *"},
		{"report.py", "org.apache.spark.deploy.SparkSubmit --conf a=b /jobs/nightly/report.py 3", "/jobs/nightly/report.py"},
		{"SparkSQL::10.0.0.7", "org.apache.spark.deploy.SparkSubmit --class x -f /jobs/a.sql", "/jobs/a.sql"},
		{"report", "", "report"},
	} {
		if got := Name(&eventlog.Application{Name: c.name, Command: c.command}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
