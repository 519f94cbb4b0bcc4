package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

const (
	// attachFaultRounds are rounds of eight faults, each with an application of its own, attachHeld is how long one may
	// take to be held back again.
	attachFaultRounds = 4
	attachHeld        = time.Minute
	// attachBack is how long what was found may take to be put back: guards wait for another node controller.
	attachBack = 30 * time.Second
	// attachFaultDeadline is far off: executors are held far below their ceilings until all faults of a round are over.
	attachFaultDeadline = "15m"
)

// attachFaulted is an application of two chained stages of 90 core-seconds, on two executors whatever it needs.
var attachFaulted = []string{"--conf", "spark.dynamicAllocation.minExecutors=2",
	"--conf", "spark.sql.adaptive.enabled=false", "test/e2e/testdata/chain.py", "12"}

// faulted is a Pacer whose processes are killed while an application on YARN is held back.
type faulted struct {
	t       testing.TB
	y       *realenv.YARN
	s       *realenv.System
	planner *realenv.Process
	node    *realenv.Process
	// found are the NodeManagers, and the executors before a node controller held them.
	found map[int]string
	// faults are those so far, changed those after which something was not as found.
	faults, changed int
}

// attachFaults ends and kills planners, node controllers, guards and NodeManagers while an application has quotas on
// YARN, and then the application, and looks each time whether executors and NodeManagers are in the groups in which
// they were found, and these as they were.
func attachFaults(t testing.TB, add adder) {
	f := faulted{t: t, y: realenv.NewYARN(t), s: realenv.New(t)}
	f.s.On(f.y)
	f.planner = f.s.StartPlanner()
	record := f.s.Submit(attachFaulted...)
	if code := record.Wait(runLimit); code != 0 {
		t.Fatalf("the recording run: exit %d: %s", code, record.LastWords())
	}
	ended(f.s)
	for round := range attachFaultRounds {
		t.Logf("round %d of %d, %d of %d left something changed", round+1, attachFaultRounds, f.changed, f.faults)
		f.round(guardLock(round), guardLock(round+1))
	}
	left := benchline.One(float64(f.changed))
	left.N = f.faults
	add("attach.left_changed", left, "faults")
}

// round has an application run, and one of each fault. Of the two guards each survives in some rounds.
func (f *faulted) round(one, other string) {
	t := f.t
	t.Helper()
	f.s.Await("executors of before to be gone", realenv.Patience, func() bool { return len(f.groups()) == 2 })
	run := f.s.Submit(append([]string{"--pacer-deadline", attachFaultDeadline}, attachFaulted...)...)
	f.s.AwaitApp("two executors", realenv.Patience, func(a api.AppDetail) bool {
		return a.State == api.AppRunning && len(a.Executors) == 2
	})
	if f.found = f.groups(); len(f.found) != 4 {
		t.Fatalf("%d executors are on this machine", len(f.found)-2)
	}

	f.hold()
	kill(f.planner)
	f.node.Stop()
	f.back("kill -9 of the planner and the end of the node controller")
	f.planner = f.s.StartPlanner()

	f.hold()
	f.node.Stop()
	f.back("the end of the node controller")

	f.hold()
	kill(f.node)
	f.back("kill -9 of the node controller")

	f.hold()
	f.killGuard(one)
	f.killGuard(other)
	f.node.Stop()
	f.back("kill -9 of both guards and the end of the node controller")

	f.hold()
	f.killGuard(one)
	kill(f.node)
	f.back("kill -9 of a guard and then of the node controller")

	f.hold()
	kill(f.node)
	f.killGuard(other)
	f.back("kill -9 of the node controller and then of a guard")

	f.hold()
	f.recover()
	f.node.Stop()
	f.back("kill -9 of both NodeManagers, which recover, and the end of the node controller")

	f.hold()
	run.Stop()
	maps.DeleteFunc(f.found, func(pid int, _ string) bool { return !slices.Contains(f.y.Daemons(), pid) })
	f.back("the end of the application")
	f.node.Stop()
}

