package demo_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/demo"
	"github.com/sparkpacer/pacer/units"
)

// run is how a fake system carries out one submission.
type run struct {
	takes  time.Duration
	detail api.AppDetail
	code   int
	answer string
}

// fakeSystem carries out its runs one after the other.
type fakeSystem struct {
	runs      []run
	submitted []demo.Submission
	begun     time.Time
	closed    int
}

func (f *fakeSystem) Submit(_ context.Context, s demo.Submission) (<-chan demo.Outcome, error) {
	if len(f.submitted) == len(f.runs) {
		return nil, errors.New("no more runs")
	}
	r := f.runs[len(f.submitted)]
	f.submitted, f.begun = append(f.submitted, s), time.Now()
	ended := make(chan demo.Outcome, 1)
	time.AfterFunc(r.takes, func() { ended <- demo.Outcome{Code: r.code, Answer: r.answer} })
	return ended, nil
}

func (f *fakeSystem) App(_ context.Context, submission string) (*api.AppDetail, error) {
	i := len(f.submitted) - 1
	if f.submitted[i].ID != submission {
		return nil, fmt.Errorf("asked about %s", submission)
	}
	r, since := f.runs[i], time.Since(f.begun)
	if since < 3*time.Second {
		return nil, nil // The driver is not there yet.
	}
	d := r.detail
	d.Submission, d.Deadline = submission, f.submitted[i].Deadline
	if since < r.takes+time.Second { // The last figures come a second later.
		d.State, d.Duration, d.Predicted = api.AppRunning, units.FromDuration(since), units.FromDuration(r.takes)
	}
	return &d, nil
}

func (f *fakeSystem) Close() error { f.closed++; return nil }

// stages are two parallel stages of 20 s with samples, the second on two
// executors.
func stages(paced bool) []api.AppStage {
	var out []api.AppStage
	for id := range 2 {
		s := api.AppStage{StageKey: api.StageKey{Stage: id}, State: "done", Tasks: 36, Start: 10, Duration: 20}
		for i := range 40 {
			x := float64(i) / 39
			for e := range id + 1 {
				sample := api.AppSample{At: units.Seconds(10 + 20*x), Executor: api.ExecutorID(fmt.Sprint(e)), Progress: units.Fraction(x), Grant: -1, Used: 1}
				if paced {
					sample.SetPoint, sample.Grant = units.Fraction(x), units.Cores(0.5+0.3*math.Sin(6*x))
				}
				s.Samples = append(s.Samples, sample)
			}
		}
		out = append(out, s)
	}
	return out
}

func detail(duration units.Seconds, pacing string) api.AppDetail {
	return api.AppDetail{AppSummary: api.AppSummary{ID: "app-1", State: api.AppFinished, EndedBy: api.EndedByExit, Pacing: pacing, Duration: duration,
		CoreSeconds: 120, MeanCores: 1.5, QuotaChanges: 12}, Stages: stages(pacing == "paced")}
}

func goodRuns() []run {
	return []run{
		{takes: 60 * time.Second, detail: detail(60, "recording"), answer: "42\n"},
		{takes: 76 * time.Second, detail: detail(76, "paced"), answer: "42\n"},
		{takes: 94 * time.Second, detail: detail(94, "paced"), answer: "42\n"},
	}
}

// demonstrate runs the demonstration on fake time.
func demonstrate(t *testing.T, runs []run) (*fakeSystem, string, string, error) {
	t.Helper()
	system, out := &fakeSystem{runs: runs}, t.TempDir()
	var text bytes.Buffer
	var err error
	synctest.Test(t, func(*testing.T) {
		cfg := demo.Default()
		cfg.Out = out
		_, err = demo.Run(context.Background(), cfg, &text, func(context.Context) (demo.System, error) { return system, nil })
	})
	return system, out, text.String(), err
}

func TestTheDeadlinesAreTheFullRunsDurationTimesTheFactors(t *testing.T) {
	system, _, _, err := demonstrate(t, goodRuns())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	ids := map[string]bool{}
	for _, s := range system.submitted {
		got = append(got, fmt.Sprintf("%s %.1f", s.Run, float64(s.Deadline)))
		ids[s.ID] = true
	}
	if d := cmp.Diff([]string{"full 0.0", "1.3 78.0", "1.6 96.0"}, got); d != "" {
		t.Error(d)
	}
	if len(ids) != 3 || system.closed != 1 {
		t.Errorf("%d submission ids, closed %d times", len(ids), system.closed)
	}
}

