package docker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/executor/conformance"
	"github.com/sparkpacer/pacer/infra/executor/docker"
)

// TestMain lets the test binary be the shim of the process runtime.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == executor.ShimCommand {
		fmt.Fprintln(os.Stderr, executor.Shim(os.Args[2:]))
		os.Exit(127)
	}
	os.Exit(m.Run())
}

// engine returns the Docker daemon that answers.
func engine(t testing.TB) *docker.Engine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to put containers into groups")
	}
	e, err := docker.Find(t.Context(), "")
	if err != nil {
		t.Skipf("needs a Docker daemon (scripts/docker.sh run starts one): %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// rig is what a test needs on the real Docker, cleaned up at the end.
type rig struct {
	engine *docker.Engine
	groups *cgroup.Hierarchy
	layout executor.Layout
	user   executor.Credential
	node   string
}

func newRig(t testing.TB) rig {
	t.Helper()
	r := rig{engine: engine(t), node: fmt.Sprintf("test-%d", os.Getpid())}
	parent := fmt.Sprintf("pacer-test-%d/node", os.Getpid())
	if r.engine.Systemd() {
		parent = cgroup.SliceParent(r.node)
	}
	t.Cleanup(func() {
		left, err := filepath.Glob("/sys/fs/cgroup/*/pacer-test-" + fmt.Sprint(os.Getpid()))
		if err != nil || len(left) > 0 {
			t.Errorf("groups of other controllers are left: %v, %v", left, err)
		}
	})
	r.groups = cgrouptest.Real(t, parent)
	t.Cleanup(func() { cgrouptest.Clear(t, r.groups) })
	dir, err := os.MkdirTemp("", "pacer-docker-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.layout = executor.Layout{Root: filepath.Join(dir, "work")}
	if r.user, err = executor.LookupUser("nobody"); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r rig) runtime(t testing.TB, mounts ...docker.Mount) *docker.Runtime {
	t.Helper()
	runtime, err := docker.New(docker.Config{Engine: r.engine, Layout: r.layout, Groups: r.groups, Node: r.node, Mounts: mounts,
		Grace: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return runtime
}

func (r rig) spec(t testing.TB, script string) executor.Spec {
	t.Helper()
	group, err := r.groups.Group(cgroup.GroupName("app-1", "1"))
	if err != nil {
		t.Fatal(err)
	}
	return executor.Spec{App: "app-1", ID: "1", Group: group, User: r.user, CommandLine: shell(script)}
}

func shell(script string) executor.CommandLine {
	return executor.CommandLine{Args: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "A=b"}}
}

// start starts a script and stops it when the test ends.
func (r rig) start(t testing.TB, runtime *docker.Runtime, s executor.Spec) (executor.Handle, executor.Paths) {
	t.Helper()
	h, err := runtime.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(runtime.Stop(context.Background(), h), runtime.Remove(h)); err != nil {
			t.Error(err)
		}
	})
	paths, err := r.layout.Paths(s.App, s.ID)
	if err != nil {
		t.Fatal(err)
	}
	return h, paths
}

func await(t testing.TB, what string, condition func() bool) {
	t.Helper()
	tick, limit := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: not in a minute", what)
		}
	}
}

func awaitExit(t testing.TB, r executor.Runtime, h executor.Handle) executor.Status {
	t.Helper()
	var status executor.Status
	await(t, "exit", func() bool {
		var err error
		if status, err = r.Inspect(h); err != nil {
			t.Fatal(err)
		}
		return status.State == api.ExecutorExited
	})
	return status
}

func awaitLog(t testing.TB, paths executor.Paths) string {
	t.Helper()
	var text string
	t.Cleanup(func() {
		if t.Failed() {
			body, _ := os.ReadFile(paths.Stderr)
			t.Logf("it printed %q and %q", text, body)
		}
	})
	await(t, "log", func() bool {
		body, err := os.ReadFile(paths.Stdout)
		text = string(body)
		return err == nil && strings.HasSuffix(text, "end\n")
	})
	return text
}

func TestConformance(t *testing.T) {
	scripts := map[conformance.Program]string{
		// The first process of a container gets only signals that it asks for, as a JVM does.
		conformance.Runs:   "trap 'exit 143' TERM; /bin/sleep 600 & wait",
		conformance.Exits3: "exit 3",
		conformance.Deaf:   "trap '' TERM; echo ready >&2; while :; do /bin/sleep 1; done",
		conformance.Family: "trap '' TERM; setsid /bin/sleep 600 & trap - TERM; echo ready >&2; exec /bin/sleep 600",
		conformance.Speaks: "echo hello >&2; exec /bin/sleep 600",
	}
	conformance.Run(t, func(t *testing.T) conformance.Harness {
		h := newRig(t).harness(t)
		h.Command = func(p conformance.Program) executor.CommandLine {
			if script, ok := scripts[p]; ok {
				return shell(script)
			}
			return executor.CommandLine{Args: []string{"/no/such/java", "-version"}, Env: []string{"PATH=/usr/bin:/bin"}}
		}
		return h
	})
}

func (r rig) harness(t *testing.T) conformance.Harness {
	return conformance.Harness{Layout: r.layout, Groups: r.groups, User: r.user, Remembers: true,
		New: func() executor.Runtime { return r.runtime(t) }}
}

func TestAttacks(t *testing.T) { conformance.Attacks(t, newRig(t).harness(t)) }

// A container's program has no rights but its user's, and its processes are bounded.
func TestAContainerHasNoMoreThanItNeeds(t *testing.T) {
	r := newRig(t)
	h, paths := r.start(t, r.runtime(t), r.spec(t, "echo end; exec sleep 600"))
	awaitLog(t, paths)
	conformance.Confined(t, h.PID)
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", h.PID))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		file := filepath.Join("/sys/fs/cgroup", f[1], f[2], "pids.max")
		if most, err := os.ReadFile(file); err == nil && (f[1] == "pids" || f[1] == "") {
			if strings.TrimSpace(string(most)) != "16384" {
				t.Errorf("%s is %s", file, most)
			}
			return
		}
	}
	t.Errorf("no bound on processes is found in %s", body)
}
