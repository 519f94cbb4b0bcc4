package sparkrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
)

// waitDelay is how long the output of a process that has ended may be held open by what
// it has started.
const waitDelay = 2 * time.Second

// Command is what Start runs.
type Command struct {
	// Path is the program's, Args are its arguments without its name.
	Path string
	Args []string
	// Env is its environment; nil is that of this process.
	Env []string
	// Log, unless nil, gets all that it prints, and is closed when it has ended. Standard
	// error goes there directly, so that a daemon can still log when this process is
	// killed; lines of the two streams may change places.
	Log *os.File
}

// Process is a child with its output. It may be used by several goroutines.
type Process struct {
	name string
	log  string // The path of its log, "" for none.
	cmd  *exec.Cmd
	// out is both streams as they came, answer the standard output alone: lines of the two
	// may be torn by each other. Of a process with a log, which has both, they are one.
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

func newOutput() *output { return &output{more: make(chan struct{})} }

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

// Start runs a command.
func Start(c Command) (*Process, error) {
	p := &Process{name: filepath.Base(c.Path), cmd: exec.Command(c.Path, c.Args...), out: newOutput(), answer: newOutput(),
		done: make(chan struct{}), exited: make(chan struct{})}
	p.cmd.Env = c.Env
	p.cmd.Stdout, p.cmd.Stderr = io.MultiWriter(p.answer, p.out), p.out
	if c.Log != nil {
		p.log, p.out = c.Log.Name(), p.answer
		p.cmd.Stdout, p.cmd.Stderr = io.MultiWriter(c.Log, p.answer), c.Log
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	// Pdeathsig follows the thread that forks; a killed child's children may hold
	// the pipe open, which must not hold up Wait.
	p.cmd.WaitDelay = waitDelay
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		if c.Log != nil {
			c.Log.Close()
		}
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	go func() {
		p.over = awaitExit(p.cmd.Process.Pid)
		close(p.exited)
		p.err = p.cmd.Wait()
		if c.Log != nil {
			c.Log.Close()
		}
		close(p.done)
	}()
	return p, nil
}

// Daemon runs a command and waits until it says that it is ready. On an error nothing is
// left running.
func Daemon(ctx context.Context, c Command, grace time.Duration) (*Process, error) {
	p, err := Start(c)
	if err != nil {
		return nil, err
	}
	if err := p.await(ctx, "ready", isReady); err != nil {
		return nil, errors.Join(err, p.Stop(grace))
	}
	return p, nil
}

// isReady reports whether a daemon has printed the word.
func isReady(out string) bool {
	for word := range strings.FieldsFuncSeq(out, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if word == "ready" {
			return true
		}
	}
	return false
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

// String is the name of the process's program.
func (p *Process) String() string { return p.name }

// Output is what the process printed so far, both streams together.
func (p *Process) Output() string {
	if p.log != "" {
		body, err := os.ReadFile(p.log)
		if err != nil {
			return err.Error()
		}
		return string(body)
	}
	text, _ := p.out.text()
	return text
}

// Answer is what the process printed so far on its standard output.
func (p *Process) Answer() string {
	text, _ := p.answer.text()
	return text
}

// LastWords are the end of what it printed: the last line where a log has the rest.
func (p *Process) LastWords() string {
	out := p.Output()
	if p.log != "" {
		out = strings.TrimSpace(out)
		return out[strings.LastIndexByte(out, '\n')+1:]
	}
	return Tail(out, 1500)
}

// Tail returns the last n bytes of a text, marked where something is left out.
func Tail(s string, n int) string {
	if len(s) > n {
		return "..." + s[len(s)-n:]
	}
	return s
}

// Exited is closed when the process has ended, Done when its output has, too: what it
// has started may hold that open a little longer.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Done is described with Exited.
func (p *Process) Done() <-chan struct{} { return p.done }

// Began is when the process was started.
func (p *Process) Began() time.Time { return p.began }

// Took waits for the process's exit and returns how long it ran, from just before its
// start.
func (p *Process) Took() time.Duration {
	<-p.exited
	return p.over.Sub(p.began)
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Await waits until the output contains text. That the process ends before, or ctx, is
// an error with its last words.
func (p *Process) Await(ctx context.Context, text string) error {
	return p.await(ctx, text, func(out string) bool { return strings.Contains(out, text) })
}

func (p *Process) await(ctx context.Context, text string, said func(out string) bool) error {
	for {
		_, more := p.out.text() // Before what is looked at, so that nothing is missed.
		if said(p.Output()) {
			return nil
		}
		select {
		case <-more:
		case <-p.done:
			if said(p.Output()) {
				return nil
			}
			return fmt.Errorf("%s ended before it said %q: %w: %s", p.name, text, p.ending(), p.LastWords())
		case <-ctx.Done():
			return fmt.Errorf("%s has not said %q: %w: %s", p.name, text, ctx.Err(), p.LastWords())
		}
	}
}

// ending says how a process has ended.
func (p *Process) ending() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// Code waits for the process's end and returns its exit code, -signal if a signal ended
// it. That ctx ends before is an error with its last words.
func (p *Process) Code(ctx context.Context) (int, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		return 0, fmt.Errorf("%s has not ended: %w: %s", p.name, ctx.Err(), p.LastWords())
	}
	var exit *exec.ExitError
	switch {
	case errors.As(p.err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return -int(status.Signal()), nil
		}
		return exit.ExitCode(), nil
	case p.err != nil && !errors.Is(p.err, exec.ErrWaitDelay):
		return 0, fmt.Errorf("wait for %s: %w", p.name, p.err)
	}
	return 0, nil
}

// Signal sends a signal to the process; one that has ended takes it without an error.
func (p *Process) Signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", p.name, err)
	}
	return nil
}

// Stop ends the process and waits for its end: SIGTERM, and SIGKILL, which is an error,
// when grace was not enough.
func (p *Process) Stop(grace time.Duration) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(grace):
	}
	err := p.Signal(syscall.SIGKILL)
	<-p.done
	return errors.Join(fmt.Errorf("%s did not stop within %v and was killed", p.name, grace), err)
}