func TestTheReportIsATableLinesAndPictures(t *testing.T) {
	_, out, text, err := demonstrate(t, goodRuns())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"deadline", "quota changes", "78.0 s", "76.0 s", "+2.56", "+2.08", "1.50", "120.0", "12"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !strings.Contains(text, "the driver is starting") && !strings.Contains(text, "predicted finish") {
		t.Errorf("no line of progress in\n%s", text)
	}
	f, err := os.Open(filepath.Join(out, "demo.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []map[string]any
	for scan := bufio.NewScanner(f); scan.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(scan.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	want := []map[string]any{
		{"run": "full", "deadline_s": nil, "duration_s": 60.0, "ended_by": "exit", "error_pct": nil, "mean_cores": 1.5, "core_seconds": 120.0, "quota_changes": 12.0},
		{"run": "1.3", "deadline_s": 78.0, "duration_s": 76.0, "ended_by": "exit", "error_pct": 100 * 2 / 78.0, "mean_cores": 1.5, "core_seconds": 120.0, "quota_changes": 12.0},
		{"run": "1.6", "deadline_s": 96.0, "duration_s": 94.0, "ended_by": "exit", "error_pct": 100 * 2 / 96.0, "mean_cores": 1.5, "core_seconds": 120.0, "quota_changes": 12.0},
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if d := cmp.Diff(want, lines, near); d != "" {
		t.Error(d)
	}
	for _, name := range []string{"demo-full.png", "demo-1.3.png", "demo-1.6.png"} {
		checkPicture(t, filepath.Join(out, name))
	}
}

// checkPicture wants a PNG with something drawn in more than one colour.
func checkPicture(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	colours := map[[3]uint32]int{}
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y += 2 {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			if r != g || g != b {
				colours[[3]uint32{r, g, b}]++
			}
		}
	}
	strong := 0
	for _, n := range colours {
		if n > 100 {
			strong++
		}
	}
	if b.Dx() < 600 || strong < 2 {
		t.Errorf("%s: %v with %d colours: the curves of two stages are wanted", path, b, strong)
	}
}

func TestWhatWentWrongIsSaidAndIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		change func(runs []run)
		want   string
	}{
		"late":          {func(r []run) { r[2].detail.Duration, r[2].takes = 97, 97*time.Second }, "run 1.6 missed its deadline by 1.00 s"},
		"released":      {func(r []run) { r[1].detail.Pacing = "released" }, "run 1.3 was released, not paced"},
		"failed":        {func(r []run) { r[1].detail.State = api.AppFailed }, "run 1.3 is failed"},
		"other answer":  {func(r []run) { r[1].answer = "41\n" }, "answers differently"},
		"no exit":       {func(r []run) { r[1].detail.EndedBy = api.EndedByStop }, "run 1.3: the planner was not told of the exit"},
		"still exiting": {func(r []run) { r[0].detail.State = api.AppEnding }, "still calls it ending"},
		"exit code":     {func(r []run) { r[0].code = 1 }, "exit code 1"},
		"never settles": {func(r []run) { r[0].detail.State = api.AppRunning }, "still calls it running"},
	} {
		runs := goodRuns()
		for i := range runs {
			runs[i].detail.Stages = nil // Drawing takes its time.
		}
		c.change(runs)
		system, _, _, err := demonstrate(t, runs)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if system.closed != 1 {
			t.Errorf("%s: closed %d times", name, system.closed)
		}
	}
}

func TestAnInterruptionStopsEverything(t *testing.T) {
	system, out := &fakeSystem{runs: goodRuns()}, t.TempDir()
	var text bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		cfg := demo.Default()
		cfg.Out = out
		_, err := demo.Run(ctx, cfg, &text, func(context.Context) (demo.System, error) { return system, nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
	if system.closed != 1 || len(system.submitted) != 1 {
		t.Errorf("closed %d times after %d submissions", system.closed, len(system.submitted))
	}
}

func TestARunWithoutSamplesIsDrawnToo(t *testing.T) {
	d := detail(60, "recording")
	d.Stages = append(d.Stages[:1], api.AppStage{StageKey: api.StageKey{Stage: 9}})
	d.Stages[0].Samples = d.Stages[0].Samples[:1]
	if err := demo.Draw(filepath.Join(t.TempDir(), "x.png"), demo.Result{Run: "x", Detail: d}); err != nil {
		t.Error(err)
	}
	if err := demo.Draw(filepath.Join(t.TempDir(), "no", "x.png"), demo.Result{Run: "x", Detail: d}); err == nil {
		t.Error("a directory that is missing is no error")
	}
}

func TestTheApplicationSaysNothingOfPacer(t *testing.T) {
	for _, word := range []string{"spark.pacer", "sparkpacer", "import pacer"} {
		if bytes.Contains(demo.App, []byte(word)) {
			t.Errorf("app.py contains %q: it is to be an ordinary application", word)
		}
	}
}
