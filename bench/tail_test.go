package bench

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/internal/realenv"
)

// tail runs one long stage on two node controllers of 0.75 core and takes half of
// one node's capacity away in mid-stage, by a quota on the node's own group. It
// measures how much after its set point the stage ends: the tail has to go to
// the other node.
func tail(t *testing.T, add adder) {
	s := realenv.NewOn(t, realenv.NewNetwork(t, "n1", "n2"))
	s.StartPlanner()
	for _, node := range []string{"n1", "n2"} {
		s.StartNamed(node, "--cores", "0.75", "--memory", "3g")
	}
	if code := s.Submit("testdata/tail.py").Wait(3 * time.Minute); code != 0 {
		t.Fatalf("recording run: exit %d", code)
	}
	recorded := ended(s)
	p := s.Submit("--pacer-deadline", (recorded.Duration * 1.6).String(), "testdata/tail.py")
	s.AwaitApp("the stage to be at a quarter", 2*time.Minute, func(a api.AppDetail) bool {
		return a.State == api.AppRunning && progressed(a) > 0.25
	})
	halve(t, "n2", 0.75/2)
	if code := p.Wait(4 * time.Minute); code != 0 {
		t.Fatalf("exit %d", code)
	}
	app := ended(s)
	stage := app.Stages[0]
	if stage.ErrorPct == nil || app.ErrorPct == nil {
		t.Fatalf("no deadline: %+v", app.AppSummary)
	}
	t.Logf("at all cores %v; stage of %v took %v; the application ended %.2f %% before its deadline", recorded.Duration,
		stage.Deadline, stage.Duration, *app.ErrorPct)
	add(t, "tail.late_pct", *stage.ErrorPct, "%")
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

// halve gives all executors of a node together no more than cores.
func halve(t *testing.T, node string, cores float64) {
	t.Helper()
	const period = 50_000
	quota := strconv.Itoa(int(cores * period))
	if v2 := filepath.Join("/sys/fs/cgroup/pacer/node-"+node, "cpu.max"); exists(v2) {
		write(t, v2, quota+" "+strconv.Itoa(period))
		return
	}
	group := "/sys/fs/cgroup/cpu/pacer/node-" + node
	write(t, filepath.Join(group, "cpu.cfs_period_us"), strconv.Itoa(period))
	write(t, filepath.Join(group, "cpu.cfs_quota_us"), quota)
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
