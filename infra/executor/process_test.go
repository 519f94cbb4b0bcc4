package executor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/executor/conformance"
	"github.com/sparkpacer/pacer/units"
)

// TestMain lets the test binary be the shim, as cmd/* does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == executor.ShimCommand {
		fmt.Fprintln(os.Stderr, executor.Shim(os.Args[2:]))
		os.Exit(127)
	}
	if text := os.Getenv(crashVariable); text != "" {
		fmt.Fprintln(os.Stderr, die(text))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// workRoot is a directory that other users may enter, unlike t.TempDir's.
func workRoot(t *testing.T) executor.Layout {
	t.Helper()
	dir, err := os.MkdirTemp("", "pacer-executor-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return executor.Layout{Root: filepath.Join(dir, "work")}
}

func shell(p conformance.Program) executor.CommandLine {
	scripts := map[conformance.Program]string{
		conformance.Exits3: "exit 3",
		conformance.Deaf:   "trap '' TERM; echo ready >&2; while :; do /bin/sleep 1; done",
		conformance.Family: "trap '' TERM; setsid /bin/sleep 600 & trap - TERM; echo ready >&2; exec /bin/sleep 600",
		conformance.Speaks: "echo hello >&2; exec /bin/sleep 600",
	}
	c := executor.CommandLine{Args: []string{"/bin/sleep", "600"}, Env: []string{"PATH=/usr/bin:/bin"}}
	if script, ok := scripts[p]; ok {
		c.Args = []string{"/bin/sh", "-c", script}
	}
	if p == conformance.Missing {
		c.Args = []string{"/no/such/java", "-version"}
	}
	return c
}

func processHarness(t *testing.T, groups *cgroup.Hierarchy, user executor.Credential) conformance.Harness {
	t.Helper()
	layout := workRoot(t)
	return conformance.Harness{
		Layout: layout, Groups: groups, User: user, Command: shell,
		New: func() executor.Runtime {
			r, err := executor.NewProcess(executor.ProcessConfig{Layout: layout, Groups: groups, Grace: 500 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			return r
		},
	}
}

// realGroups returns a hierarchy on the machine's own cgroups, cleared at the end.
func realGroups(t *testing.T, parent ...string) *cgroup.Hierarchy {
	t.Helper()
	groups := cgrouptest.Real(t, parent...)
	t.Cleanup(func() { cgrouptest.Clear(t, groups) })
	return groups
}

func nobody(t *testing.T) executor.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	user, err := executor.LookupUser("nobody")
	if err != nil {
		t.Fatal(err)
	}
	return user
}

func fakeGroups(t *testing.T, layout cgrouptest.Layout) *cgroup.Hierarchy {
	t.Helper()
	groups, err := cgroup.Open(cgrouptest.New(t, layout).Root, "pacer/node")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { groups.Close() })
	return groups
}

func currentUser(t *testing.T) executor.Credential {
	t.Helper()
	user, err := executor.CurrentUser()
	if err != nil {
		t.Fatal(err)
	}
	return user
}

func TestProcessOnRealGroups(t *testing.T) {
	conformance.Run(t, func(t *testing.T) conformance.Harness {
		user := nobody(t)
		return processHarness(t, realGroups(t), user)
	})
}

// As where an engine with the systemd driver is asked for executors.
func TestProcessOnRealSlices(t *testing.T) {
	conformance.Run(t, func(t *testing.T) conformance.Harness {
		user := nobody(t)
		return processHarness(t, realGroups(t, cgroup.SliceParent(fmt.Sprintf("test-%d", os.Getpid()))), user)
	})
}

func TestProcessOnOrdinaryFiles(t *testing.T) {
	conformance.Run(t, func(t *testing.T) conformance.Harness {
		h := processHarness(t, fakeGroups(t, cgrouptest.V2), currentUser(t))
		h.Command = func(p conformance.Program) executor.CommandLine {
			// Without the kernel's groups only the process group holds a family
			// together.
			if p == conformance.Family {
				return executor.CommandLine{Args: []string{"/bin/sh", "-c", "/bin/sleep 600 & echo ready >&2; exec /bin/sleep 600"}}
			}
			return shell(p)
		}
		return h
	})
}

// Where memory ends the kernel is to end executors first, and their children.
func TestWhatTheKernelEndsFirst(t *testing.T) {
	h := processHarness(t, fakeGroups(t, cgrouptest.V2), currentUser(t))
	for id, score := range map[api.ExecutorID]int{"1": 900, "2": 300} {
		r := h.New()
		group, err := h.Groups.Group(cgroup.GroupName("app-1", id))
		if err != nil {
			t.Fatal(err)
		}
		handle, err := r.Start(t.Context(), executor.Spec{App: "app-1", ID: id, CommandLine: shell(conformance.Runs), Group: group,
			User: h.User, OOM: score})
		if err != nil {
			t.Fatal(err)
		}
		told, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", handle.PID))
		if got := strings.TrimSpace(string(told)); err != nil || got != strconv.Itoa(score) {
			t.Errorf("executor %s: %q, %v, want %d", id, got, err, score)
		}
		if err := errors.Join(r.Stop(context.Background(), handle), r.Remove(handle)); err != nil {
			t.Error(err)
		}
	}
}

func TestFake(t *testing.T) {
	words := map[conformance.Program][]string{
		conformance.Exits3:  {executor.FakeExits, "3"},
		conformance.Deaf:    {executor.FakeDeaf},
		conformance.Missing: {executor.FakeMissing},
		conformance.Speaks:  {executor.FakeRuns, "hello"},
	}
	conformance.Run(t, func(t *testing.T) conformance.Harness {
		layout, groups := workRoot(t), fakeGroups(t, cgrouptest.V1Separate)
		var last *executor.Fake
		return conformance.Harness{
			Layout: layout, Groups: groups, User: currentUser(t),
			Command: func(p conformance.Program) executor.CommandLine {
				args := words[p]
				if args == nil {
					args = []string{executor.FakeRuns}
				}
				return executor.CommandLine{Args: args}
			},
			New: func() executor.Runtime {
				if last == nil {
					last = executor.NewFake(layout, groups)
				} else {
					last = last.Restart(groups)
				}
				return last
			},
		}
	})
}

// startShell starts a script and returns its handle and its paths.
func startShell(t *testing.T, h conformance.Harness, r executor.Runtime, s executor.Spec) (executor.Handle, executor.Paths) {
	t.Helper()
	handle, err := r.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.Stop(context.Background(), handle), r.Remove(handle)); err != nil {
			t.Error(err)
		}
	})
	paths, err := h.Layout.Paths(s.App, s.ID)
	if err != nil {
		t.Fatal(err)
	}
	return handle, paths
}

