package realenv

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Patience is when a test gives up what has to come. It bounds no speed: a machine
// with other work is several times slower for a while.
const Patience = 10 * time.Minute

// RuntimeEnv sets node.runtime for the daemons that tests start; unset it is
// process.
const RuntimeEnv = "PACER_NODE_RUNTIME"

// Process is a child with its output, stopped when the test ends.
type Process struct {
	t    testing.TB
	name string
	cmd  *exec.Cmd
	// out is both streams as they came, answer the standard output alone: lines
	// of the two may be torn by each other.
	out, answer *output
	done        chan struct{}
	err         error // set before done is closed
	// began is when it was started, over when it ended, by this process's monotonic
	// clock; the latter is set before exited is closed, and that before done.
	began, over time.Time
	exited      chan struct{}
}

// output collects what a process prints and wakes who waits for a line.
type output struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	more chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(p)
	close(o.more)
	o.more = make(chan struct{})
	return len(p), nil
}

func (o *output) text() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String(), o.more
}

// Start runs a command with extra environment. A failing test prints the end of
// its output.
func Start(t testing.TB, env []string, path string, args ...string) *Process {
	t.Helper()
	p := &Process{t: t, name: path[strings.LastIndexByte(path, '/')+1:], cmd: exec.Command(path, args...),
		out: &output{more: make(chan struct{})}, answer: &output{more: make(chan struct{})}, done: make(chan struct{}), exited: make(chan struct{})}
	// Where Docker answers a node would take it: a test that wants it says so.
	if os.Getenv(RuntimeEnv) == "" {
		env = append([]string{RuntimeEnv + "=process"}, env...)
	}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = io.MultiWriter(p.out, p.answer), p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	// Pdeathsig follows the thread that forks; a killed child's children may hold
	// the pipe open, which must not hold up Wait.
	p.cmd.WaitDelay = 2 * time.Second
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.over = awaitExit(p.cmd.Process.Pid)
		close(p.exited)
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("%s printed:\n%s", p.name, tail(p.Output(), 6000))
		}
	})
	return p
}

func tail(s string, n int) string {
	if len(s) > n {
		return "..." + s[len(s)-n:]
	}
	return s
}

// Output is what the process printed so far, both streams together.
func (p *Process) Output() string {
	text, _ := p.out.text()
	return text
}

// Answer is what the process printed so far on its standard output.
func (p *Process) Answer() string {
	text, _ := p.answer.text()
	return text
}

// awaitExit waits until a child has ended, leaves it to be reaped, and returns when
// that was: Wait of its Cmd returns later, when all that has its pipes has closed them.
func awaitExit(pid int) time.Time {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return time.Now()
		}
	}
}

// Exited is closed when the process has ended, Done when its output has, too: what it
// has started may hold that open a little longer.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Took waits for the process's exit and returns how long it ran, from just before its
// start.
func (p *Process) Took() time.Duration {
	<-p.exited
	return p.over.Sub(p.began)
}

// LastWords are the end of what it printed.
func (p *Process) LastWords() string { return tail(p.Output(), 1500) }

// Began is when the process was started.
func (p *Process) Began() time.Time { return p.began }

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Await waits until the output contains text and fails the test if the process
// ends or the limit passes before.
func (p *Process) Await(text string, limit time.Duration) {
	p.t.Helper()
	deadline := time.After(limit)
	for {
		out, more := p.out.text()
		if strings.Contains(out, text) {
			return
		}
		select {
		case <-more:
		case <-p.done:
			if strings.Contains(p.Output(), text) {
				return
			}
			p.t.Fatalf("%s ended (%v) before it said %q:\n%s", p.name, p.err, text, tail(p.Output(), 4000))
		case <-deadline:
			p.t.Fatalf("%s did not say %q within %v:\n%s", p.name, text, limit, tail(p.Output(), 4000))
		}
	}
}

// Wait returns the exit code, -signal if a signal ended the process; it fails
// the test after limit.
func (p *Process) Wait(limit time.Duration) int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		p.t.Fatalf("%s did not end within %v:\n%s", p.name, limit, tail(p.Output(), 4000))
	}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return -int(status.Signal())
		}
		return exit.ExitCode()
	}
	if p.err != nil && !errors.Is(p.err, exec.ErrWaitDelay) {
		p.t.Fatalf("%s: %v", p.name, p.err)
	}
	return 0
}

// Signal sends a signal to the process.
func (p *Process) Signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
}

// Stop ends the process: SIGTERM, and SIGKILL when a minute was not enough.
func (p *Process) Stop() {
	select {
	case <-p.done:
		return
	default:
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		p.t.Errorf("%s did not stop within a minute of SIGTERM", p.name)
		p.cmd.Process.Kill()
		<-p.done
	}
}
