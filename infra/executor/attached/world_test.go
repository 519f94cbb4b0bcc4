package attached_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/executor/attached"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node/meter"
)

const (
	app      = api.AppID("app-20261121043012-0001-3fa94c")
	sparkApp = "application_1700000000000_0001"
	driver   = "spark://CoarseGrainedScheduler@10.0.0.7:40123"

	yarnClass = "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend"
	k8sClass  = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
)

// plays is the variable by which the test binary is a process of a container.
const plays = "PACER_TEST_PLAYS"

// TestMain lets the test binary be an executor's JVM, or its child.
func TestMain(m *testing.M) {
	switch os.Getenv(plays) {
	case "":
		os.Exit(m.Run())
	case "executor":
		play()
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

// play makes and maps the page in the working directory, starts a child and says so.
func play() {
	var id api.ExecutorID
	for i, arg := range os.Args {
		if arg == "--executor-id" {
			id = api.ExecutorID(os.Args[i+1])
		}
	}
	page := attached.PageName(id)
	err := progress.Create(page+".new", -1, -1)
	if err == nil {
		var w *progress.Writer
		if w, err = progress.NewWriter(page+".new", os.Getpid()); err == nil {
			w.Publish(&meter.Page{At: 1})
			err = os.Rename(page+".new", page)
		}
	}
	child := exec.Command("/proc/self/exe")
	child.Env, child.Stdin = append(os.Environ(), plays+"=child"), os.Stdin
	if err = errors.Join(err, child.Start()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
}

// command is an executor's command line.
func command(class string, id api.ExecutorID) []string {
	return []string{"/usr/lib/jvm/java-17/bin/java", "-server", "-Xmx1024m", "-Dspark.driver.port=40123", class,
		"--driver-url", driver, "--executor-id", string(id), "--hostname", "worker-1", "--cores", "2", "--app-id", sparkApp,
		"--resourceProfileId", "0"}
}

// spec seeks the executor id.
func spec(id api.ExecutorID) executor.Spec {
	return executor.Spec{App: app, ID: id,
		CommandLine: attached.CommandLine(&api.Attach{Manager: api.ManagerYARN, App: sparkApp}, id, driver)}
}

// spawn runs an executor, in a session of its own, and returns when it has its page.
func spawn(t *testing.T, id api.ExecutorID) (pid int, dir string, end func()) {
	t.Helper()
	dir = t.TempDir()
	args := command(yarnClass, id)
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: args, Dir: dir, Env: append(os.Environ(), plays+"=executor"),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	stdin, err := cmd.StdinPipe()
	stdout, outErr := cmd.StdoutPipe()
	if err = errors.Join(err, outErr, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	end = func() { _ = stdin.Close(); _ = cmd.Wait() }
	t.Cleanup(end)
	word := make([]byte, 256)
	if n, err := stdout.Read(word); err != nil || strings.TrimSpace(string(word[:n])) != "ready" {
		t.Fatalf("it says %q, %v", word[:n], err)
	}
	return cmd.Process.Pid, dir, end
}

// machine is a fake /proc beside fake cgroups.
type machine struct {
	tree   *cgrouptest.Tree
	layout cgrouptest.Layout
	proc   string
	state  string
	others *cgroup.Others
}

const parent = "pacer/node-n1"

func newMachine(t *testing.T, layout cgrouptest.Layout) *machine {
	t.Helper()
	m := &machine{tree: cgrouptest.New(t, layout), layout: layout, proc: t.TempDir(), state: t.TempDir()}
	groups, err := cgroup.Open(m.tree.Root, parent)
	if err != nil {
		t.Fatal(err)
	}
	if m.others, err = cgroup.OpenOthers(m.tree.Root); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(m.others.Close(), groups.Close()); err != nil {
			t.Error(err)
		}
	})
	return m
}

// runtime is that of a node controller which has started.
func (m *machine) runtime(t *testing.T) *attached.Runtime {
	t.Helper()
	r, err := attached.New(attached.Config{Groups: m.others, Root: m.tree.Root, Parent: parent, State: m.state, Boot: "b1",
		CPUs: 16, Proc: m.proc})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// process is what a fake /proc has of one.
type process struct {
	pid, parent, session int
	args                 []string
	// groups are its lines of /proc/PID/cgroup.
	groups string
	cpus   string
	state  string
}

func (m *machine) run(t *testing.T, p process) string {
	t.Helper()
	dir := filepath.Join(m.proc, strconv.Itoa(p.pid))
	cwd := t.TempDir()
	if p.cpus == "" {
		p.cpus = "0-15"
	}
	if p.state == "" {
		p.state = "S"
	}
	err := errors.Join(os.MkdirAll(dir, 0o755), os.Symlink(cwd, filepath.Join(dir, "cwd")))
	for name, text := range map[string]string{
		"cmdline": strings.Join(p.args, "\x00") + "\x00",
		"stat": fmt.Sprintf("%d (java (x) y) %s %d %d %d 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 30 0 %d 1 1\n", p.pid, p.state,
			p.parent, p.session, p.session, 1000+p.pid),
		"status": fmt.Sprintf("Name:\tjava\nUid:\t0\t0\t0\t%d\nCpus_allowed_list:\t%s\n", os.Getuid(), p.cpus),
		"cgroup": p.groups,
		"maps":   "",
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	return cwd
}

// kernelHas makes the lists of members of a group, and of the top one, as the kernel has them.
func (m *machine) kernelHas(t *testing.T, group, members string) {
	t.Helper()
	for _, tree := range []string{"", "cpu", "cpuacct"} {
		for _, g := range []string{"/", group} {
			dir := filepath.Join(m.tree.Root, tree, g)
			if _, err := os.Stat(dir); err == nil {
				write(t, filepath.Join(dir, "cgroup.procs"), members)
			}
		}
	}
}

// in are the lines of /proc/PID/cgroup of a process in group, in v1's tree of the CPU alone or in all.
func (m *machine) in(group string, everywhere bool) string {
	switch {
	case m.layout == cgrouptest.V2:
		return "0::" + group + "\n"
	case everywhere:
		return "9:memory:" + group + "\n4:cpuacct,cpu:" + group + "\n"
	}
	return "9:memory:/yarn\n5:cpuacct:/\n4:cpu:" + group + "\n"
}

// mapPage makes a page in dir and has the fake process pid map it.
func (m *machine) mapPage(t *testing.T, pid int, path string) {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("7f0000000000-7f0000002000 rw-s 00000000 %02x:%02x %d                     %s\n", unix.Major(st.Dev),
		unix.Minor(st.Dev), st.Ino, path)
	text := "00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/java\n7ffc0000-7ffd0000 rw-p 00000000 00:00 0   [stack]\n" + line
	if err := os.WriteFile(filepath.Join(m.proc, strconv.Itoa(pid), "maps"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