func spec(t *testing.T, h conformance.Harness, script string) executor.Spec {
	t.Helper()
	group, err := h.Groups.Group(cgroup.GroupName("app-1", "1"))
	if err != nil {
		t.Fatal(err)
	}
	return executor.Spec{App: "app-1", ID: "1", Group: group, User: h.User,
		CommandLine: executor.CommandLine{Args: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "A=b"}}}
}

// awaitLog returns the log when it ends with a line "end".
func awaitLog(t *testing.T, h conformance.Harness) string {
	t.Helper()
	tick, limit := time.NewTicker(2*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		reply := h.Layout.ReadLog(api.LogRequest{V: api.Version, App: "app-1", Executor: "1", Stream: "stdout"})
		if strings.HasSuffix(string(reply.Data), "end\n") {
			return string(reply.Data)
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("log is %q after a minute", reply.Data)
		}
	}
}

// The program runs as the user, in its session, in the group's trees, in a fresh
// directory, with the environment given and no other descriptor.
func TestWhatTheProgramSees(t *testing.T) {
	h := processHarness(t, realGroups(t), nobody(t))
	t.Setenv("PACER_SECRET", "not for executors")
	_, paths := startShell(t, h, h.New(), spec(t, h, `id -un; id -Gn; pwd; cut -d" " -f1,6 /proc/$$/stat; env; ls /proc/$$/fd; grep -E ":(cpu|cpuacct|cpu,cpuacct|):" /proc/$$/cgroup; touch x; echo end; exec sleep 600`))
	log := awaitLog(t, h)
	lines := strings.Split(log, "\n")
	if lines[0] != "nobody" || lines[1] != "nogroup" || lines[2] != paths.Work {
		t.Errorf("user, groups, directory: %q", lines[:3])
	}
	if pid, session, _ := strings.Cut(lines[3], " "); pid != session {
		t.Errorf("process and session: %q", lines[3])
	}
	if strings.Contains(log, "SECRET") || !strings.Contains(log, "A=b\n") {
		t.Error("its environment is not the one given")
	}
	if strings.Contains(log, "\n3\n") || strings.Contains(log, "\n4\n") {
		t.Error("it inherited the shim's descriptors")
	}
	if n := strings.Count(log, "/node/app-1-1\n"); n < 1 {
		t.Errorf("it is in the group of %d trees", n)
	}
}

