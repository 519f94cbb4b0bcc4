package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
)

// Program is what an executor of the suite does.
type Program int

const (
	// Runs runs until SIGTERM.
	Runs Program = iota
	// Exits3 ends at once with exit status 3.
	Exits3
	// Deaf ignores SIGTERM.
	Deaf
	// Family leaves a child behind when it ends at SIGTERM, where there are
	// processes at all.
	Family
	// Missing cannot be executed.
	Missing
	// Speaks writes "hello" to its standard error and runs on.
	Speaks
)

// Harness is one machine with a runtime on it.
type Harness struct {
	Layout executor.Layout
	Groups *cgroup.Hierarchy
	User   executor.Credential
	// New returns a runtime; a second call is a restarted node controller.
	New func() executor.Runtime
	// Remembers says that how an executor ended is known to the next runtime too,
	// because somebody besides its parent was told.
	Remembers bool
	// Command returns the command line of a program.
	Command func(Program) executor.CommandLine
}

const app = api.AppID("app-20261121043012-0001-3fa94c")

// Run runs the suite; each test gets a harness of its own.
func Run(t *testing.T, harness func(t *testing.T) Harness) {
	for name, test := range map[string]func(*testing.T, Harness){
		"start runs the program and makes its files": start,
		"the exit code is told":                      exitCode,
		"stop ends it and is idempotent":             stop,
		"stop kills the deaf":                        stopDeaf,
		"stop ends its descendants":                  stopFamily,
		"a start that fails leaves nothing":          missing,
		"a second start is a conflict":               conflict,
		"names cannot leave the tree":                names,
		"remove keeps the logs only":                 remove,
		"local directories go with the last":         local,
		"a restarted controller takes over":          restart,
		"another process with its id is not it":      reused,
		"a cancelled start leaves nothing":           cancelled,
		"many at once":                               many,
	} {
		t.Run(name, func(t *testing.T) { test(t, harness(t)) })
	}
}

// start starts id with a program and stops it when the test ends.
func (h Harness) start(t *testing.T, r executor.Runtime, id api.ExecutorID, p Program) executor.Handle {
	t.Helper()
	handle, err := r.Start(t.Context(), h.spec(t, id, p))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.Stop(context.Background(), handle), r.Remove(handle)); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	return handle
}

func (h Harness) spec(t *testing.T, id api.ExecutorID, p Program) executor.Spec {
	t.Helper()
	group, err := h.Groups.Group(cgroup.GroupName(app, id))
	if err != nil {
		t.Fatal(err)
	}
	return executor.Spec{App: app, ID: id, CommandLine: h.Command(p), Group: group, User: h.User}
}

func (h Harness) paths(t *testing.T, id api.ExecutorID) executor.Paths {
	t.Helper()
	paths, err := h.Layout.Paths(app, id)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func inspect(t *testing.T, r executor.Runtime, h executor.Handle) executor.Status {
	t.Helper()
	status, err := r.Inspect(h)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// await polls until condition holds: there is nothing to wait on in the
// interface, as a node looks at its executors once per tick.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick, limit := time.NewTicker(2*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: not in a minute", what)
		}
	}
}

func start(t *testing.T, h Harness) {
	r := h.New()
	handle := h.start(t, r, "1", Speaks)
	if got := inspect(t, r, handle).State; got != api.ExecutorRunning {
		t.Fatalf("state %q after the start", got)
	}
	if handle.App != app || handle.ID != "1" || handle.PID <= 1 {
		t.Errorf("handle %+v", handle)
	}
	paths := h.paths(t, "1")
	for _, path := range []string{paths.Work, paths.Local, paths.Stdout, paths.Stderr, paths.Page, paths.Wish,
		paths.Handle} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	await(t, "hello in stderr", func() bool {
		reply := h.Layout.ReadLog(api.LogRequest{V: api.Version, App: app, Executor: "1", Stream: "stderr"})
		return reply.Error == nil && strings.Contains(string(reply.Data), "hello")
	})
}

func exitCode(t *testing.T, h Harness) {
	r := h.New()
	handle := h.start(t, r, "1", Exits3)
	await(t, "exit", func() bool { return inspect(t, r, handle).State == api.ExecutorExited })
	want := executor.Status{State: api.ExecutorExited, Exit: "exit status 3", ExitCode: 3}
	if diff := cmp.Diff(want, inspect(t, r, handle)); diff != "" {
		t.Error(diff)
	}
}

