package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// executorPID finds an executor's JVM by its command line, as an operator would,
// and by its directory: applications of another test's planner may have the same ids.
func executorPID(t *testing.T, s *realenv.System, app api.AppID, id api.ExecutorID) int {
	t.Helper()
	found := 0
	s.Await(fmt.Sprintf("executor %s of %s to run", id, app), patience, func() bool {
		for pid, args := range processes(t) {
			line := strings.Join(args, " ") + " "
			if strings.Contains(line, "CoarseGrainedExecutorBackend ") && strings.Contains(line, " --app-id "+string(app)+" ") &&
				strings.Contains(line, " --executor-id "+string(id)+" ") && within(pid, s.Dir) {
				found = pid
			}
		}
		return found != 0
	})
	return found
}

// within reports whether a process works below dir.
func within(pid int, dir string) bool {
	at, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return err == nil && strings.HasPrefix(at, dir+"/")
}

// driverPIDs are the descendants of `pacer submit`, itself not included.
func driverPIDs(t *testing.T, submit int) []int {
	t.Helper()
	parents := map[int]int{}
	for pid := range processes(t) {
		parents[pid] = realenv.Parent(pid)
	}
	var out []int
	for pid := range parents {
		for p := parents[pid]; p > 1; p = parents[p] {
			if p == submit {
				out = append(out, pid)
				break
			}
		}
	}
	return out
}

func processes(t *testing.T) map[int][]string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int][]string{}
	for _, path := range dirs {
		body, err := os.ReadFile(path)
		if err != nil {
			continue // It has just ended.
		}
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		out[pid] = strings.Split(strings.TrimRight(string(body), "\x00"), "\x00")
	}
	return out
}

// alive reports whether the process runs; a zombie does not.
func alive(pid int) bool {
	fields := realenv.Stat(pid)
	return len(fields) > 0 && fields[0] != "Z" && fields[0] != "X"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// cgroupOf returns the directory of the cpu group that a process is in, "" when it
// has ended.
func cgroupOf(t *testing.T, pid int) string {
	t.Helper()
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	unified := ""
	for _, line := range strings.Split(strings.TrimSpace(string(body)), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if parts[0] == "0" {
			unified = filepath.Join("/sys/fs/cgroup", parts[2])
		}
		for _, controller := range strings.Split(parts[1], ",") {
			if controller == "cpu" {
				return filepath.Join("/sys/fs/cgroup/cpu", parts[2])
			}
		}
	}
	return unified
}
