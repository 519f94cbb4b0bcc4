package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

const (
	// clusterRuns is how many pairs there are of each program, killsOf how many kills, and driversOf how many drivers at
	// once, for each of them.
	clusterRuns, killsOf, driversOf = 5, 4, 4
	// clusterSlack is a paced run's deadline over the time that its program took at all cores.
	clusterSlack = 1.4
	// threeDrivers is what a node has for drivers and executors: three drivers with an executor each, and no fourth.
	threeDrivers = "7300m"
	// exitCode is that of the program that is killed about.
	exitCode = 3
)

// inCluster has a node start the driver.
var inCluster = []string{"--deploy-mode", "cluster"}

// applicationRows measure applications whose drivers are nodes' to start.
func applicationRows(o trialOptions) []row {
	if o.runs == 0 {
		o.runs = clusterRuns
	}
	n := float64(o.runs)
	return []row{
		{name: "cluster", minutes: 3 + 4*n, spark: true, measure: func(t testing.TB, add adder) { clustered(t, add, o) }},
		{name: "cluster-kills", minutes: 3 * n, spark: true, measure: func(t testing.TB, add adder) { killed(t, add, o) }},
		{name: "cluster-drivers", minutes: n, spark: true, measure: func(t testing.TB, add adder) { crowded(t, add, o) }},
	}
}

// clustered has a program in Scala and one in Python run in client mode and in cluster mode by turns, then under
// deadlines in cluster mode.
func clustered(t testing.TB, add adder, o trialOptions) {
	s := realenv.StartUp(t)
	var ratios, starts, late, early []float64
	for name, program := range programs() {
		seconds := map[bool][]float64{}
		var took []float64
		clusterRun(t, s, false, program...) // The first run of a program on a machine finds nothing in its caches.
		for round := 1; round <= o.runs; round++ {
			for _, cluster := range shuffled([]bool{false, true}, o.seed, fmt.Sprintf("%s %d", name, round)) {
				run, app := clusterRun(t, s, cluster, program...)
				seconds[cluster] = append(seconds[cluster], firstLaunch(s.Log(app.ID), run.Began()))
				took = append(took, run.Took().Seconds())
				if cluster {
					starts = append(starts, componentStart(t, s, app.ID))
				}
			}
			ratios = append(ratios, seconds[true][round-1]/seconds[false][round-1])
		}
		t.Logf("%s: first task after %.1f s in client mode, %.1f s in cluster mode; the node takes %.2f s", name,
			seconds[false], seconds[true], starts)
		within := clusterSlack * slices.Max(took)
		for range o.runs {
			flags, deadline := deadlineFlags(within)
			run, _ := clusterRun(t, s, true, append(flags, program...)...)
			spare := 100 * (1 - run.Took().Seconds()/deadline)
			late, early = append(late, 0), append(early, spare)
			if spare < 0 {
				late[len(late)-1] = 1
			}
			t.Logf("%s, due after %.1f s: exits %+.1f %% early", name, deadline, spare)
		}
	}
	add("cluster.first_task_ratio", benchline.Median(ratios), "ratio")
	add("component.start_s.p50", benchline.Median(starts), "s")
	add("cluster.late", benchline.Sum(late), "runs")
	add("cluster.early_pct.max", benchline.Quantile(early, 1), "%")
}

// programs are what runs, in both languages.
func programs() map[string][]string {
	return map[string][]string{"python": {app, "0.2"},
		"scala": {"--class", "io.sparkpacer.workloads.Main", workloadsJar, "group-by", "--slice"}}
}

// clusterRun runs a program to its end, in one of both modes.
func clusterRun(t testing.TB, s *realenv.System, cluster bool, args ...string) (*realenv.Process, api.AppDetail) {
	t.Helper()
	if cluster {
		args = slices.Concat(inCluster, args)
	}
	run := s.Submit(args...)
	if code := run.Wait(runLimit); code != 0 {
		t.Fatalf("%v: exit %d: %s", args, code, run.LastWords())
	}
	return run, ended(s)
}

