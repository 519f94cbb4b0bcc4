package daemon_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/units"
)

// guarded is a node controller in a process of its own, as TestMain runs it.
type guarded struct {
	State, Root, Parent string
	Wait                time.Duration
	// Planner is whom a node that attaches follows, by the owner's credential; "" has no such node.
	Planner string
	Owners  []daemon.Owner
	// Service has it be one of a service manager.
	Service bool
}

const guardedEnv = "PACER_TEST_GUARDED_NODE"

// TestMain lets this binary be a guard, the parent of a program, and a node controller that can be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == executor.ShimCommand {
		fmt.Fprintln(os.Stderr, executor.Shim(os.Args[2:]))
		os.Exit(127)
	}
	if len(os.Args) > 1 && os.Args[1] == daemon.GuardCommand {
		if err := daemon.Guard(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if text := os.Getenv(guardedEnv); text != "" {
		var g guarded
		if err := errors.Join(json.Unmarshal([]byte(text), &g), g.run()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(jvmEnv) != "" {
		playJVM()
	}
	if text := os.Getenv(apartEnv); text != "" {
		if err := runApart(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if text := os.Getenv(strangerEnv); text != "" {
		var s stranger
		if err := errors.Join(json.Unmarshal([]byte(text), &s), s.run()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// config is a node controller with a fake runtime and a planner that is not there.
func (g guarded) config() daemon.NodeConfig {
	c := nodeConfig()
	c.Name, c.State, c.HTTP, c.Planner = "n1", g.State, "", "127.0.0.1:1"
	c.CgroupRoot, c.CgroupParent, c.Guard, c.GuardBinary = g.Root, g.Parent, g.Wait, "/proc/self/exe"
	c.TotalCores, c.Reserve, c.Memory = 2, 0.2, 4*units.GiB
	c.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	if g.Planner != "" {
		c.Planner, c.Owners, c.Attach = g.Planner, g.Owners, true
		return c
	}
	c.Deps = &daemon.Deps{Runtime: func(l executor.Layout, h *cgroup.Hierarchy) (executor.Runtime, error) {
		return executor.NewFake(l, h), nil
	}}
	return c
}

func (g guarded) run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if !g.Service {
		return daemon.Node(ctx, g.config())
	}
	n, err := daemon.NewService(g.config())
	if err != nil {
		return err
	}
	return n.Run(ctx)
}

// newGuarded makes a node's groups on this machine's cgroups, one with a quota.
func newGuarded(t *testing.T, wait time.Duration) (guarded, *cgroup.Group) {
	t.Helper()
	g := guarded{State: t.TempDir(), Parent: fmt.Sprintf("pacer-test-%d/node", os.Getpid()), Wait: wait}
	// Its executor's handle cannot be read: the node controller leaves it alone.
	dir := filepath.Join(g.State, "work", "apps", "app-1", "1")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "handle.json"), []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	h := cgrouptest.Real(t, g.Parent)
	group, err := h.Group("app-1-1")
	if err == nil {
		err = group.SetQuota(0.2)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := group.Remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g, group
}

// launch starts the node controller and waits for a guard that is not before.
func (g guarded) launch(t *testing.T, before int) (*exec.Cmd, int) {
	t.Helper()
	text, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), guardedEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	second := g.second()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		g.end(t)
	})
	first := g.guardOtherThan(t, before)
	realenv.Await(t, "the second guard", func() bool { pid := g.second(); return pid != 0 && pid != second })
	return cmd, first
}

// end ends guards of a node controller that is dead: they would wait for a successor.
func (g guarded) end(t *testing.T) {
	t.Helper()
	realenv.Await(t, "the guards are gone", func() bool {
		left := false
		for _, pid := range []int{g.guard(), g.second()} {
			if pid > 1 {
				// One that has not yet seen its node end stays when it is told to end.
				_ = syscall.Kill(pid, syscall.SIGTERM)
				left = true
			}
		}
		return !left
	})
}

// guardOtherThan waits for a guard that has its lock, the one before excepted.
func (g guarded) guardOtherThan(t *testing.T, before int) (pid int) {
	t.Helper()
	realenv.Await(t, "a guard", func() bool {
		pid = g.guard()
		return pid != 0 && pid != before
	})
	return pid
}

// left reports whether a guard has had that lock, and has it no more.
func (g guarded) left(lock string) bool {
	text, err := os.ReadFile(filepath.Join(g.State, lock))
	return err == nil && len(text) > 0 && g.holder(lock) == 0
}

// guard is the process that has the first guards' lock, second the other one; 0 for none.
func (g guarded) guard() int { return g.holder("guard.lock") }

func (g guarded) second() int { return g.holder("guard-2.lock") }

func (g guarded) holder(lock string) int {
	f, err := os.Open(filepath.Join(g.State, lock))
	if err != nil {
		return 0
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil {
		return 0
	}
	text, _ := io.ReadAll(f)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

func (g guarded) log(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.State, "guard.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func gone(pid int) func() bool {
	return func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	}
}

func wantQuota(t *testing.T, g *cgroup.Group, want units.Cores) {
	t.Helper()
	if got, err := g.Quota(); err != nil || got != want {
		t.Errorf("quota %v, %v, want %v", got, err, want)
	}
}

func TestAGuardLiftsTheQuotasOfADeadNodeController(t *testing.T) {
	g, group := newGuarded(t, 200*time.Millisecond)
	node, guard := g.launch(t, 0)
	wantQuota(t, group, 0.2)
	if sid, err := unix.Getsid(guard); err != nil || sid != guard {
		t.Errorf("the guard is in session %d, %v, want one of its own", sid, err)
	}
	if err := node.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	realenv.Await(t, "the quota is lifted", func() bool {
		quota, err := group.Quota()
		return err == nil && quota.IsUnlimited()
	})
	realenv.Await(t, "the guard is gone", gone(guard))
	if text := g.log(t); strings.Count(text, "\n") != 1 || !strings.Contains(text, "lifted=1") || !strings.Contains(text, "node=n1") {
		t.Errorf("guard.log: %q", text)
	}
}

func TestASuccessorsGuardReplacesTheOrphanedOne(t *testing.T) {
	g, group := newGuarded(t, time.Hour)
	node, first := g.launch(t, 0)
	if err := node.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = node.Wait()
	_, second := g.launch(t, first)
	realenv.Await(t, "the first guard is gone", gone(first))
	if g.guard() != second {
		t.Errorf("guard %d, want %d", g.guard(), second)
	}
	wantQuota(t, group, 0.2)
}

func TestAnOrphanedGuardSeesASuccessorWithoutAGuard(t *testing.T) {
	g, group := newGuarded(t, 5*time.Second) // The successor has to come within.
	node, guard := g.launch(t, 0)
	if err := node.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = node.Wait()
	unguarded := g.config()
	unguarded.Guard = 0
	successor, err := daemon.NewNode(unguarded)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := successor.Close(); err != nil {
			t.Error(err)
		}
	}()
	realenv.Await(t, "the guard is gone", gone(guard))
	wantQuota(t, group, 0.2)
	if text := g.log(t); !strings.Contains(text, fmt.Sprintf("successor=%d", os.Getpid())) {
		t.Errorf("guard.log: %q", text)
	}
}

func TestAGuardDoesNotSurviveACleanStop(t *testing.T) {
	g, group := newGuarded(t, time.Millisecond)
	node, guard := g.launch(t, 0)
	if err := node.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := node.Wait(); err != nil {
		t.Errorf("the node controller ended with %v", err)
	}
	if !gone(guard)() || g.second() != 0 {
		t.Error("a guard has outlived its node controller")
	}
	// The fake runtime knows no executor, so that only a guard would have lifted it.
	wantQuota(t, group, 0.2)
	if text := g.log(t); text != "" {
		t.Errorf("guard.log: %q", text)
	}
}

// A service that is stopped leaves its quotas to its guard: that of the next one replaces it, or it lifts them.
func TestAServicesGuardWaitsForTheNextOne(t *testing.T) {
	g, group := newGuarded(t, time.Hour)
	g.Service = true
	stop := func(node *exec.Cmd) {
		t.Helper()
		if err := errors.Join(node.Process.Signal(syscall.SIGTERM), node.Wait()); err != nil {
			t.Errorf("the node controller ended with %v", err)
		}
	}
	node, first := g.launch(t, 0)
	stop(node)
	if gone(first)() {
		t.Error("the guard did not wait")
	}
	g.Wait = 200 * time.Millisecond
	node, second := g.launch(t, first)
	realenv.Await(t, "the first guard is gone", gone(first))
	wantQuota(t, group, 0.2)
	stop(node)
	realenv.Await(t, "the quota is lifted", func() bool {
		quota, err := group.Quota()
		return err == nil && quota.IsUnlimited()
	})
	realenv.Await(t, "the second guard is gone", gone(second))
}

func TestAGuardThatEndsIsReplacedAndOneThatIsToldToEndStays(t *testing.T) {
	g, group := newGuarded(t, 50*time.Millisecond)
	node, first := g.launch(t, 0)
	if err := unix.Kill(first, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second := g.guardOtherThan(t, first)
	if err := unix.Kill(second, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := node.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	realenv.Await(t, "the quota is lifted", func() bool {
		quota, err := group.Quota()
		return err == nil && quota.IsUnlimited()
	})
	realenv.Await(t, "the guard is gone", gone(second))
}

// A start that fails half-way leaves its guard to lift what an earlier node
// controller set.
func TestAFailedStartIsGuarded(t *testing.T) {
	g, group := newGuarded(t, time.Millisecond)
	c := g.config()
	c.Deps.Boot = func() (string, error) { return "", errors.New("no boot id") }
	if _, err := daemon.NewNode(c); err == nil {
		t.Fatal("it has started")
	}
	realenv.Await(t, "the quota is lifted", func() bool {
		quota, err := group.Quota()
		return err == nil && quota.IsUnlimited()
	})
	realenv.Await(t, "no guard is left", func() bool { return g.left("guard.lock") && g.left("guard-2.lock") })
}

// The node controller and either guard are killed in one moment, which ends whatever the one that
// is left could have waited for: it lifts the quotas.
func TestAGuardIsEnough(t *testing.T) {
	for name, victim := range map[string]func(guarded) int{"the first": guarded.guard, "the second": guarded.second} {
		t.Run(name, func(t *testing.T) {
			g, group := newGuarded(t, 200*time.Millisecond)
			node, _ := g.launch(t, 0)
			wantQuota(t, group, 0.2)
			pid := victim(g)
			if err := errors.Join(node.Process.Kill(), unix.Kill(pid, unix.SIGKILL)); err != nil {
				t.Fatal(err)
			}
			realenv.Await(t, "the quota is lifted", func() bool {
				quota, err := group.Quota()
				return err == nil && quota.IsUnlimited()
			})
			realenv.Await(t, "no guard is left", func() bool { return g.guard() == 0 && g.second() == 0 })
			if text := g.log(t); strings.Count(text, "\n") != 1 || !strings.Contains(text, "lifted=1") {
				t.Errorf("guard.log: %q", text)
			}
		})
	}
}

func TestUpHasAGuard(t *testing.T) {
	w := newWorld(t)
	cfg := daemon.UpConfig{Planner: plannerConfig(t), Node: w.node(t)}
	cfg.Node.GuardBinary = "/proc/self/exe"
	_, stop := launch(t, func(ctx context.Context, ready func(string)) error {
		cfg.Ready = ready
		return daemon.Up(ctx, cfg)
	})
	g := guarded{State: cfg.Node.State}
	guard := g.guardOtherThan(t, 0)
	if err := stop(); err != nil {
		t.Error(err)
	}
	if !gone(guard)() || g.second() != 0 {
		t.Error("a guard has outlived it")
	}
}
