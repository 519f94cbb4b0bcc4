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
	"time"

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

	yarnClass    = "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend"
	managerClass = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
	k8sClass     = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
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
	case "manager":
		manage()
	case "observer":
		observe()
	case "unable":
		unable()
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

// manage starts an executor as a NodeManager does, in a session of its own, and waits for it.
func manage() {
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: os.Args[2:], Env: append(os.Environ(), plays+"=executor"), Stdin: os.Stdin,
		Stdout: os.Stdout, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if err := cmd.Run(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// attach is how the node of boot b1 knows the application.
var attach = (&api.Attach{Manager: api.ManagerYARN, App: sparkApp, Secret: strings.Repeat("5e", 16)}).On("b1")

// showPage makes the page of the executor id, with a proof.
func showPage(path string, proof [progress.ProofBytes]byte) error {
	err := progress.Create(path+".new", -1, -1)
	if err != nil {
		return err
	}
	w, err := progress.NewWriter(path+".new", os.Getpid())
	if err != nil {
		return err
	}
	w.Prove(proof)
	w.Publish(&meter.Page{At: 1})
	return os.Rename(path+".new", path)
}

// play makes and opens the page in the working directory, starts a child and says so.
func play() {
	var id api.ExecutorID
	for i, arg := range os.Args {
		if arg == "--executor-id" {
			id = api.ExecutorID(os.Args[i+1])
		}
	}
	page := attached.PageName(id)
	text, err := os.ReadFile("/proc/self/stat")
	if err == nil {
		var self executor.ProcessStat
		if self, err = executor.ParseStat(text); err == nil {
			err = showPage(page, attach.Proof(id, os.Getpid(), self.Started))
		}
	}
	if err == nil {
		pageFile, err = os.Open(page)
	}
	child := exec.Command("/proc/self/exe")
	child.Env, child.Stdin = append(os.Environ(), plays+"=child"), os.Stdin
	if err = errors.Join(err, child.Start()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
}

// pageFile is the page that an executor keeps open.
var pageFile *os.File

// command is an executor's command line.
func command(class string, id api.ExecutorID) []string {
	return []string{"/usr/lib/jvm/java-17/bin/java", "-server", "-Xmx1024m", "-Dspark.driver.port=40123", class,
		"--driver-url", driver, "--executor-id", string(id), "--hostname", "worker-1", "--cores", "2", "--app-id", sparkApp,
		"--resourceProfileId", "0"}
}

// spec seeks the executor id.
func spec(id api.ExecutorID) executor.Spec {
	return executor.Spec{App: app, ID: id, Attach: attach, CommandLine: attached.CommandLine(attach, id, driver)}
}

// spawn runs an executor below a NodeManager, in a session of its own, and returns when it has its page.
func spawn(t *testing.T, id api.ExecutorID) (pid int, dir string, end func()) {
	t.Helper()
	dir = t.TempDir()
	args := append([]string{"java", managerClass}, command(yarnClass, id)...)
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: args, Dir: dir, Env: append(os.Environ(), plays+"=manager")}
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
	started := children(t, cmd.Process.Pid)
	if len(started) != 1 {
		t.Fatalf("the NodeManager has started %v", started)
	}
	return started[0], dir, end
}

// machine is a fake /proc beside fake cgroups.
type machine struct {
	tree   *cgrouptest.Tree
	layout cgrouptest.Layout
	proc   string
	state  string
	others *cgroup.Others
	clock  func() time.Time
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
		CPUs: 16, Proc: m.proc, Clock: m.clock})
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
	// user is its user's id, 0 the test's own. unproven says that it has no page.
	user     int
	unproven bool
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
	if p.user == 0 {
		p.user = os.Getuid()
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	err = errors.Join(err, os.MkdirAll(filepath.Join(dir, "fd"), 0o755), os.Symlink(cwd, filepath.Join(dir, "cwd")))
	for name, text := range map[string]string{
		"cmdline": strings.Join(p.args, "\x00") + "\x00",
		"stat": fmt.Sprintf("%d (java (x) y) %s %d %d %d 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 30 0 %d 1 1\n", p.pid, p.state,
			p.parent, p.session, p.session, 1000+p.pid),
		"status":    fmt.Sprintf("Name:\tjava\nUid:\t0\t0\t0\t%d\nCpus_allowed_list:\t%s\n", p.user, p.cpus),
		"cgroup":    p.groups,
		"mountinfo": string(mounts),
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, arg := range p.args {
		if arg == "--executor-id" && !p.unproven {
			m.proves(t, p.pid, cwd, attach, api.ExecutorID(p.args[i+1]))
		}
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

// manager runs a NodeManager.
func (m *machine) manager(t *testing.T, pid int) {
	t.Helper()
	m.run(t, process{pid: pid, parent: 1, session: pid, args: []string{"/usr/bin/java", managerClass}, groups: m.in("/", true)})
}

// opens has the fake process pid have a file open.
func (m *machine) opens(t *testing.T, pid int, path string) {
	t.Helper()
	fds := filepath.Join(m.proc, strconv.Itoa(pid), "fd")
	all, err := os.ReadDir(fds)
	if err = errors.Join(err, os.Symlink(path, filepath.Join(fds, strconv.Itoa(len(all)+4)))); err != nil {
		t.Fatal(err)
	}
}

// proves has the fake process pid show the page of the executor id of a, in dir.
func (m *machine) proves(t *testing.T, pid int, dir string, a *api.Attach, id api.ExecutorID) {
	t.Helper()
	path := filepath.Join(dir, attached.PageName(id))
	if err := showPage(path, a.Proof(id, pid, started(pid))); err != nil {
		t.Fatal(err)
	}
	m.opens(t, pid, path)
}

// started is when a fake process has.
func started(pid int) uint64 { return uint64(1000 + pid) }
