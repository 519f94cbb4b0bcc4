package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/test/sparklog"
	"github.com/sparkpacer/pacer/units"
)

// TestDeadlineStory is the user's story: a run without a deadline records the
// profile, a run with one is judged feasible, every stage owns its executors,
// the answer is stock Spark's, and the deadline is met; an impossible one is
// called so, and refused on request.
func TestDeadlineStory(t *testing.T) {
	realenv.RequireSpark(t)
	realenv.BeginArchives(t)
	want := realenv.Results(realenv.Stock(t, "testdata/branches.py", scale))
	if want == "" {
		t.Fatal("stock Spark printed no result")
	}
	s := realenv.StartUp(t, "--set", "planner.branches=together") // Parallel stages own different executors.

	recorded, answer := s.Record("testdata/branches.py", scale)
	if got := realenv.Results(answer); got != want {
		t.Errorf("the recording run answers\n%s\nstock Spark\n%s", got, want)
	}
	if recorded.Verdict != api.VerdictNone || recorded.Pacing != "recording" {
		t.Errorf("the first run: verdict %s, pacing %s", recorded.Verdict, recorded.Pacing)
	}
	if code, out := s.Pacer("profiles", "show", "e2e-branches"); code != 0 || !strings.Contains(out, "nominal_rate") {
		t.Fatalf("profiles show: exit %d: %s", code, out)
	}

	deadline := recorded.Duration * 1.5
	t.Run("paced", func(t *testing.T) {
		realenv.Repeat(t, func() error { return pacedRun(t, s, deadline.Duration(), 15, want) })
	})
	t.Run("infeasible", func(t *testing.T) { infeasibleRun(t, s, recorded) })
	t.Run("plan", func(t *testing.T) { planVerdicts(t, s, recorded) })
}