// componentStart is from the planner's word that a driver starts to the birth of its log, with which its node starts
// the process: what the node does before that, the files included.
func componentStart(t testing.TB, s *realenv.System, id api.AppID) float64 {
	t.Helper()
	line := ""
	for l := range strings.Lines(s.Up.Output()) {
		if strings.Contains(l, "the driver of "+string(id)+" starts on node") {
			line = l
		}
	}
	_, text, _ := strings.Cut(line, "time=")
	text, _, _ = strings.Cut(text, " ")
	told, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatalf("the planner's word of the driver of %s: %v: %q", id, err, line)
	}
	found, _ := filepath.Glob(filepath.Join(s.Dir, "*", "work", "apps", string(id), "driver", "stderr"))
	if len(found) != 1 {
		t.Fatalf("the log of the driver of %s: %v", id, found)
	}
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, found[0], 0, unix.STATX_BTIME, &st); err != nil || st.Btime.Sec == 0 {
		t.Fatalf("the birth of %s: %v", found[0], err)
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)).Sub(told).Seconds()
}

// killed kills pacer submit, the planner or the node controller by turns, at moments from the upload on, and starts
// what has to run again: an application is lost that does not end with its program's exit code.
func killed(t testing.TB, add adder, o trialOptions) {
	s := realenv.New(t)
	planner, node := s.StartPlanner(), s.StartNode()
	draw := rand.New(rand.NewPCG(o.seed, 1))
	// What is said once an application is taken, has a driver that starts, that runs, that has registered.
	moments := []string{": ", " starts on node ", " runs on node ", " runs, its driver on node "}
	var lost []float64
	for i := range killsOf * o.runs {
		run := s.Submit(slices.Concat(inCluster, []string{"test/bench/testdata/exits.py", fmt.Sprint(exitCode)})...)
		moment := moments[draw.IntN(len(moments))]
		run.Await("pacer: app-", runLimit)
		if moment != moments[0] {
			run.Await(moment, runLimit)
		}
		time.Sleep(time.Duration(draw.IntN(1500)) * time.Millisecond)
		victim := []string{"pacer submit", "planner", "node controller"}[i%3]
		switch victim {
		case "pacer submit":
			run.Signal(syscall.SIGKILL)
		case "planner":
			planner.Signal(syscall.SIGKILL)
			planner.Wait(runLimit)
			planner = s.StartPlanner()
		default:
			node.Signal(syscall.SIGKILL)
			node.Wait(runLimit)
			node = s.StartNode()
		}
		code := run.Wait(runLimit)
		app := s.AwaitApp("its end", runLimit, func(a api.AppDetail) bool {
			return (a.State == api.AppFailed || a.State == api.AppFinished) && a.EndedBy == api.EndedByExit
		})
		wrong := 0.0
		if app.ExitCode != exitCode || victim != "pacer submit" && code != exitCode {
			wrong = 1
		}
		t.Logf("kill %d, of the %s when it says %q: pacer submit exits with %d, %s is %s with %d", i+1, victim, moment, code,
			app.ID, app.State, app.ExitCode)
		lost = append(lost, wrong)
	}
	add("cluster.kills_lost", benchline.Sum(lost), "applications")
}

// crowded submits many drivers at once to a node that has memory for three with an executor each.
func crowded(t testing.TB, add adder, o trialOptions) {
	s := realenv.StartUp(t, "--memory", threeDrivers)
	drivers := driversOf * o.runs
	for range drivers {
		run := s.Submit(slices.Concat(inCluster, []string{"--detach", "test/bench/testdata/exits.py", "0"})...)
		if code := run.Wait(runLimit); code != 0 {
			t.Fatalf("exit %d: %s", code, run.LastWords())
		}
	}
	most := 0
	count := func() (over int) {
		runs := 0
		for _, a := range s.Apps() {
			switch a.State {
			case api.AppFinished:
				over++
			case api.AppRunning:
				runs++
			}
		}
		most = max(most, runs)
		return over
	}
	realenv.Poll(time.Second, runLimit+time.Duration(drivers)*time.Minute, func() bool { return count() == drivers })
	over := count()
	t.Logf("%d of %d drivers have ended, at most %d ran at once", over, drivers, most)
	add("cluster.deadlocks", benchline.Measured{Value: float64(drivers - over), N: drivers}, "applications")
}
