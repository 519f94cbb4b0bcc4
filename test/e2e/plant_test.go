package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/test/sparklog"
	"github.com/sparkpacer/pacer/units"
)

// TestPlant holds a real executor to what the laws take it for, on one paced
// application of which the profile knows too little:
//
//   - linearity (Eq 8): at twice the cores a stage of equal tasks does twice as
//     many of them, by Spark's own account of the tasks, while `pacer identify`
//     steps it;
//   - tail: a lone task six times as long as it should be, which has to be caught
//     up with, gets the one core that it can use and no more;
//   - skew: the stage after it, one of whose tasks has most of the records, ends
//     near its set point, and the application in time.
func TestPlant(t *testing.T) {
	realenv.RequireAll(t)
	s := realenv.StartUp(t)
	recorded, answer := s.Record("testdata/plant.py")
	deadline := (recorded.Duration * 1.6).Duration().Round(time.Millisecond)
	// Neighbours of a small machine take cores away while a level of the step is
	// measured, or the lone task runs.
	realenv.Repeat(t, func() error { return stepped(t, s, deadline, answer) })
}

// stepped runs plant.py under deadline, steps its equal tasks by `pacer identify`,
// and returns what is wrong with that.
func stepped(t *testing.T, s *realenv.System, deadline time.Duration, answer string) error {
	t.Helper()
	run := s.Submit("--pacer-deadline", deadline.String(), "testdata/plant.py", "6")
	var asks units.Cores
	app, err := s.AwaitWhile(run, "the equal tasks to be under control", func(a api.AppDetail) bool {
		at, found := stageOf(a, func(x api.AppStage) bool { return x.Tasks == equalTasks })
		// A JVM that still compiles does more with a core the later it is.
		if n := len(at.Samples); found && n > 0 && at.Samples[n-1].Progress > 0.3 {
			asks = at.Samples[n-1].Grant
		}
		return asks > 0
	})
	if err != nil {
		wantAnswer(t, run, realenv.Results(answer))
		return err
	}
	// Half a core and one: a neighbour leaves a small machine that much. What the stage asks for
	// falls, and identify goes by the last seconds of that, so it is up to a third more; the stage
	// has to outlast both levels all the same.
	level := func(cores units.Cores) string { return fmt.Sprintf("%.3f", float64(cores/asks)) }
	code, out := s.Pacer("identify", string(app.ID), "--low", level(0.5), "--high", level(1), "--each", "3500ms", "--output", "json")
	wantAnswer(t, run, realenv.Results(answer))
	if code != 0 {
		// The stage may have ended before the second level was measured.
		return realenv.Timing("identify: exit %d: %s", code, out)
	}
	app = s.AwaitApp("the end", patience, func(a api.AppDetail) bool { return a.ID == app.ID && a.State == api.AppFinished })
	log := s.Log(app.ID)
	if err = errors.Join(linear(t, app, log, out), lone(t, app), skewed(t, app, log), realenv.Held(app)); err != nil {
		return err
	}
	t.Logf("deadline %v, error %.2f %%", app.Deadline, *app.ErrorPct)
	return nil
}

// The stages of plant.py are told by their tasks.
const equalTasks, skewedTasks = 200, 12

// stageOf is the stage with most work of those that ok takes.
func stageOf(a api.AppDetail, ok func(api.AppStage) bool) (found api.AppStage, any bool) {
	for _, x := range a.Stages {
		if ok(x) && (!any || x.CoreSeconds > found.CoreSeconds) {
			found, any = x, true
		}
	}
	return found, any
}

// linear compares how many tasks are done in a second at the two levels of the
// step, after the first second of each, with the cores that were obtained there: a
// quota bounds them, and the neighbours of a small machine take of them.
func linear(t *testing.T, app api.AppDetail, log sparklog.Log, identified string) error {
	t.Helper()
	stage, _ := stageOf(app, func(x api.AppStage) bool { return x.Tasks == equalTasks })
	low, high, ok := levels(stage.Samples)
	if !ok {
		var grants []units.Cores
		for _, s := range stage.Samples {
			grants = append(grants, s.Grant)
		}
		return realenv.Timing("the samples show no step of two levels: grants of %.2f", grants)
	}
	first, _ := log.Bounds()
	rate := func(l level) float64 {
		done := 0.0
		for _, task := range log.Tasks {
			if task.Stage != stage.Stage {
				continue
			}
			from := units.Seconds(task.Launch-first)/1000 + app.FirstLaunch
			to := units.Seconds(task.Finish-first)/1000 + app.FirstLaunch
			done += float64(max(0, min(to, l.to)-max(from, l.from)) / max(to-from, 0.001))
		}
		return done / float64(l.to-l.from)
	}
	slow, fast := rate(low), rate(high)
	few, many := low.used(stage.Samples), high.used(stage.Samples)
	cores, ratio := float64(many/few), fast/slow
	said := fmt.Sprintf("%.2f tasks/s on %.2f cores of %.2f, %.2f on %.2f of %.2f: %.2f times the rate on %.2f times the cores",
		slow, float64(few), float64(low.cores), fast, float64(many), float64(high.cores), ratio, cores)
	t.Log(said)
	switch {
	case few > low.cores*1.15 || many > high.cores*1.15:
		t.Errorf("%s: more cores were used than the quota", said)
	case cores < 1.3:
		return realenv.Timing("%s: of twice the quota that is little more", said)
	case ratio < cores*0.65 || ratio > cores*1.35:
		return realenv.Timing("%s: want them alike within 35 %%", said)
	}
	var fits []struct {
		CoreSeconds units.Work `json:"core_seconds"`
		Fault       string     `json:"fault"`
	}
	if err := json.Unmarshal([]byte(identified), &fits); err != nil {
		return fmt.Errorf("read what identify says: %w: %s", err, identified)
	}
	if len(fits) == 0 || fits[0].Fault != "" {
		return fmt.Errorf("identify found nothing: %s", identified)
	}
	if found, work := fits[0].CoreSeconds, stage.CoreSeconds; found < work/2 || found > work*2 {
		return realenv.Timing("identify found %.1f core-seconds, the stage took %.1f", float64(found), float64(work))
	}
	return nil
}

