package realenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/sparkrun"
	"github.com/sparkpacer/pacer/daemon"
)

// cluster starts the executors where Pacer does not. Env is what the environment of a spark-submit has that
// submits to it, Flags are those of a submission to it: two executors of a core each, on this machine's Spark.
type cluster interface {
	Env() []string
	Flags() []string
}

// On has what s submits go to c, which starts executors without archives.
func (s *System) On(c cluster) {
	s.Env, s.archives, s.cluster = append(s.Env, c.Env()...), daemon.NoArchives, c
}

// Group is what bounds a container: quota and period in us, a quota of -1 for none, and the weight, of cgroup v1.
type Group struct{ Quota, Period, Weight int }

// Cores is the quota in cores.
func (g Group) Cores() float64 { return float64(g.Quota) / float64(g.Period) }

// executors are the groups that match a pattern and in which Spark's executors run now, by their directories.
func executors(t testing.TB, pattern string) map[string]Group {
	t.Helper()
	dirs, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Group{}
	for _, dir := range dirs {
		g, procs := readGroup(dir)
		if slices.ContainsFunc(procs, func(pid string) bool {
			line, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
			program, arguments, _ := strings.Cut(string(line), "\x00")
			return filepath.Base(program) == "java" && strings.Contains(arguments, "ExecutorBackend")
		}) {
			out[dir] = g
		}
	}
	return out
}

// readGroup returns what a group was at one moment, which its files are read twice for, and its processes:
// none where it has gone.
func readGroup(dir string) (g Group, procs []string) {
	for last := ""; ; {
		var text []string
		for _, name := range []string{"cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.shares", "cgroup.procs"} {
			body, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return g, nil
			}
			text = append(text, string(body))
		}
		bounds := strings.Join(text[:3], " ")
		if n, _ := fmt.Sscan(bounds, &g.Quota, &g.Period, &g.Weight); n == 3 && bounds == last {
			return g, strings.Fields(text[3])
		}
		last = bounds
	}
}

// newest is Spark's id of the application whose event log in dir was written last.
func newest(t testing.TB, dir string) (app api.AppID) {
	t.Helper()
	logs, err := os.ReadDir(dir)
	var last int64
	for _, log := range logs {
		info, gone := log.Info()
		if err = errors.Join(err, gone); err == nil && info.ModTime().UnixNano() > last {
			app, last = api.AppID(strings.TrimSuffix(log.Name(), ".inprogress")), info.ModTime().UnixNano()
		}
	}
	if err != nil || app == "" {
		t.Fatalf("no application has an event log in %s: %v", dir, err)
	}
	return app
}

// script runs one of scripts/ that becomes ready, and ends with the test.
func script(t testing.TB, name string, args ...string) *Process {
	t.Helper()
	root, err := moduleRoot()
	return ready(t, sparkrun.Command{Path: filepath.Join(root, "scripts", name), Args: args}, err)
}

// moduleRoot is the nearest directory above that has a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("no go.mod above the working directory")
		}
	}
	return "", err
}
