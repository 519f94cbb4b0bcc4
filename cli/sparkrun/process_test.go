package sparkrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds what has to come, not how fast it does.
const patience = time.Minute

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// shell runs a script, which the end of the test stops.
func shell(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(0) })
	return p
}

// What a process leaves behind holds its output open; Code is patient with that for
// waitDelay, and the time that the process took has no part in it.
func TestAProcessTookUntilItsExitWhoeverHoldsItsOutput(t *testing.T) {
	p := shell(t, "sleep 600 & echo $!")
	<-p.Exited()
	took := p.Took()
	if code, err := p.Code(within(t)); code != 0 || err != nil {
		t.Fatalf("exit %d, %v", code, err)
	}
	if left, err := strconv.Atoi(strings.TrimSpace(p.Answer())); err != nil {
		t.Error(err)
	} else if err := syscall.Kill(left, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if held := time.Since(p.Began()) - took; took <= 0 || took != p.Took() || held < waitDelay {
		t.Errorf("it took %v, then %v; its output was held for %v", took, p.Took(), held)
	}
}

func TestOutputIsBothStreamsAndTheAnswerIsOne(t *testing.T) {
	p := shell(t, "echo one; echo two >&2; exit 7")
	if code, err := p.Code(within(t)); code != 7 || err != nil {
		t.Errorf("exit %d, %v, want 7", code, err)
	}
	if out := p.Output(); p.Answer() != "one\n" || !strings.Contains(out, "one\n") || !strings.Contains(out, "two\n") {
		t.Errorf("answer %q, output %q", p.Answer(), out)
	}
	p = shell(t, "kill -KILL $$")
	if code, err := p.Code(within(t)); code != -int(syscall.SIGKILL) || err != nil {
		t.Errorf("exit %d, %v, want the signal", code, err)
	}
	if _, err := Start(Command{Path: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that is not there: %v", err)
	}
}

func TestALogGetsBothStreamsAndTheAnswerStaysApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "up.log")
	log, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	// The standard error is the file itself: it is written to with nobody between.
	script := `readlink /proc/$$/fd/2 >&2; echo "is ready."; while :; do sleep 0.05; done`
	p, err := Daemon(within(t), Command{Path: "/bin/sh", Args: []string{"-c", script}, Log: log}, patience)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(patience); err != nil {
		t.Error(err)
	}
	body, err := os.ReadFile(path)
	if want := path + "\nis ready.\n"; err != nil || string(body) != want || p.Output() != want {
		t.Errorf("the log is %q, %v, the output %q, want %q", body, err, p.Output(), want)
	}
	if p.Answer() != "is ready.\n" || p.LastWords() != "is ready." {
		t.Errorf("answer %q, last words %q", p.Answer(), p.LastWords())
	}
	if _, err := log.WriteString("more"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the log is open: %v", err)
	}
}

func TestADaemonThatDoesNotGetReadyIsNotLeftRunning(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"ended":   {"echo no port >&2; exit 78", "ended before it said \"ready\": exit status 78: no port"},
		"already": {"echo already there; echo unready", "exit status 0: already there\nunready"},
	} {
		_, err := Daemon(within(t), Command{Path: "/bin/sh", Args: []string{"-c", c.script}}, patience)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	stopped := filepath.Join(t.TempDir(), "stopped")
	ctx, cancel := context.WithCancel(within(t))
	cancel()
	// It may be told to stop before it has set its trap: then it ends all the same.
	_, err := Daemon(ctx, Command{Path: "/bin/sh", Args: []string{"-c", `echo $$ >` + stopped + `; while :; do sleep 0.05; done`}}, patience)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want what ended the wait", err)
	}
	if pid, err := os.ReadFile(stopped); err == nil {
		if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil && len(pid) > 0 {
			t.Errorf("process %s is left", pid)
		}
	}
}

func TestAwaitTakesWhatWasSaidBefore(t *testing.T) {
	p := shell(t, "echo New state: ALIVE; read forever")
	for range 2 {
		if err := p.Await(within(t), "state: ALIVE"); err != nil {
			t.Fatal(err)
		}
	}
	if code, err := p.Code(within(t)); code == 0 || err != nil { // Standard input is empty.
		t.Fatalf("exit %d, %v", code, err)
	}
	if err := p.Await(within(t), "ALIVE"); err != nil {
		t.Error(err)
	}
}

func TestStopKillsWhatDoesNotStop(t *testing.T) {
	p := shell(t, `trap "" TERM; echo up; while :; do sleep 0.05; done`)
	if err := p.Await(within(t), "up"); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(time.Millisecond); err == nil || !strings.Contains(err.Error(), "sh did not stop within 1ms and was killed") {
		t.Errorf("%v", err)
	}
	if code, err := p.Code(within(t)); code != -int(syscall.SIGKILL) || err != nil {
		t.Errorf("exit %d, %v", code, err)
	}
	if err := errors.Join(p.Stop(0), p.Signal(syscall.SIGTERM)); err != nil {
		t.Errorf("of one that has ended: %v", err)
	}

	p = shell(t, `trap "exit 3" TERM; echo up; while :; do sleep 0.05; done`)
	if err := errors.Join(p.Await(within(t), "up"), p.Stop(patience)); err != nil {
		t.Error(err)
	}
	if code, err := p.Code(within(t)); code != 3 || err != nil {
		t.Errorf("exit %d, %v", code, err)
	}
}
