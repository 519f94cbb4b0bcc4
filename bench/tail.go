package main

import (
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cgroup"
	"github.com/sparkpacer/pacer/internal/benchline"
	"github.com/sparkpacer/pacer/internal/realenv"
	"github.com/sparkpacer/pacer/units"
)

// tailRuns are the runs of tail, all of which count.
const tailRuns = 3

// tail measures how much after its set point a stage ends when, in its middle, one of
// two nodes of 0.75 core loses half of it: in per cent of the application's deadline,
// as Eq 5, but positive when the stage is late and negative when it is early. In
// virtual time, where no other program has a part in it, it is virtualTail.
func tail(t testing.TB, add adder) {
	s := realenv.NewOn(t, realenv.NewNetwork(t, "n1", "n2"))
	s.StartPlanner()
	for _, node := range []string{"n1", "n2"} {
		s.StartNamed(node, "--cores", "0.75", "--memory", "3g")
	}
	if code := s.Submit(tailApp, "1.5").Wait(3 * time.Minute); code != 0 {
		t.Fatalf("recording run: exit %d", code)
	}
	recorded := ended(s)
	var late []float64
	short := 0
	for range tailRuns {
		app := halvedRun(t, s, recorded.Duration*1.6)
		stage := app.Stages[0]
		if stage.Deadline <= 0 || app.Deadline <= 0 {
			t.Fatalf("no deadline: %+v", app.AppSummary)
		}
		late = append(late, stageLate(app))
		// A driver that was slow to start may have left too little time.
		if left := float64(stage.Deadline) * (0.75 + halved); left < float64(stage.CoreSeconds) {
			short++
		}
		t.Logf("at all cores %v; a stage of %v and %.1f core-seconds took %v", recorded.Duration, stage.Deadline, float64(stage.CoreSeconds), stage.Duration)
	}
	add("tail.late_pct", benchline.Median(late), "%")
	add("tail.without_capacity", benchline.Measured{Value: float64(short), N: tailRuns, Spread: [2]float64{0, 1}}, "runs")
}

// stageLate is how much after its deadline the first stage ended, in per cent of the
// application's: negative when it was early.
func stageLate(app api.AppDetail) float64 {
	stage := app.Stages[0]
	return 100 * float64((stage.Duration-stage.Deadline)/app.Deadline)
}

// tailApp is one long stage.
const tailApp = "bench/testdata/tail.py"

// halved is what is left of a node's 0.75 core.
const halved = 0.75 / 2

// halvedRun runs the application with a deadline and takes half of n2 away, by a
// quota on the node's own group, when a quarter of its first stage is done.
func halvedRun(t testing.TB, s *realenv.System, deadline units.Seconds) api.AppDetail {
	t.Helper()
	limit(t, "n2", 0)
	p := s.Submit("--pacer-deadline", deadline.String(), tailApp, "1.5")
	s.AwaitApp("the stage to be at a quarter", 2*time.Minute, func(a api.AppDetail) bool {
		return a.State == api.AppRunning && progressed(a) > 0.25
	})
	limit(t, "n2", halved)
	if code := p.Wait(4 * time.Minute); code != 0 {
		t.Fatalf("exit %d", code)
	}
	return ended(s)
}

// virtualTail is the same in virtual time, which is a test's: TestHalvedNode says the
// figure as its attribute.
func virtualTail(t testing.TB, add adder) {
	out, err := exec.Command("go", "test", "-count", "1", "-run", "^TestHalvedNode$", "-v", "./bench").CombinedOutput()
	if err != nil {
		t.Fatalf("TestHalvedNode: %v: %s", err, out)
	}
	m := regexp.MustCompile(`(?m)^=== ATTR +TestHalvedNode ` + halvedAttr + ` (\S+)$`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("TestHalvedNode said no %s: %s", halvedAttr, out)
	}
	late, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	add("tail.virtual_late_pct", benchline.One(late), "%")
}

// halvedAttr is the attribute of TestHalvedNode.
const halvedAttr = "late_pct"

// progressed is the least progress of the first stage's executors, 0 until both
// nodes' are at work.
func progressed(a api.AppDetail) float64 {
	if len(a.Stages) == 0 {
		return 0
	}
	newest := map[api.ExecutorID]float64{}
	for _, sample := range a.Stages[0].Samples {
		newest[sample.Executor] = float64(sample.Progress)
	}
	least := 1.0
	for _, p := range newest {
		least = min(least, p)
	}
	if len(newest) < 2 {
		return 0
	}
	return least
}

// limit gives all executors of a node together no more than cores; 0 lifts that.
func limit(t testing.TB, node string, cores units.Cores) {
	t.Helper()
	outer, err := cgroup.Open("", "pacer")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := outer.Group("node-" + node)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	if cores == 0 {
		if err := whole.SetQuota(units.Unlimited); err != nil {
			t.Fatal(err)
		}
		return
	}
	// The v1 kernel refuses a quota below that of a group inside, so those go first; the
	// node controller may be quicker and write one again.
	for range 20 {
		lower(t, node, cores)
		if err = whole.SetQuota(cores); !errors.Is(err, unix.EINVAL) {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// lower brings the quotas of a node's executors down to cores.
func lower(t testing.TB, node string, cores units.Cores) {
	t.Helper()
	inner, err := cgroup.Open("", "pacer/node-"+node)
	if err != nil {
		t.Fatal(err)
	}
	names, err := inner.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		g, err := inner.Group(name)
		if err != nil {
			t.Fatal(err)
		}
		if quota, err := g.Quota(); err == nil && quota > cores {
			err = g.SetQuota(cores)
			if err != nil {
				t.Error(err)
			}
		}
		_ = g.Close()
	}
}