func stop(t *testing.T, h Harness) {
	r := h.New()
	handle := h.start(t, r, "1", Runs)
	for range 2 {
		if err := r.Stop(t.Context(), handle); err != nil {
			t.Fatal(err)
		}
		want := executor.Status{State: api.ExecutorExited, Exit: "killed by signal 15", ExitCode: 143}
		if diff := cmp.Diff(want, inspect(t, r, handle)); diff != "" {
			t.Error(diff)
		}
	}
}

func stopDeaf(t *testing.T, h Harness) {
	r := h.New()
	handle := h.start(t, r, "1", Deaf)
	await(t, "the program's first word", func() bool {
		data, err := os.ReadFile(h.paths(t, "1").Stderr)
		return err == nil && len(data) > 0
	})
	if err := r.Stop(t.Context(), handle); err != nil {
		t.Fatal(err)
	}
	want := executor.Status{State: api.ExecutorExited, Exit: "killed by signal 9", ExitCode: 137}
	if diff := cmp.Diff(want, inspect(t, r, handle)); diff != "" {
		t.Error(diff)
	}
}

func stopFamily(t *testing.T, h Harness) {
	r := h.New()
	spec := h.spec(t, "1", Family)
	handle := h.start(t, r, "1", Family)
	await(t, "the program's first word", func() bool {
		data, err := os.ReadFile(h.paths(t, "1").Stderr)
		return err == nil && len(data) > 0
	})
	if err := r.Stop(t.Context(), handle); err != nil {
		t.Fatal(err)
	}
	if pids, err := spec.Group.Procs(); err != nil || len(pids) > 0 {
		t.Errorf("in the group after the stop: %v, %v", pids, err)
	}
}

func missing(t *testing.T, h Harness) {
	r := h.New()
	_, err := r.Start(t.Context(), h.spec(t, "1", Missing))
	if err == nil || !strings.Contains(err.Error(), "no such file or directory") {
		t.Errorf("error %v, want one that says why", err)
	}
	h.nothingLeft(t, r)
}

// nothingLeft checks that no trace of executor 1 is there but its log.
func (h Harness) nothingLeft(t *testing.T, r executor.Runtime) {
	t.Helper()
	handles, err := r.Recover()
	if err != nil || len(handles) > 0 {
		t.Errorf("recovered %v, %v", handles, err)
	}
	paths := h.paths(t, "1")
	for _, path := range []string{paths.Work, paths.Local, paths.Page, paths.Wish, paths.Handle} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there (%v)", path, err)
		}
	}
}

func conflict(t *testing.T, h Harness) {
	r := h.New()
	handle := h.start(t, r, "1", Runs)
	if _, err := r.Start(t.Context(), h.spec(t, "1", Runs)); api.KindOf(err) != api.KindConflict {
		t.Errorf("second start: %v", err)
	}
	if got := inspect(t, r, handle).State; got != api.ExecutorRunning {
		t.Errorf("the first one is %s", got)
	}
	if err := r.Remove(handle); api.KindOf(err) != api.KindConflict {
		t.Errorf("remove of a running one: %v", err)
	}
}

func names(t *testing.T, h Harness) {
	r := h.New()
	spec := h.spec(t, "1", Runs)
	for _, id := range []api.ExecutorID{"", "..", "../1", "1/2", "local"} {
		spec.ID = id
		if _, err := r.Start(t.Context(), spec); api.KindOf(err) != api.KindInvalid {
			t.Errorf("id %q: %v", id, err)
		}
	}
}

func remove(t *testing.T, h Harness) {
	r := h.New()
	handle, err := r.Start(t.Context(), h.spec(t, "1", Runs))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Stop(t.Context(), handle), r.Remove(handle)); err != nil {
		t.Fatal(err)
	}
	h.nothingLeft(t, r)
	if _, err := os.Stat(h.paths(t, "1").Stderr); err != nil {
		t.Errorf("the log: %v", err)
	}
	if groups, err := h.Groups.Names(); err != nil || len(groups) > 0 {
		t.Errorf("groups %v, %v", groups, err)
	}
	if got := inspect(t, r, handle).State; got != api.ExecutorExited {
		t.Errorf("state %s after the removal", got)
	}
}

