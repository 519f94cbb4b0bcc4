package docker_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/executor/docker"
	"github.com/sparkpacer/pacer/units"
)

// The program runs as the user, in its session, in the group's trees, in a fresh
// directory, with the environment given; it cannot write this machine's files.
func TestWhatTheProgramSees(t *testing.T) {
	r := newRig(t)
	runtime := r.runtime(t)
	_, paths := r.start(t, runtime, r.spec(t, `id -un; pwd; cut -d" " -f1,6 /proc/$$/stat; env; touch x /tmp/y; touch /usr/z 2>&1
grep -E ":(cpu|cpuacct|cpu,cpuacct|):" /proc/$$/cgroup; ls /home /root 2>&1; ls -d /proc/[0-9]* | wc -l; ulimit -n; echo end; exec sleep 600`))
	log := awaitLog(t, paths)
	lines := strings.Split(log, "\n")
	if lines[0] != "nobody" || lines[1] != paths.Work {
		t.Errorf("user, directory: %q", lines[:2])
	}
	// It has process numbers of its own, and sees nobody else's: itself, ls and wc.
	if lines[2] != "1 1" {
		t.Errorf("process and session: %q, want those of the first process", lines[2])
	}
	if n, err := strconv.Atoi(strings.TrimSpace(lines[len(lines)-4])); err != nil || n > 3 {
		t.Errorf("it sees %q processes", lines[len(lines)-4])
	}
	if files, err := strconv.Atoi(lines[len(lines)-3]); err != nil || files > executor.MostOpenFiles {
		t.Errorf("it may open %s files", lines[len(lines)-3])
	}
	for _, want := range []string{"A=b\n", "/usr/z': Read-only file system", "/app-1-1/", "'/home': No such file"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in the log:\n%s", want, log)
		}
	}
}

// What an application names is seen where it is named, a link of its user's included, and nothing
// of how it comes there stays mounted outside.
func TestTheProgramSeesWhatItNames(t *testing.T) {
	r := newRig(t)
	home := filepath.Dir(r.layout.Root)
	err := errors.Join(os.Mkdir(filepath.Join(home, "jars"), 0o755), os.WriteFile(filepath.Join(home, "jars", "a.jar"), nil, 0o644),
		os.Symlink("jars", filepath.Join(home, "lib")))
	if err != nil {
		t.Fatal(err)
	}
	s := r.spec(t, "ls "+home+"/lib; touch "+home+"/lib/b.jar 2>&1; echo end; exec sleep 600")
	s.Args = append(s.Args, "-cp", home+"/lib/*")
	_, paths := r.start(t, r.runtime(t), s)
	if log := awaitLog(t, paths); !strings.HasPrefix(log, "a.jar\n") || !strings.Contains(log, "Read-only file system") {
		t.Errorf("it sees %q", log)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), home) {
		t.Errorf("mounted outside: %s, %v", mounts, err)
	}
}

// The quota of the executor's group holds the container back, whose CPU time
// counts there.
func TestQuotaBindsTheContainer(t *testing.T) {
	r := newRig(t)
	s := r.spec(t, "echo end; while :; do :; done")
	_, paths := r.start(t, r.runtime(t), s)
	awaitLog(t, paths)
	if err := s.Group.SetQuota(0.1); err != nil {
		t.Fatal(err)
	}
	before, throttledBefore, err := s.Group.Usage()
	if err != nil {
		t.Fatal(err)
	}
	await(t, "throttling", func() bool {
		used, throttled, err := s.Group.Usage()
		return err == nil && used > before+0.05 && throttled > throttledBefore+50*time.Millisecond
	})
}

