package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/infra/eventlog"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/test/sparklog"
)

// pairs are the runs of each kind.
const pairs = 5

// small is an application's size at which its start is what counts.
const small = "0.02"

// withoutArchives are the flags of a run that maps no class-data archive: options
// of the user that have a say, and are what the JVM does anyway.
var withoutArchives = []string{"--conf", "spark.executor.extraJavaOptions=-Xshare:auto", "--conf",
	"spark.driver.extraJavaOptions=-Xshare:auto"}

// start compares starts. CPU: what an executor has used when its driver has
// registered it, with a class-data archive against without. Wall: from the
// command to the first task's launch, `pacer submit` with an archive against
// stock spark-submit on a standalone master that waits for it.
func start(t testing.TB, add adder) {
	cluster := startStandalone(t)
	s := realenv.StartUp(t)
	var cpu, wall, plain []float64
	for i := range pairs {
		without, slow := pacerStart(t, s, withoutArchives...)
		began := time.Now()
		stock := firstLaunch(stockRun(t, cluster, app, small).Log, began)
		with, fast := pacerStart(t, s)
		cpu, wall, plain = append(cpu, with/without), append(wall, fast/stock), append(plain, slow/stock)
		t.Logf(
			"pair %d: executor %.2f core-seconds with and %.2f without; first task after %.2f s stock, %.2f s with and %.2f s "+
				"without",
			i+1, with, without, stock, fast, slow)
	}
	add("start.cpu_ratio", benchline.Median(cpu), "ratio")
	add("start.wall_ratio", benchline.Median(wall), "ratio")
	add("start.wall_ratio.without_archive", benchline.Median(plain), "ratio")
}

// pacerStart runs the application and returns its executor's core-seconds until
// registered and the seconds until its first task.
func pacerStart(t testing.TB, s *realenv.System, args ...string) (cpu, wall float64) {
	t.Helper()
	before := executorDirs(t, s)
	began := time.Now()
	registered := make(chan float64, 1)
	ended := make(chan struct{})
	go func() { registered <- cpuAtRegistration(s, before, ended) }()
	log := pacerRun(t, s, small, args...)
	close(ended)
	if cpu = <-registered; cpu <= 0 {
		t.Fatal("no executor was seen to register")
	}
	return cpu, firstLaunch(log, began)
}

func executorDirs(t testing.TB, s *realenv.System) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(s.Dir, "state", "work", "apps", "*", "1"))
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// cpuAtRegistration waits for the log of a new executor to say that the driver
// has registered it and returns what its process has used; 0 if the run ends
// before.
func cpuAtRegistration(s *realenv.System, before []string, ended <-chan struct{}) float64 {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return 0
		case <-tick.C:
		}
		dirs, _ := filepath.Glob(filepath.Join(s.Dir, "state", "work", "apps", "*", "1"))
		for _, dir := range dirs {
			if slices.Contains(before, dir) {
				continue
			}
			said, err := os.ReadFile(filepath.Join(dir, "stderr"))
			if err == nil && bytes.Contains(said, []byte("Successfully registered with driver")) {
				return processCPU(filepath.Join(dir, "handle.json"))
			}
		}
	}
}

// processCPU is the CPU time of an executor's process in seconds, 0 when it
// cannot be read.
func processCPU(handle string) float64 {
	body, err := os.ReadFile(handle)
	var h executor.Handle
	if err != nil || json.Unmarshal(body, &h) != nil {
		return 0
	}
	return realenv.CPU(h.PID)
}

// firstLaunch is the time from began to the launch of the first task in seconds.
func firstLaunch(log sparklog.Log, began time.Time) float64 {
	first := slices.MinFunc(log.Tasks, func(a, b eventlog.Task) int { return int(a.Launch - b.Launch) }).Launch
	return float64(first-began.UnixMilli()) / 1000
}

// pacerRun runs the application without a deadline: all cores, ungated.
func pacerRun(t testing.TB, s *realenv.System, scale string, args ...string) sparklog.Log {
	t.Helper()
	if code := s.Submit(slices.Concat(memory, args, []string{app, scale})...).Wait(4 * time.Minute); code != 0 {
		t.Fatalf("under Pacer: exit %d", code)
	}
	return s.Log(ended(s).ID)
}