func local(t *testing.T, h Harness) {
	r := h.New()
	h.start(t, r, "2", Runs)
	handle, err := r.Start(t.Context(), h.spec(t, "1", Runs))
	if err != nil {
		t.Fatal(err)
	}
	block := filepath.Join(h.paths(t, "2").Local, "shuffle_0_0_0.data")
	if err := os.WriteFile(block, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Stop(t.Context(), handle), r.Remove(handle)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(block); err != nil {
		t.Errorf("a running executor's block: %v", err)
	}
}

func restart(t *testing.T, h Harness) {
	first := h.New()
	var want []executor.Handle
	for _, id := range []api.ExecutorID{"2", "10"} {
		handle, err := first.Start(t.Context(), h.spec(t, id, Runs))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, handle)
	}
	second := h.New()
	got, err := second.Recover()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	for _, handle := range got {
		if state := inspect(t, second, handle).State; state != api.ExecutorRunning {
			t.Errorf("executor %s is %s", handle.ID, state)
		}
		if err := second.Stop(t.Context(), handle); err != nil {
			t.Fatal(err)
		}
		status := inspect(t, second, handle)
		wantCode := api.Unknown
		if h.Remembers {
			wantCode = 143
		}
		if status.State != api.ExecutorExited || status.ExitCode != wantCode || status.Exit == "" {
			t.Errorf("the second runtime says that it ended as %+v, want exit code %d", status, wantCode)
		}
		if err := second.Remove(handle); err != nil {
			t.Error(err)
		}
	}
	// In a test both runtimes live in one process: the parent reaps its children.
	for _, handle := range want {
		inspect(t, first, handle)
	}
}

func reused(t *testing.T, h Harness) {
	r := h.New()
	handle := h.start(t, r, "1", Runs)
	older, elsewhere := handle, handle
	older.Started--
	elsewhere.Boot = "another boot"
	for _, other := range []executor.Handle{older, elsewhere} {
		if got := inspect(t, h.New(), other); got.State != api.ExecutorExited || got.ExitCode != api.Unknown {
			t.Errorf("%+v is %+v", other, got)
		}
	}
	if got := inspect(t, r, handle).State; got != api.ExecutorRunning {
		t.Errorf("the real one is %s", got)
	}
}

func cancelled(t *testing.T, h Harness) {
	r := h.New()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Start(ctx, h.spec(t, "1", Runs)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	h.nothingLeft(t, r)
}

func many(t *testing.T, h Harness) {
	r := h.New()
	const n = 6
	failures := make(chan error, n)
	for i := range n {
		spec := h.spec(t, api.ExecutorID(fmt.Sprint(i+1)), Runs)
		go func() {
			handle, err := r.Start(t.Context(), spec)
			if err == nil {
				err = errors.Join(r.Stop(t.Context(), handle), r.Remove(handle))
			}
			failures <- err
		}()
	}
	for range n {
		if err := <-failures; err != nil {
			t.Error(err)
		}
	}
	h.nothingLeft(t, r)
}

// Confined checks of a process that runs as an executor, and not as root, that it has no more
// rights and room than it needs.
func Confined(t *testing.T, pid int) {
	t.Helper()
	read := func(name string) string {
		body, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	status := map[string]string{}
	for line := range strings.Lines(read("status")) {
		name, value, _ := strings.Cut(line, ":")
		status[name] = strings.TrimSpace(value)
	}
	// Docker lists a process's first group among its further ones.
	if first := strings.Fields(status["Gid"])[0]; status["Groups"] == first {
		status["Groups"] = ""
	}
	for name, want := range map[string]string{"NoNewPrivs": "1", "Groups": "", "CapEff": "0000000000000000",
		"CapPrm": "0000000000000000"} {
		if status[name] != want {
			t.Errorf("%s of process %d is %q, want %q", name, pid, status[name], want)
		}
	}
	for line := range strings.Lines(read("limits")) {
		if f := strings.Fields(line); strings.HasPrefix(line, "Max core file size") && (f[4] != "0" || f[5] != "0") {
			t.Errorf("process %d: %s", pid, line)
		}
	}
}
