package realenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/sparkrun"
	"github.com/sparkpacer/pacer/daemon"
)

// YARN is a ResourceManager and two NodeManagers on this machine's loopback (scripts/yarn.sh).
type YARN struct {
	*Process
	// Dir has its files, as the script says.
	Dir string
	t   testing.TB
}

// What containers get of YARN's own handlers: a group with a weight each, or one with a quota too.
const (
	Weights = "weights"
	Strict  = "strict"
)

// NewYARN starts a YARN, which ends with the test, and waits until its nodes are there. groups is one of the
// constants; without it the executor of containers is YARN's default, in whose own group they stay.
func NewYARN(t testing.TB, groups ...string) *YARN {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := sparkrun.Command{Path: filepath.Join(root, "scripts", "yarn.sh"), Args: append([]string{"run", dir}, groups...)}
	return &YARN{ready(t, c, nil), dir, t}
}

// Daemons are the processes of its ResourceManager and its NodeManagers.
func (y *YARN) Daemons() (pids []int) {
	y.t.Helper()
	for _, name := range []string{"rm", "nm1", "nm2"} {
		text, err := os.ReadFile(filepath.Join(y.Dir, name+".pid"))
		var pid int
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		if err != nil {
			y.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
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

// Env is what the environment of a spark-submit has that submits to it.
func (y *YARN) Env() []string { return []string{"HADOOP_CONF_DIR=" + filepath.Join(y.Dir, "conf")} }

// Flags are those of a submission to it: two executors of a core each, on this machine's Spark. Of a paced application
// the planner asks for one or both.
func (y *YARN) Flags() []string {
	return []string{"--master", "yarn", "--num-executors", "2", "--executor-cores", "1",
		"--conf", "spark.yarn.jars=local:" + filepath.Join(SparkHome(y.t), "jars", "*"),
		"--conf", "spark.yarn.stagingDir=file://" + filepath.Join(y.Dir, "staging"),
		"--conf", "spark.yarn.am.memory=256m", "--conf", "spark.driver.host=127.0.0.1",
		"--conf", "spark.driver.bindAddress=127.0.0.1"}
}

// Group is what bounds a container: quota and period in us, a quota of -1 for none, and the weight, of cgroup v1.
type Group struct{ Quota, Period, Weight int }

// Cores is the quota in cores.
func (g Group) Cores() float64 { return float64(g.Quota) / float64(g.Period) }

// Executors are the groups that YARN has made for containers in which Spark's executors run now, by their
// directories.
func (y *YARN) Executors() map[string]Group {
	y.t.Helper()
	top, err := os.ReadFile(filepath.Join(y.Dir, "groups"))
	if err != nil {
		y.t.Fatal(err)
	}
	dirs, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(top)), "container_*"))
	if err != nil {
		y.t.Fatal(err)
	}
	out := map[string]Group{}
	for _, dir := range dirs {
		g, procs := readGroup(dir)
		if slices.ContainsFunc(procs, func(pid string) bool {
			line, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
			program, arguments, _ := strings.Cut(string(line), "\x00")
			return filepath.Base(program) == "java" && strings.Contains(arguments, "YarnCoarseGrainedExecutorBackend")
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

// newest is Spark's id of the application that was submitted last, of those with an event log in dir:
// YARN numbers them.
func (y *YARN) newest(dir string) api.AppID {
	y.t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "application_*"))
	if err != nil || len(logs) == 0 {
		y.t.Fatalf("no application has an event log in %s: %v", dir, err)
	}
	return api.AppID(strings.TrimSuffix(filepath.Base(slices.Max(logs)), ".inprogress"))
}

// Stock runs a script on it without Pacer.
func (y *YARN) Stock(args ...string) *Process {
	y.t.Helper()
	flags := append(y.Flags(), "--driver-memory", "512m", "--conf", "spark.executor.memory=768m",
		"--conf", "spark.ui.enabled=false")
	return Start(y.t, y.Env(), filepath.Join(SparkHome(y.t), "bin", "spark-submit"), append(flags, args...)...)
}

// On has what s submits go to it. YARN starts executors without archives.
func (s *System) On(y *YARN) {
	s.Env, s.archives, s.yarn = append(s.Env, y.Env()...), daemon.NoArchives, y
}

// Foreign are the tasks that ran on an executor which their stage never had. A stage that has several
// gives some to others while it runs: those that it had are seen by its samples.
func Foreign(log sparkrun.Log, app api.AppDetail) (foreign []sparkrun.Task) {
	had := map[api.StageKey][]api.ExecutorID{}
	for _, stage := range app.Stages {
		had[stage.StageKey] = stage.Executors
		for _, sample := range stage.Samples {
			had[stage.StageKey] = append(had[stage.StageKey], sample.Executor)
		}
	}
	for _, task := range log.Tasks {
		if !slices.Contains(had[task.StageKey], task.Executor) {
			foreign = append(foreign, task)
		}
	}
	return foreign
}