func TestQuotaDoesNotDelayStop(t *testing.T) {
	h := processHarness(t, realGroups(t), nobody(t))
	s := spec(t, h, "echo end; while :; do :; done")
	r := h.New()
	handle, _ := startShell(t, h, r, s)
	awaitLog(t, h)
	if err := s.Group.SetQuota(cgroup.MinQuota); err != nil {
		t.Fatal(err)
	}
	if err := r.Stop(t.Context(), handle); err != nil {
		t.Fatal(err)
	}
	if quota, err := s.Group.Quota(); err != nil || !quota.IsUnlimited() {
		t.Errorf("quota %v, %v", quota, err)
	}
}

// A process that needs more than its group may have is killed by the kernel, and its end says
// so; one that Pacer has stopped was not, whatever became of its children.
func TestKilledForLackOfMemory(t *testing.T) {
	const limit = 24 * units.MiB
	killed := func(t *testing.T, script string) (conformance.Harness, executor.Runtime, executor.Handle) {
		h := processHarness(t, realGroups(t), nobody(t))
		s := spec(t, h, script)
		if err := s.Group.RaiseMemory(limit); err != nil {
			t.Fatal(err)
		}
		if s.Group.MemoryLimit() == 0 {
			t.Skip("needs a memory controller in which this process may make groups")
		}
		r := h.New()
		handle, _ := startShell(t, h, r, s)
		return h, r, handle
	}
	check := func(t *testing.T, r executor.Runtime, h executor.Handle, exit string) {
		awaitExit(t, r, h, time.Minute)
		want := executor.Status{State: api.ExecutorExited, Exit: exit, ExitCode: 137}
		if got, err := r.Inspect(h); err != nil || got != want {
			t.Errorf("status %+v, want %+v, %v", got, want, err)
		}
	}
	const greed = "x=$(head -c 99000000 /dev/zero | tr '\\0' x)"
	t.Run("the process", func(t *testing.T) {
		_, r, handle := killed(t, greed+"; exec sleep 600")
		check(t, r, handle, executor.Starved(limit))
	})
	// The kernel may kill another process before the memory of the first is free. It takes the process
	// itself after all that the child has started.
	t.Run("a child", func(t *testing.T) {
		h, r, handle := killed(t, "trap '' TERM; (echo 1000 >/proc/self/oom_score_adj; "+greed+"); echo end; while :; do /bin/sleep 1; done")
		awaitLog(t, h)
		if err := r.Stop(t.Context(), handle); err != nil {
			t.Fatal(err)
		}
		check(t, r, handle, "killed by signal 9")
	})
}

