package bench

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/internal/realenv"
	"github.com/sparkpacer/pacer/internal/testenv"
	"github.com/sparkpacer/pacer/units"
)

// tail measures how much after its set point a stage ends when, in its middle,
// one of two nodes of 0.75 core loses half of it: on real Spark, and in virtual
// time, where no other program has a part in the figure.
func tail(t *testing.T, add adder) {
	add(t, "tail.virtual_late_pct", virtualTail(t), "%")
	s := realenv.NewOn(t, realenv.NewNetwork(t, "n1", "n2"))
	s.StartPlanner()
	for _, node := range []string{"n1", "n2"} {
		s.StartNamed(node, "--cores", "0.75", "--memory", "3g")
	}
	if code := s.Submit("testdata/tail.py", "1.5").Wait(3 * time.Minute); code != 0 {
		t.Fatalf("recording run: exit %d", code)
	}
	recorded := ended(s)
	for range 3 {
		app := halvedRun(t, s, recorded.Duration*1.6)
		stage := app.Stages[0]
		if stage.ErrorPct == nil || app.ErrorPct == nil {
			t.Fatalf("no deadline: %+v", app.AppSummary)
		}
		t.Logf("at all cores %v; a stage of %v and %.1f core-seconds took %v; the application ended %.2f %% before its deadline",
			recorded.Duration, stage.Deadline, float64(stage.CoreSeconds), stage.Duration, *app.ErrorPct)
		// A driver that was slow to start may have left too little time.
		if left := float64(stage.Deadline) * (0.75 + halved); left >= float64(stage.CoreSeconds) {
			add(t, "tail.late_pct", *stage.ErrorPct, "%")
			return
		}
		t.Log("the capacity did not allow the stage's deadline: trying again")
	}
	t.Error("three runs left no time for the stage: the machine is too busy for this figure")
}

// halved is what is left of a node's 0.75 core.
const halved = 0.75 / 2

// halvedRun runs the application with a deadline and takes half of n2 away, by a
// quota on the node's own group, when a quarter of its first stage is done.
func halvedRun(t *testing.T, s *realenv.System, deadline units.Seconds) api.AppDetail {
	t.Helper()
	limit(t, "n2", 0)
	p := s.Submit("--pacer-deadline", deadline.String(), "testdata/tail.py", "1.5")
	s.AwaitApp("the stage to be at a quarter", 2*time.Minute, func(a api.AppDetail) bool {
		return a.State == api.AppRunning && progressed(a) > 0.25
	})
	limit(t, "n2", halved)
	if code := p.Wait(4 * time.Minute); code != 0 {
		t.Fatalf("exit %d", code)
	}
	return ended(s)
}

// virtualTail is the same in virtual time.
func virtualTail(t *testing.T) (late float64) {
	testenv.Run(t, func(e *testenv.Env) {
		e.StartPlanner()
		e.StartNode(testenv.NodeSpec{Name: "n1", Cores: 0.75})
		n2 := e.StartNode(testenv.NodeSpec{Name: "n2", Cores: 0.75})
		app := testenv.Chain("chain", 1, 60)
		app.Stages[0].Tasks = 120
		app.Deadline = e.Submit(app).Wait().Duration * 1.6
		d := e.Submit(app)
		e.Until("a quarter is done", func() bool { return progressed(e.App(d.ID())) > 0.25 })
		n2.Slow(0.5)
		late = *d.Wait().Stages[0].ErrorPct
	})
	return late
}

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
func limit(t *testing.T, node string, cores float64) {
	t.Helper()
	const period = 50_000
	quota := strconv.Itoa(int(cores * period))
	if v2 := filepath.Join("/sys/fs/cgroup/pacer/node-"+node, "cpu.max"); exists(v2) {
		if cores == 0 {
			quota = "max"
		}
		write(t, v2, quota+" "+strconv.Itoa(period))
		return
	}
	if cores == 0 {
		quota = "-1"
	}
	group := "/sys/fs/cgroup/cpu/pacer/node-" + node
	write(t, filepath.Join(group, "cpu.cfs_period_us"), strconv.Itoa(period))
	// The kernel refuses a quota below that of a group inside, so those go first; the
	// node controller may be quicker and write one again.
	var err error
	for range 20 {
		if cores > 0 {
			lower(t, group, cores)
		}
		if err = os.WriteFile(filepath.Join(group, "cpu.cfs_quota_us"), []byte(quota), 0o644); !errors.Is(err, unix.EINVAL) {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// lower brings the quotas of the groups inside group down to cores.
func lower(t *testing.T, group string, cores float64) {
	t.Helper()
	inside, err := filepath.Glob(filepath.Join(group, "*", "cpu.cfs_quota_us"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range inside {
		period := number(t, filepath.Join(filepath.Dir(file), "cpu.cfs_period_us"))
		if most := int(cores * float64(period)); number(t, file) > most {
			write(t, file, strconv.Itoa(most))
		}
	}
}

// number reads a file that holds one.
func number(t *testing.T, path string) int {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func write(t *testing.T, path, value string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(value), 0o644); err != nil {
		t.Fatal(err)
	}
}
