package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/executor/attached"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// jvmEnv has the test binary play an executor's JVM.
const jvmEnv = "PACER_TEST_JVM"

// jvmAttach is how the driver of that JVM registers it.
var jvmAttach = api.Attach{Manager: api.ManagerYARN, App: "application_1700000000000_0001", Secret: strings.Repeat("5e", 16)}

// machineID is what a node that attaches tells as its machine.
func machineID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// playJVM shows a page in the working directory, which proves that it is its application's, until the standard input ends.
func playJVM() {
	page := attached.PageName("1")
	var self executor.ProcessStat
	machine, err := machineID()
	stat, statErr := os.ReadFile("/proc/self/stat")
	if err = errors.Join(err, statErr); err == nil {
		self, err = executor.ParseStat(stat)
	}
	var w *progress.Writer
	if err = errors.Join(err, progress.Create(page+".new", -1, -1)); err == nil {
		if w, err = progress.NewWriter(page+".new", os.Getpid()); err == nil {
			w.Prove(jvmAttach.On(machine).Proof("1", os.Getpid(), self.Started))
		}
	}
	var open *os.File
	if err = errors.Join(err, os.Rename(page+".new", page)); err == nil {
		open, err = os.Open(page)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer open.Close()
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	for ; ; time.Sleep(100 * time.Millisecond) {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			os.Exit(1)
		}
		w.Publish(&meter.Page{At: units.Instant(now.Nano())})
	}
}

// yarnContainer is a container of YARN's on this machine's cgroups of v1, with an executor in it.
type yarnContainer struct{ dir string }

const jvmDriver = "spark://CoarseGrainedScheduler@127.0.0.1:40123"

func newYarnContainer(t *testing.T) yarnContainer {
	t.Helper()
	top := filepath.Join(cgroup.DefaultRoot, "cpu", fmt.Sprintf("pacer-test-%d-yarn", os.Getpid()))
	c := yarnContainer{filepath.Join(top, "container_1700000000000_0001_01_000002")}
	if err := os.Mkdir(top, 0o755); err != nil {
		t.Skipf("needs cgroups of v1: %v", err)
	}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: "/proc/self/exe", Dir: t.TempDir(), Env: append(os.Environ(), jvmEnv+"=1"), Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		Args: []string{"java", "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend", "--driver-url", jvmDriver,
			"--executor-id", "1", "--hostname", "127.0.0.1", "--cores", "2", "--app-id", "application_1700000000000_0001"}}
	stdin, err := cmd.StdinPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the executor was ended: %v", err)
		}
		for _, dir := range []string{c.dir, top} {
			realenv.Await(t, "an empty group", func() bool { return os.Remove(dir) == nil })
		}
	})
	c.write(t, "cgroup.procs", strconv.Itoa(cmd.Process.Pid))
	c.write(t, "cpu.cfs_period_us", "500000")
	c.write(t, "cpu.cfs_quota_us", "1000000")
	c.write(t, "cpu.shares", "2048")
	return c
}