// Every way in which the shim can fail comes back as the reason.
func TestStartFailures(t *testing.T) {
	h := processHarness(t, realGroups(t), nobody(t))
	r := h.New()
	secret := filepath.Join(t.TempDir(), "jars")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*executor.Spec)
		want   string
	}{
		"unreadable":     {func(s *executor.Spec) { s.Reads = []string{"/etc/passwd", secret} }, "executor user nobody cannot read " + secret},
		"not executable": {func(s *executor.Spec) { s.Args[0] = "/etc/passwd" }, "exec /etc/passwd: permission denied"},
		"missing":        {func(s *executor.Spec) { s.Args[0] = "/no/such/java" }, "exec /no/such/java: no such file or directory"},
		"no command":     {func(s *executor.Spec) { s.Args = nil }, "no command"},
		"no group":       {func(s *executor.Spec) { s.Group = nil }, "no group"},
	} {
		s := spec(t, h, "exit 0")
		c.change(&s)
		if _, err := r.Start(t.Context(), s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	if handles, err := r.Recover(); err != nil || len(handles) > 0 {
		t.Errorf("left over: %v, %v", handles, err)
	}
}

// Of a directory that its user cannot pass through an executor sees what is its own and what
// the node shows it, read-only around it, and nothing else.
func TestWhatIsBehindADirectoryThatTheUserCannotEnter(t *testing.T) {
	h := processHarness(t, realGroups(t), nobody(t))
	closed := t.TempDir() // Its parent is root's alone.
	shown, hidden := filepath.Join(closed, "spark", "jars", "a.jar"), filepath.Join(closed, "hidden")
	touch(t, shown, 0o644)
	touch(t, hidden, 0o644)
	h.Layout.Root = filepath.Join(closed, "work")
	r, err := executor.NewProcess(executor.ProcessConfig{Layout: h.Layout, Groups: h.Groups, Grace: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s := spec(t, h, "pwd; echo x >own && ls own; ls "+shown+"; cd "+closed+" && ls; ls "+hidden+" 2>&1; mkdir x 2>&1; echo end; exec sleep 600")
	s.Shows, s.Reads = []string{filepath.Dir(filepath.Dir(shown))}, []string{shown}
	_, paths := startShell(t, h, r, s)
	want := paths.Work + "\nown\n" + shown + "\nspark\nwork\n"
	if log := awaitLog(t, h); !strings.HasPrefix(log, want) || strings.Count(log, "No such file") != 1 || strings.Count(log, "mkdir:") != 1 {
		t.Errorf("it printed %q", log)
	}
}

func TestAttacks(t *testing.T) {
	user := nobody(t)
	conformance.Attacks(t, processHarness(t, realGroups(t), user))
}

func TestUnknownUser(t *testing.T) {
	if _, err := executor.LookupUser("no-such-user-here"); err == nil || !strings.Contains(err.Error(), "no-such-user-here") {
		t.Errorf("error %v", err)
	}
	user, err := executor.LookupUser("0")
	if err != nil || !user.IsRoot() {
		t.Errorf("user 0 is %+v, %v", user, err)
	}
}

// awaitExit polls until the executor has exited.
func awaitExit(t *testing.T, r executor.Runtime, h executor.Handle, within time.Duration) {
	t.Helper()
	tick, limit := time.NewTicker(5*time.Millisecond), time.After(within)
	defer tick.Stop()
	for {
		status, err := r.Inspect(h)
		if err != nil {
			t.Fatal(err)
		}
		if status.State == api.ExecutorExited {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("it still runs after %v", within)
		}
	}
}

// A JVM that the kernel killed under a previous controller leaves a zombie to a
// parent that does not reap: it counts as exited.
func TestZombieIsExited(t *testing.T) {
	h := processHarness(t, fakeGroups(t, cgrouptest.V2), currentUser(t))
	parent, other := h.New(), h.New()
	handle, _ := startShell(t, h, parent, spec(t, h, "exit 0"))
	awaitExit(t, other, handle, time.Minute)
	if status, err := parent.Inspect(handle); err != nil || status.Exit != "exit status 0" {
		t.Errorf("the parent says %+v, %v", status, err)
	}
}

func TestRecoverNamesDamagedHandles(t *testing.T) {
	h := processHarness(t, fakeGroups(t, cgrouptest.V1Joined), currentUser(t))
	r := h.New()
	handle, paths := startShell(t, h, r, spec(t, h, "exec sleep 600"))
	damaged := filepath.Join(filepath.Dir(paths.Dir), "7", "handle.json")
	if err := os.MkdirAll(filepath.Dir(damaged), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	handles, err := r.Recover()
	if err == nil || !strings.Contains(err.Error(), damaged) {
		t.Errorf("error %v", err)
	}
	if len(handles) != 1 || handles[0] != handle {
		t.Errorf("handles %v", handles)
	}
}

func BenchmarkInspect(b *testing.B) {
	groups, err := cgroup.Open(cgrouptest.New(b, cgrouptest.V2).Root, "pacer/node")
	if err != nil {
		b.Fatal(err)
	}
	r, err := executor.NewProcess(executor.ProcessConfig{Layout: executor.Layout{Root: b.TempDir()}, Groups: groups})
	if err != nil {
		b.Fatal(err)
	}
	group, err := groups.Group("app-1-1")
	if err != nil {
		b.Fatal(err)
	}
	user, err := executor.CurrentUser()
	if err != nil {
		b.Fatal(err)
	}
	handle, err := r.Start(b.Context(), executor.Spec{App: "app-1", ID: "1", Group: group, User: user, CommandLine: shell(conformance.Runs)})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if status, err := r.Inspect(handle); err != nil || status.State != api.ExecutorRunning {
			b.Fatal(status, err)
		}
	}
	if err := errors.Join(r.Stop(context.Background(), handle), r.Remove(handle)); err != nil {
		b.Error(err)
	}
}

// An executor has no rights but its user's, whatever groups that user is in, leaves no core
// dump, and cannot take all process numbers of the machine.
func TestAnExecutorHasNoMoreThanItNeeds(t *testing.T) {
	h := processHarness(t, realGroups(t), nobody(t))
	handle, _ := startShell(t, h, h.New(), spec(t, h, "echo end; exec sleep 600"))
	awaitLog(t, h)
	conformance.Confined(t, handle.PID)
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", handle.PID))
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err != nil {
		t.Fatal(err)
	}
	all, err := strconv.Atoi(strings.TrimSpace(string(numbers)))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(limits)) {
		if f := strings.Fields(line); strings.HasPrefix(line, "Max open files") {
			if n, err := strconv.Atoi(f[4]); err != nil || n > executor.MostOpenFiles {
				t.Error(line)
			}
		}
		if f := strings.Fields(line); strings.HasPrefix(line, "Max processes") {
			if n, err := strconv.Atoi(f[3]); err != nil || n > all*3/4 {
				t.Errorf("%sof %d numbers", line, all)
			}
			return
		}
	}
	t.Errorf("no bound on processes in %s", limits)
}