func TestStartFailures(t *testing.T) {
	r := newRig(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(args *[]string, reads *[]string, image *string)
		mounts []docker.Mount
		want   string
	}{
		"unreadable":     {func(_, reads *[]string, _ *string) { *reads = []string{"/etc/passwd", secret} }, nil, "the executor's user cannot read " + secret},
		"not executable": {func(args, _ *[]string, _ *string) { *args = []string{"/etc/passwd"} }, nil, "exec /etc/passwd: permission denied"},
		"missing":        {func(args, _ *[]string, _ *string) { *args = []string{"/no/such/java"} }, nil, "exec /no/such/java: no such file or directory"},
		"no image":       {func(_, _ *[]string, image *string) { *image = "no.such/spark:9" }, nil, "image no.such/spark:9 is not on this node: docker pull no.such/spark:9"},
		"no shell":       {func(_, _ *[]string, image *string) { *image = docker.HostImage }, nil, `exec: "/bin/sh": stat /bin/sh: no such file or directory`},
		"no mount":       {func(_, _ *[]string, _ *string) {}, []docker.Mount{{Path: "/no/such/data"}}, "mount /no/such/data does not exist on this node"},
	} {
		s := r.spec(t, "exit 0")
		c.change(&s.Args, &s.Reads, &s.Image)
		runtime := r.runtime(t, c.mounts...)
		_, err := runtime.Start(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %q, want %q", name, err, c.want)
		}
		if handles, err := runtime.Recover(); err != nil || len(handles) > 0 {
			t.Errorf("%s: left over: %v, %v", name, handles, err)
		}
	}
}

func TestKilledForLackOfMemory(t *testing.T) {
	r := newRig(t)
	s := r.spec(t, "tail /dev/zero; exec tail /dev/zero")
	s.Memory = 24 * units.MiB
	runtime := r.runtime(t)
	h, _ := r.start(t, runtime, s)
	got := awaitExit(t, runtime, h)
	if got.Exit != "killed by the kernel: it took more than its 24m of memory (heap, overhead and off-heap)" || got.ExitCode != 137 {
		t.Errorf("status %+v", got)
	}
}

// A container's limit is moved in its own group, while it runs: it may then take what would have
// ended it, and not more. What it holds bounds how far the limit comes down.
func TestTheMemoryLimitOfAContainerMoves(t *testing.T) {
	r := newRig(t)
	s := r.spec(t, "while [ ! -p go ]; do /bin/sleep 0.02; done; read go <go; x=$(head -c 50000000 /dev/zero | tr '\\0' x); y=$x; echo end; read go <go; z=$x$y$x; sleep 600")
	s.Memory = 48 * units.MiB
	runtime := r.runtime(t)
	h, paths := r.start(t, runtime, s)
	gate := filepath.Join(paths.Work, "go")
	goOn := func() {
		t.Helper()
		if err := os.WriteFile(gate, []byte("go\n"), 0); err != nil {
			t.Fatal(err)
		}
	}
	s.Group.ForgetMemoryLimit()
	if got := s.Group.MemoryLimit(); got != s.Memory {
		t.Fatalf("the container has %v, Docker gave it %v", got, s.Memory)
	}
	if err := errors.Join(s.Group.RaiseMemory(512*units.MiB), syscall.Mkfifo(gate, 0o644)); err != nil {
		t.Fatal(err)
	}
	goOn()
	awaitLog(t, paths)
	s.Group.AimMemory(100 * units.MiB)
	if err := s.Group.LowerMemory(); err != nil {
		t.Fatal(err)
	}
	use, err := s.Group.Memory()
	limit := s.Group.MemoryLimit()
	if err != nil || use.Resident < 90_000_000 || limit < use.Resident+cgroup.MemoryMargin || limit > 256*units.MiB {
		t.Errorf("lowered to %v beside %+v, %v", limit, use, err)
	}
	if status, err := runtime.Inspect(h); err != nil || status.State != api.ExecutorRunning {
		t.Fatalf("it is %+v, %v", status, err)
	}
	goOn()
	if got := awaitExit(t, runtime, h); got.Exit != executor.Starved(limit) || got.ExitCode != 137 {
		t.Errorf("status %+v, limit %v", got, limit)
	}
}