// hold starts a node controller, and waits until it has written a quota.
func (f *faulted) hold() {
	f.t.Helper()
	f.node = f.s.StartNode("--attach")
	f.s.Await("an executor to be held back", attachHeld, f.held)
}

// held reports whether an executor has a quota that was not found.
func (f *faulted) held() bool {
	for pid, is := range f.groups() {
		if was := f.found[pid]; is != was && quotaOf(is) > 0 && quotaOf(is) != quotaOf(was) {
			return true
		}
	}
	return false
}

// recover kills the NodeManagers, which take their containers back: executors stay held.
func (f *faulted) recover() {
	f.t.Helper()
	killed := f.y.Daemons()[1:]
	if n := f.y.Recover(); n != 3 {
		f.t.Fatalf("NodeManagers have taken %d containers back: they are of two executors and of an ApplicationMaster", n)
	}
	for i, pid := range f.y.Daemons()[1:] {
		f.found[pid] = f.found[killed[i]]
		delete(f.found, killed[i])
	}
	f.s.Await("an executor to be held back after the NodeManagers' recovery", attachHeld, f.held)
}

// back counts a fault, and whether all is as it was found after it.
func (f *faulted) back(after string) {
	f.t.Helper()
	f.faults++
	now := map[int]string{}
	if !realenv.Poll(200*time.Millisecond, attachBack, func() bool {
		now = f.groups()
		return maps.Equal(now, f.found)
	}) {
		f.changed++
		f.t.Logf("after %s: %v, found were %v", after, now, f.found)
	}
}

// kill kills a process, and waits until it is gone.
func kill(p *realenv.Process) {
	p.Signal(syscall.SIGKILL)
	<-p.Exited()
}

// guardLock is the file with which one of the two guards of a node controller says that it is there.
func guardLock(i int) string { return [...]string{"guard.lock", "guard-2.lock"}[i%2] }

// killGuard kills the guard of the system's node controller that holds a lock.
func (f *faulted) killGuard(lock string) {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.s.Dir, "nodecontroller", lock))
	var pid int
	if err == nil {
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		f.t.Fatalf("kill the guard that holds %s: %v", lock, err)
	}
}

// groups are the NodeManagers and the executors of its YARN, each with its groups and what these bound.
func (f *faulted) groups() map[int]string {
	f.t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		f.t.Fatal(err)
	}
	out := map[int]string{}
	for _, dir := range dirs {
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // It may have ended.
		text := string(line)
		program, _, _ := strings.Cut(text, "\x00")
		if filepath.Base(program) != "java" || !strings.Contains(text, f.y.Dir) ||
			!strings.Contains(text, "YarnCoarseGrainedExecutorBackend") && !strings.Contains(text, "nodemanager.NodeManager") {
			continue
		}
		groups, err := os.ReadFile(filepath.Join(dir, "cgroup"))
		if err != nil {
			continue
		}
		var pid int
		if _, err := fmt.Sscan(filepath.Base(dir), &pid); err == nil {
			out[pid] = string(groups) + bounds(string(groups))
		}
	}
	return out
}

// bounds are quota, period and weight of the groups of a process, a line each.
func bounds(groups string) string {
	var out strings.Builder
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		files, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup", fields[1], fields[2], "cpu.*"))
		for _, file := range files {
			if strings.Contains(file, "stat") || strings.Contains(file, "pressure") {
				continue // What changes by itself.
			}
			if body, err := os.ReadFile(file); err == nil {
				fmt.Fprintf(&out, "%s %s\n", file, strings.TrimSpace(string(body)))
			}
		}
	}
	return out.String()
}

// quotaOf is the quota in bounds, in microseconds of its period, 0 for none.
func quotaOf(bounds string) int {
	for line := range strings.Lines(bounds) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		if strings.HasSuffix(fields[0], "quota_us") || strings.HasSuffix(fields[0], ".max") { // Of v1, and of v2.
			quota, _ := strconv.Atoi(fields[1]) // max is no number.
			return max(0, quota)
		}
	}
	return 0
}