// level is a time in which an executor was held at some cores.
type level struct {
	cores    units.Cores
	from, to units.Seconds
}

// used is how many cores were used in that time, on average.
func (l level) used(samples []api.AppSample) units.Cores {
	sum, n := units.Cores(0), units.Cores(0)
	for _, s := range samples {
		if s.At > l.from && s.At <= l.to {
			sum, n = sum+s.Used, n+1
		}
	}
	return sum / n
}

// levels finds the step from a level to one of twice the cores; of each the first
// second is left out, for the quota is written and obtained in it.
func levels(samples []api.AppSample) (low, high level, ok bool) {
	var all []level
	for _, s := range samples {
		n := len(all)
		if n > 0 && s.Grant > 0 && s.Grant/all[n-1].cores < 1.01 && s.Grant/all[n-1].cores > 0.99 {
			all[n-1].to = s.At
		} else {
			all = append(all, level{s.Grant, s.At, s.At})
		}
	}
	all = slices.DeleteFunc(all, func(l level) bool { return l.cores <= 0 || l.to-l.from < 2.5 })
	for i := 1; i < len(all); i++ {
		if r := all[i].cores / all[i-1].cores; r > 1.7 && r < 2.3 {
			low, high, ok = all[i-1], all[i], true
		}
	}
	low.from, high.from = low.from+1, high.from+1
	return low, high, ok
}

// lone checks the stage of one task.
func lone(t *testing.T, app api.AppDetail) error {
	stage, _ := stageOf(app, func(x api.AppStage) bool { return x.Tasks == 1 })
	most := units.Cores(0)
	for _, s := range stage.Samples {
		most = max(most, s.Grant)
	}
	t.Logf("stage %d of %.1f core-seconds had at most %.2f cores, error %s", stage.Stage, float64(stage.CoreSeconds), float64(most), pct(stage.ErrorPct))
	if most > 1.05 {
		t.Errorf("the lone task had up to %v cores, and can use one", float64(most))
	}
	if most < 0.9 { // It is granted what the neighbours leave.
		return realenv.Timing("the lone task had at most %v cores, want the one that it can use", float64(most))
	}
	return nil
}

// skewed checks the stage with the large task.
func skewed(t *testing.T, app api.AppDetail, log sparklog.Log) error {
	stage, _ := stageOf(app, func(x api.AppStage) bool { return x.Tasks == skewedTasks })
	heaviest, sum := 0.0, 0.0
	for _, task := range log.Tasks {
		if task.Stage == stage.Stage {
			heaviest, sum = max(heaviest, float64(task.CPU)), sum+float64(task.CPU)
		}
	}
	mean := (sum - heaviest) / (skewedTasks - 1)
	if heaviest < 3*mean || stage.Deadline <= 0 {
		return fmt.Errorf("the heaviest task took %.2f core-seconds, the others %.2f, the stage's deadline is %v: want skew and a set point", heaviest, mean, stage.Deadline)
	}
	// Eq 5 with its sign: negative is late.
	left := 100 * float64((stage.Deadline-stage.Duration)/app.Deadline)
	t.Logf("the large task took %.1f core-seconds, the others %.2f; it ended %+.2f %% before its set point of %v", heaviest, mean, left, stage.Deadline)
	if left < -5 || left > 10 {
		return realenv.Timing("the skewed stage ended %+.2f %% of the application's deadline before its set point of %v", left, stage.Deadline)
	}
	return nil
}

// pct prints an error that there may not be.
func pct(p *float64) string {
	if p == nil {
		return "none"
	}
	return fmt.Sprintf("%+.2f %%", *p)
}