func TestKilledFromOutside(t *testing.T) {
	r := newRig(t)
	runtime := r.runtime(t)
	h, _ := r.start(t, runtime, r.spec(t, "exec sleep 600"))
	if err := syscall.Kill(h.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := awaitExit(t, runtime, h); got.Exit != "killed by signal 9 from outside, not by Pacer" || got.ExitCode != 137 {
		t.Errorf("status %+v", got)
	}
}

// docker update limits the container's own group, inside the executor's.
func TestDockerUpdateIsNoticedAndLifted(t *testing.T) {
	r := newRig(t)
	if err := r.groups.WatchQuotas(); err != nil {
		t.Skipf("needs fanotify: %v", err)
	}
	s := r.spec(t, "exec sleep 600")
	r.start(t, r.runtime(t), s)
	if !s.Group.Watched() {
		t.Fatal("the groups are not watched")
	}
	c := dockerClient(t, "")
	for _, ours := range []units.Cores{1, units.Unlimited, 0.1} {
		if err := s.Group.SetQuota(max(ours, 0.5)); err != nil {
			t.Fatal(err)
		}
		update := container.UpdateConfig{Resources: container.Resources{NanoCPUs: 250_000_000}}
		if _, err := c.ContainerUpdate(t.Context(), "pacer-"+r.node+"-app-1-1", update); err != nil {
			t.Fatal(err)
		}
		cgrouptest.AwaitForeignWrite(t, s.Group)
		if quota, err := s.Group.Quota(); err != nil || quota != 0.25 || !strings.Contains(s.Group.Writer(), "process ") {
			t.Errorf("quota %v, %v, written by %q", quota, err, s.Group.Writer())
		}
		t.Logf("written by %s", s.Group.Writer())
		if err := s.Group.SetQuota(ours); err != nil {
			t.Fatal(err)
		}
		if quota, err := s.Group.Quota(); err != nil || quota != ours {
			t.Errorf("quota %v, %v, want %v again", quota, err, ours)
		}
	}
}

func TestContainerRemovedFromOutside(t *testing.T) {
	r := newRig(t)
	runtime := r.runtime(t)
	h, _ := r.start(t, runtime, r.spec(t, "exec sleep 600"))
	c := dockerClient(t, "")
	if err := c.ContainerRemove(t.Context(), "pacer-"+r.node+"-app-1-1", container.RemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if got := awaitExit(t, runtime, h); got.Exit != "ended: its container was removed from outside" {
		t.Errorf("status %+v", got)
	}
}

// What an interrupted start left has a label of Pacer's and no handle.
func TestRecoverRemovesStrangers(t *testing.T) {
	r := newRig(t)
	h, paths := r.start(t, r.runtime(t), r.spec(t, "exec sleep 600"))
	if err := os.Rename(paths.Handle, paths.Handle+".gone"); err != nil {
		t.Fatal(err)
	}
	if handles, err := r.runtime(t).Recover(); err != nil || len(handles) > 0 {
		t.Errorf("recovered %v, %v", handles, err)
	}
	if err := syscall.Kill(h.PID, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("its process: %v", err)
	}
}

// A node controller that finds Docker takes over executors that its predecessor
// started as processes.
func TestRecoverTakesProcessesToo(t *testing.T) {
	r := newRig(t)
	processes, err := executor.NewProcess(executor.ProcessConfig{Layout: r.layout, Groups: r.groups, Grace: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	h, err := processes.Start(t.Context(), r.spec(t, "exec sleep 600"))
	if err != nil {
		t.Fatal(err)
	}
	runtime := r.runtime(t)
	if handles, err := runtime.Recover(); err != nil || len(handles) != 1 {
		t.Fatalf("recovered %v, %v", handles, err)
	}
	if err := runtime.Stop(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if got, err := runtime.Inspect(h); err != nil || got.State != api.ExecutorExited || got.Exit != "ended, nobody knows how" {
		t.Errorf("status %+v, %v", got, err)
	}
	if _, err := processes.Inspect(h); err != nil { // Its parent reaps it.
		t.Error(err)
	}
	if err := runtime.Remove(h); err != nil {
		t.Error(err)
	}
}

func TestEndedWhileNoControllerWatched(t *testing.T) {
	r := newRig(t)
	h, _ := r.start(t, r.runtime(t), r.spec(t, "sleep 0.2; exit 7"))
	await(t, "exit", func() bool { return errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH) })
	next := r.runtime(t)
	if handles, err := next.Recover(); err != nil || len(handles) != 1 {
		t.Fatalf("recovered %v, %v", handles, err)
	}
	if got := awaitExit(t, next, h); got.Exit != "exit status 7" || got.ExitCode != 7 {
		t.Errorf("status %+v", got)
	}
}

// dockerClient is a client of the test's own.
func dockerClient(t *testing.T, address string) *client.Client {
	t.Helper()
	options := []client.Opt{client.FromEnv, client.WithAPIVersionNegotiation()}
	if address != "" {
		options = append(options, client.WithHost(address))
	}
	c, err := client.NewClientWithOpts(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// ownDaemon is a Docker daemon of the test's own, to be stopped and started.
type ownDaemon struct {
	t   *testing.T
	dir string
	cmd *exec.Cmd
}

func startDaemon(t *testing.T) *ownDaemon {
	t.Helper()
	engine(t) // Where none answers none is asked for.
	if _, err := exec.LookPath("dockerd"); err != nil {
		t.Skipf("needs a Docker daemon of its own: %v", err)
	}
	dir, err := os.MkdirTemp("", "pd-")
	if err != nil {
		t.Fatal(err)
	}
	d := &ownDaemon{t: t, dir: dir}
	t.Cleanup(func() {
		d.stop()
		_ = syscall.Unmount(dir+"/x/netns/default", syscall.MNT_DETACH) // The daemon leaves it.
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	d.start()
	return d
}

func (d *ownDaemon) address() string { return "unix://" + d.dir + "/s" }

func (d *ownDaemon) start() {
	d.t.Helper()
	log, err := os.Create(filepath.Join(d.dir, "log"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer log.Close()
	d.cmd = exec.Command("dockerd", "--host", d.address(), "--data-root", d.dir+"/d", "--exec-root", d.dir+"/x", "--pidfile", d.dir+"/p",
		"--bridge", "none", "--iptables=false", "--ip6tables=false")
	d.cmd.Stdout, d.cmd.Stderr = log, log
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	c := dockerClient(d.t, d.address())
	await(d.t, "the daemon's answer", func() bool {
		_, err := c.Ping(context.Background())
		return err == nil
	})
}

func (d *ownDaemon) stop() {
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	if err := d.cmd.Wait(); err != nil {
		d.t.Logf("dockerd: %v", err)
	}
	d.cmd = nil
}

// A daemon that stops ends its containers: that is said. Meanwhile everything
// but starts works without waiting, and after a restart all does.
func TestDaemonGoneAndRestarted(t *testing.T) {
	d := startDaemon(t)
	r := newRig(t)
	own, err := docker.Find(t.Context(), d.address())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	r.engine = own
	runtime := r.runtime(t)
	h, _ := r.start(t, runtime, r.spec(t, "exec sleep 600"))
	d.stop()
	if got := awaitExit(t, runtime, h); !strings.Contains(got.Exit, "the Docker daemon") || !strings.Contains(got.Exit, "gone") {
		t.Errorf("its end: %+v", got)
	}
	second := r.spec(t, "exec sleep 600")
	second.ID = "2"
	if second.Group, err = r.groups.Group(cgroup.GroupName("app-1", "2")); err != nil {
		t.Fatal(err)
	}
	if _, err := runtime.Start(t.Context(), second); api.KindOf(err) != api.KindTransient || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("start without a daemon: %v", err)
	}
	if _, err := docker.Find(t.Context(), d.address()); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("find without a daemon: %v", err)
	}
	d.start()
	again, _ := r.start(t, runtime, second)
	d.stop()
	d.start()
	if got := awaitExit(t, runtime, again); !strings.HasSuffix(got.Exit, "with a restart of the Docker daemon") {
		t.Errorf("its end: %+v", got)
	}
}

// A daemon that takes connections and never answers holds up nobody who looks.
func TestDaemonThatHangs(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := docker.Find(ctx, "unix://"+socket); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("error %v", err)
	}
	if _, err := docker.Find(t.Context(), "tcp://192.0.2.1:2375"); err == nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("error %v", err)
	}
}

func BenchmarkInspect(b *testing.B) {
	r := newRig(b)
	runtime := r.runtime(b)
	h, _ := r.start(b, runtime, r.spec(b, "exec sleep 600"))
	b.ReportAllocs()
	for b.Loop() {
		if status, err := runtime.Inspect(h); err != nil || status.State != api.ExecutorRunning {
			b.Fatal(status, err)
		}
	}
}