// write writes as a NodeManager would, in a process of its own.
func (c yarnContainer) write(t *testing.T, file, value string) {
	t.Helper()
	out, err := exec.Command("/bin/sh", "-c", "echo "+value+" > "+filepath.Join(c.dir, file)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// inForce is quota, period and weight.
func (c yarnContainer) inForce() string {
	var all []string
	for _, file := range []string{"cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.shares"} {
		text, err := os.ReadFile(filepath.Join(c.dir, file))
		if err != nil {
			return err.Error()
		}
		all = append(all, strings.TrimSpace(string(text)))
	}
	return strings.Join(all, " ")
}

func (c yarnContainer) await(t *testing.T, what, want string) {
	t.Helper()
	pattern := regexp.MustCompile("^" + want + "$")
	realenv.Await(t, what+": "+want, func() bool { return pattern.MatchString(c.inForce()) })
}

// A node controller finds a container of YARN's, has it keep its application's cap, takes what YARN
// writes for the new ceiling, and puts back what it found, however it ends; a second one is refused.
func TestRealAttach(t *testing.T) {
	c := newYarnContainer(t)
	p := plannerConfig(t)
	line, _ := launch(t, func(ctx context.Context, ready func(string)) error {
		p.Ready = ready
		return daemon.Planner(ctx, p)
	})
	address := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line)
	conn, err := bus.Dial(bus.Options{Address: address, Credential: own(t, p, address)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := cgrouptest.RealOthers(t).Close(); err != nil { // No other test attaches now.
		t.Fatal(err)
	}
	g := guarded{State: t.TempDir(), Parent: fmt.Sprintf("pacer-test-%d/node", os.Getpid()), Wait: 500 * time.Millisecond,
		Planner: address, Owners: p.Owners}
	process, guard := g.launch(t, 0)
	app := attachApplication(t, conn, "u1", jvmDriver, jvmAttach)
	c.await(t, "a quota", `\d+97 99991 2048`)
	stranger := jvmAttach
	stranger.Secret = strings.Repeat("ab", 16)
	for submission, c := range map[string]struct {
		driver, why string
		attach      api.Attach
	}{
		"u2": {"spark://CoarseGrainedScheduler@127.0.0.1:9", "its driver is at ", jvmAttach},
		"u3": {jvmDriver, `process \d+ does not show this one's secret`, stranger},
	} {
		other := attachApplication(t, conn, submission, c.driver, c.attach)
		realenv.Await(t, "another's executor to be refused", func() bool {
			audit, err := os.ReadFile(filepath.Join(p.State, "audit.log"))
			return err == nil && regexp.MustCompile(`"verb":"executor","result":"`+string(other)+
				` does not get executor 1 on \S+: it is another application's: `+c.why).Match(audit)
		})
	}
	second := g
	second.State, second.Parent = t.TempDir(), g.Parent+"2"
	if _, err := daemon.NewNode(second.config()); api.KindOf(err) != api.KindConflict {
		t.Errorf("a second node controller: %v", err)
	}

	c.write(t, "cpu.cfs_quota_us", "200000") // Of a period of 500000, as it has said.
	c.await(t, "the new ceiling below the cap", "200000 500000 2048")
	c.write(t, "cpu.cfs_period_us", "250000")
	c.write(t, "cpu.cfs_quota_us", "500000")
	c.await(t, "a quota again", `\d+97 99991 2048`)

	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	c.await(t, "the guard", "500000 250000 2048")
	realenv.Await(t, "the guards have ended", gone(guard))
	process, _ = g.launch(t, guard)
	c.await(t, "the next node controller", `\d+97 99991 2048`)
	if _, err := conn.Control(t.Context(), api.VerbCap, api.ControlRequest{App: app}); err != nil {
		t.Fatal(err)
	}
	c.await(t, "no cap", "500000 250000 2048")
	if _, err := conn.Control(t.Context(), api.VerbCap, api.ControlRequest{App: app, Cap: 0.5}); err != nil {
		t.Fatal(err)
	}
	c.await(t, "a cap again", `\d+97 99991 2048`)
	if err := errors.Join(process.Process.Signal(syscall.SIGTERM), process.Wait()); err != nil {
		t.Error(err)
	}
	c.await(t, "its end", "500000 250000 2048")

	// As in a container: its guards end in one moment with the node controller, and the guard beside it puts back.
	beside := exec.Command("/proc/self/exe", daemon.GuardCommand, g.State)
	beside.Stdout, beside.SysProcAttr = os.Stderr, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := beside.Start(); err != nil {
		t.Fatal(err)
	}
	process, _ = g.launch(t, 0)
	c.await(t, "a quota again", `\d+97 99991 2048`)
	if err := beside.Process.Signal(syscall.SIGTERM); err != nil { // It stays until the node controller has ended.
		t.Fatal(err)
	}
	for _, pid := range []int{g.guard(), g.second(), process.Process.Pid} {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	for _, pid := range []int{g.guard(), g.second(), process.Process.Pid} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	_ = process.Wait()
	if err := beside.Wait(); err != nil {
		t.Error(err)
	}
	c.await(t, "the guard beside it", "500000 250000 2048")
}

// attachApplication registers an application that says that it has the container's executor, with a cap.
func attachApplication(t *testing.T, conn *bus.Conn, submission, driver string, attach api.Attach) api.AppID {
	t.Helper()
	machine, err := machineID()
	if err != nil {
		t.Fatal(err)
	}
	secret := bus.NewCredential("")
	reply, err := conn.Register(t.Context(), api.RegisterRequest{V: api.Version, Submission: submission, Name: "wc", Key: secret.Key(),
		Launch: api.Launch{DriverURL: driver, Heap: units.GiB, SparkVersion: "4.3.0", Cores: 2,
			Attach: &attach}})
	if err != nil {
		t.Fatal(err)
	}
	secret.Login = string(reply.AppID)
	as, err := bus.Dial(bus.Options{Address: conn.Address(), Credential: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(as.Close)
	up := api.Event{Seq: 1, At: 1, Type: api.EventExecutorUp,
		Executor: &api.ExecutorEvent{ID: "1", Host: "127.0.0.1", Machine: machine, Cores: 2, Memory: units.GiB, Container: "container_1700000000000_0001_01_000002"}}
	batch := api.Events{V: api.Version, AppID: reply.AppID, Submission: submission, Planner: reply.Planner}
	first := batch
	first.Events = []api.Event{up}
	if _, err := as.SendEvents(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	go func() { // It lives.
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-t.Context().Done():
				return
			case <-tick.C:
				_, _ = as.SendEvents(t.Context(), batch)
			}
		}
	}()
	if _, err := conn.Control(t.Context(), api.VerbCap, api.ControlRequest{App: reply.AppID, Cap: 0.5}); err != nil {
		t.Fatal(err)
	}
	return reply.AppID
}
