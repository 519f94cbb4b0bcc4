package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
)

const (
	// attachFaultRounds are rounds of three faults, attachHeld is how long an executor may take to be held again.
	attachFaultRounds = 10
	attachHeld        = time.Minute
	// attachBack is how long what was found may take to be put back: guards wait for another node controller.
	attachBack = 30 * time.Second
)

// attachFaults ends and kills node controllers, and kills planners, while an application runs on YARN that is held
// back, and looks each time whether executors are in the groups in which they were found, and these as they were.
func attachFaults(t testing.TB, add adder) {
	y, s := realenv.NewYARN(t), realenv.New(t)
	s.On(y)
	planner := s.StartPlanner()
	run := s.Submit("--pacer-profile", "faults", "test/e2e/testdata/branches.py", "1", "1800")
	var app api.AppDetail
	s.Await("two executors", realenv.Patience, func() bool {
		if len(s.Apps()) > 0 {
			app = s.Newest()
		}
		return len(app.Executors) == 2
	})
	found := attachedGroups(t)
	if len(found) != 2 {
		t.Fatalf("found %d executors on this machine", len(found))
	}
	node := s.StartNode("--attach")
	held := func() {
		s.Await("executors to be held", attachHeld, func() bool { return !maps.Equal(attachedGroups(t), found) })
	}
	changed, faults := 0, 0
	back := func(after string) {
		faults++
		now := map[int]string{}
		if !realenv.Poll(200*time.Millisecond, attachBack, func() bool {
			now = attachedGroups(t)
			return maps.Equal(now, found)
		}) {
			changed++
			t.Logf("after %s: %v, found were %v", after, now, found)
		}
	}
	for round := range attachFaultRounds {
		t.Logf("round %d of %d", round+1, attachFaultRounds)
		held()
		planner.Signal(syscall.SIGKILL)
		<-planner.Exited()
		faults++
		planner = s.StartPlanner()
		node.Signal(syscall.SIGKILL)
		<-node.Exited()
		back("kill -9 of the node controller")
		node = s.StartNode("--attach")
		held()
		node.Stop()
		back("the end of the node controller")
		node = s.StartNode("--attach")
	}
	select {
	case <-run.Exited():
		t.Fatalf("the application has ended: %s", run.LastWords())
	default:
	}
	run.Stop()
	left := benchline.One(float64(changed))
	left.N = faults
	add("attach.left_changed", left, "faults")
}

// attachedGroups are the executors of YARN on this machine, each with its groups and what they bound.
func attachedGroups(t testing.TB) map[int]string {
	t.Helper()
	out := map[int]string{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // It may have ended.
		program, _, _ := strings.Cut(string(line), "\x00")
		if filepath.Base(program) != "java" || !strings.Contains(string(line), "YarnCoarseGrainedExecutorBackend") {
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

// bounds are quota, period and weight of the groups of a process.
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