// TestOldestSpark is the story up to the deadline on the oldest Spark that Pacer works
// with.
func TestOldestSpark(t *testing.T) {
	realenv.RequireSpark(t)
	s := realenv.NewOldest(t)
	want := realenv.Results(realenv.Stock(t, "testdata/branches.py", scale))
	s.StartUp("--set", "planner.branches=together")
	wantAnswer(t, s.Submit("testdata/branches.py", scale), want)
	recorded := s.AwaitApp("the recording run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
	if got, want := s.Log(recorded.ID).Spark, os.Getenv("OLDEST"); got != want {
		t.Fatalf("it ran on Spark %s, want %s", got, want)
	}
	deadline := recorded.Duration * 1.5 // At full speed it ends 33 % before.
	realenv.Repeat(t, func() error { return pacedRun(t, s, deadline.Duration(), 20, want) })
}

// pacedRun runs branches.py under a deadline that the profile allows, and returns how
// it was not held to it; it may end early per cent before.
func pacedRun(t *testing.T, s *realenv.System, deadline time.Duration, early float64, want string) error {
	run := s.Submit("--pacer-deadline", fmt.Sprintf("%dms", deadline.Milliseconds()), "testdata/branches.py", scale)
	wantAnswer(t, run, want)
	line, err := realenv.Line(run.Output(), "pacer: ")
	if err != nil {
		t.Error(err)
	}
	app := s.AwaitApp("the paced run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
	if app.Verdict != api.VerdictFeasible && app.Verdict != api.VerdictTight {
		// The forecast is of the cores that the neighbours leave.
		return realenv.Timing("verdict %s, notices %q", app.Verdict, app.Notices)
	}
	if !strings.Contains(line, string(app.Verdict)) || strings.Contains(line, "infeasible") {
		t.Errorf("the verdict is %s, the line says %q", app.Verdict, line)
	}
	if err := realenv.AtExit(run.Took(), app); err != nil {
		t.Error(err)
	}
	if err := realenv.Held(app); err != nil {
		return err
	}
	if *app.ErrorPct > early && !atLeast(app) {
		return realenv.Timing("error %.2f %%, want within %g %% (a short application on a noisy machine)", *app.ErrorPct, early)
	}
	if app.QuotaChanges == 0 {
		t.Error("no quota was ever written")
	}
	t.Logf("deadline %v, took %v, error %.2f %%, mean cores %.2f", deadline, app.Duration, *app.ErrorPct, float64(app.MeanCores))
	log := s.Log(app.ID)
	assertOwnership(t, log, app)
	// The executors of a node read each other's shuffle files from its disk.
	if remote, local := log.Shuffled(); remote != 0 || local == 0 {
		t.Errorf("%d shuffle bytes came from other hosts, %d from this one: want all", remote, local)
	}
	return nil
}

// atLeast reports whether the application was held at the least quota for most of its last
// stage: it cannot be held back further, and its work is done before its deadline.
func atLeast(app api.AppDetail) bool {
	if len(app.Stages) == 0 {
		return false
	}
	samples := app.Stages[len(app.Stages)-1].Samples
	n, least := 0, supervisor.Default().Floor
	for _, s := range samples {
		if s.Grant > 0 && s.Grant < least+0.005 {
			n++
		}
	}
	return 2*n > len(samples)
}

// owned proves from Spark's own event log that no task ran on an executor bound to another
// stage.
func owned(t *testing.T, log sparklog.Log, app api.AppDetail) {
	t.Helper()
	owners := map[api.StageKey][]api.ExecutorID{}
	for _, stage := range app.Stages {
		owners[stage.StageKey] = stage.Executors
	}
	if len(log.Tasks) == 0 {
		t.Fatal("the event log has no tasks")
	}
	for _, task := range log.Tasks {
		if !slices.Contains(owners[task.StageKey], task.Executor) {
			t.Errorf("stage %d ran a task on executor %s, bound are %v", task.Stage, task.Executor, owners[task.StageKey])
		}
	}
}

// assertOwnership proves that, and that stages that run side by side share no executor.
func assertOwnership(t *testing.T, log sparklog.Log, app api.AppDetail) {
	t.Helper()
	owned(t, log, app)
	side := 0
	for i, a := range app.Stages {
		for _, b := range app.Stages[i+1:] {
			aFirst, aLast := log.Span(a.Stage)
			bFirst, bLast := log.Span(b.Stage)
			if aLast <= bFirst || bLast <= aFirst {
				continue
			}
			side++
			for _, e := range a.Executors {
				if slices.Contains(b.Executors, e) {
					t.Errorf("stages %d and %d ran side by side on executor %s", a.Stage, b.Stage, e)
				}
			}
		}
	}
	if side == 0 {
		t.Error("the two branches did not run side by side")
	}
}

// impossible is a deadline in which two cores do a third of the work that was
// recorded: the time that this took is no measure, on a machine that was busy then.
func impossible(recorded api.AppDetail) string {
	return units.Seconds(recorded.CoreSeconds / 2 / 3).Duration().Round(time.Millisecond).String()
}

func infeasibleRun(t *testing.T, s *realenv.System, recorded api.AppDetail) {
	deadline := impossible(recorded)
	refused := s.Submit("--pacer-deadline", deadline, "--pacer-require-feasible", "testdata/branches.py", scale)
	if code := refused.Wait(patience); code != 76 {
		t.Errorf("refused run: exit %d, want 76", code)
	}
	if !strings.Contains(refused.Output(), "infeasible") {
		t.Errorf("the refusal does not say infeasible:\n%s", refused.Output())
	}
	if app := s.Newest(); app.State != api.AppRefused {
		t.Errorf("state %s, want refused", app.State)
	}
}

func planVerdicts(t *testing.T, s *realenv.System, recorded api.AppDetail) {
	for deadline, want := range map[string]int{(recorded.Duration * 2).Duration().Round(time.Millisecond).String(): 0, impossible(recorded): command.ExitInfeasible} {
		if code, out := s.Pacer("plan", "--profile", "e2e-branches", "--deadline", deadline); code != want {
			t.Errorf("plan for %s: exit %d, want %d: %s", deadline, code, want, out)
		}
	}
	if code, _ := s.Pacer("plan", "--profile", "nobody", "--deadline", "1m"); code != command.ExitFailure {
		t.Errorf("plan of an unknown profile: exit %d, want %d", code, command.ExitFailure)
	}
}
