package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// TestMain is the `pacer up` that `pacer up --detach` starts: it holds what a planner and a node controller hold of
// their state, says that it is ready, and ends at SIGTERM.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "up" {
		os.Exit(fakeUp(strings.Join(os.Args, " ")))
	}
	os.Exit(m.Run())
}

func fakeUp(args string) int {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	if strings.Contains(args, "broken") {
		fmt.Fprintln(os.Stderr, "pacer: no room on this machine")
		return ExitConfig
	}
	for _, name := range []string{"planner", "node"} {
		dir := regexp.MustCompile(name + `\.state=(\S+)`).FindStringSubmatch(args)[1]
		if held(dir, name, os.Getpid()) == nil {
			return ExitFailure
		}
	}
	Background{NewShell("pacer", nil, os.Stdout, os.Stderr)}.ready("pacer is ready: as a test")
	<-told
	return ExitOK
}

// held takes the lock of a daemon and names its holder there; nil where another process has it.
func held(dir, name string, pid int) *os.File {
	f, err := os.OpenFile(filepath.Join(dir, name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil || unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil
	}
	_, _ = fmt.Fprintln(f, pid)
	return f
}

// pacer runs `pacer up` or `pacer down` with its state in dir.
func pacer(t *testing.T, dir string, args ...string) (code int, out, said string) {
	t.Helper()
	var stdout, stderr strings.Builder
	sh := NewShell("pacer", nil, &stdout, &stderr)
	root := &cobra.Command{Use: "pacer"}
	root.AddCommand(sh.Up(func(context.Context) string { return "" }), Background{sh}.Down())
	code = sh.Execute(t.Context(), root, append(args, "--state-dir", dir))
	return code, stdout.String(), stderr.String()
}

// A detached `pacer up` has a session of its own and a log, is there once, and ends by `pacer down`.
func TestUpDetachedAndDown(t *testing.T) {
	dir := t.TempDir()
	code, out, said := pacer(t, dir, "up", "--detach")
	found := regexp.MustCompile(`(?s)^pacer is ready: as a test\nit runs on as process (\d+), its log is (\S+);`).FindStringSubmatch(out)
	if code != ExitOK || found == nil {
		t.Fatalf("exit code %d: %s%s", code, out, said)
	}
	pid, _ := strconv.Atoi(found[1])
	if session, err := unix.Getsid(pid); err != nil || session != pid {
		t.Errorf("process %d is of session %d, %v", pid, session, err)
	}
	if log, err := os.ReadFile(found[2]); err != nil || string(log) != "pacer is ready: as a test\n" {
		t.Errorf("the log has %q, %v", log, err)
	}
	if code, _, said := pacer(t, dir, "up", "--detach"); code != ExitFailure || !strings.Contains(said, "process "+found[1]+" runs with its state in "+dir) {
		t.Errorf("a second one: exit code %d: %s", code, said)
	}
	if code, out, said := pacer(t, dir, "down"); code != ExitOK || out != "pacer has ended (process "+found[1]+")\n" {
		t.Errorf("down: exit code %d: %s%s", code, out, said)
	}
	if code, _, said := pacer(t, dir, "down"); code != ExitFailure || !strings.Contains(said, "no pacer up runs with its state in "+dir) {
		t.Errorf("down where nothing runs: exit code %d: %s", code, said)
	}
}

// A pacer up that ends before it is ready has its words and its exit code shown as if it had not been detached.
func TestUpDetachedThatDoesNotBegin(t *testing.T) {
	if code, out, said := pacer(t, t.TempDir(), "up", "--detach", "--node-name", "broken"); code != ExitConfig || out != "" || said != "pacer: no room on this machine\n" {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
}

// A planner that runs by itself, as a unit has it, is not ended.
func TestDownLeavesDaemonsAlone(t *testing.T) {
	dir := t.TempDir()
	lock := held(dir, "planner", os.Getpid())
	defer lock.Close()
	if code, _, said := pacer(t, dir, "down"); code != ExitFailure || !strings.Contains(said, "its unit") {
		t.Errorf("exit code %d: %s", code, said)
	}
}
