package realenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/eventlog"
	"github.com/sparkpacer/pacer/test/sparklog"
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
	dir := t.TempDir()
	return &YARN{script(t, "yarn.sh", append([]string{"run", dir}, groups...)...), dir, t}
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

// Recover kills its NodeManagers with -9 and starts them again. It returns how many containers they have taken back.
func (y *YARN) Recover() (containers int) {
	y.t.Helper()
	before := y.reacquired()
	root, err := moduleRoot()
	var said []byte
	if err == nil {
		said, err = exec.Command(filepath.Join(root, "scripts", "yarn.sh"), "recover", y.Dir).CombinedOutput()
	}
	if err != nil {
		y.t.Fatalf("NodeManagers that recover: %v: %s", err, said)
	}
	return y.reacquired() - before
}

// reacquired is how many containers its NodeManagers have said to take back so far.
func (y *YARN) reacquired() (n int) {
	y.t.Helper()
	for _, name := range []string{"nm1.log", "nm2.log"} {
		text, err := os.ReadFile(filepath.Join(y.Dir, name))
		if err != nil {
			y.t.Fatal(err)
		}
		n += strings.Count(string(text), "Reacquiring container_")
	}
	return n
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

// Executors are the groups that YARN has made for containers in which Spark's executors run now, by their
// directories.
func (y *YARN) Executors() map[string]Group {
	y.t.Helper()
	top, err := os.ReadFile(filepath.Join(y.Dir, "groups"))
	if err != nil {
		y.t.Fatal(err)
	}
	return executors(y.t, filepath.Join(strings.TrimSpace(string(top)), "container_*"))
}

// Stock runs a script on it without Pacer.
func (y *YARN) Stock(args ...string) *Process {
	y.t.Helper()
	flags := append(y.Flags(), "--driver-memory", "512m", "--conf", "spark.executor.memory=768m",
		"--conf", "spark.ui.enabled=false")
	return Start(y.t, y.Env(), filepath.Join(SparkHome(y.t), "bin", "spark-submit"), append(flags, args...)...)
}

// Foreign are the tasks that ran on an executor which their stage never had. A stage that has several
// gives some to others while it runs: those that it had are seen by its samples.
func Foreign(log sparklog.Log, app api.AppDetail) (foreign []eventlog.Task) {
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
