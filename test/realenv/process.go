package realenv

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/cli/sparkrun"
)

// Patience is when a test gives up what has to come. It bounds no speed: a machine
// with other work is several times slower for a while.
const Patience = 10 * time.Minute

// grace is how long a process may take to stop.
const grace = time.Minute

// RuntimeEnv sets node.runtime for the daemons that tests start; unset it is
// process.
const RuntimeEnv = "PACER_NODE_RUNTIME"

// Process is a child with its output, stopped when the test ends.
type Process struct {
	*sparkrun.Process
	t testing.TB
}

// Start runs a command with extra environment. A failing test prints the end of
// its output.
func Start(t testing.TB, env []string, path string, args ...string) *Process {
	t.Helper()
	return start(t, sparkrun.Command{Path: path, Args: args, Env: environment(env)})
}

// environment is this process's with more. Where Docker answers a node would take it: a
// test that wants it says so.
func environment(more []string) []string {
	env := os.Environ()
	if os.Getenv(RuntimeEnv) == "" {
		env = append(env, RuntimeEnv+"=process")
	}
	return append(env, more...)
}

func start(t testing.TB, c sparkrun.Command) *Process {
	t.Helper()
	p, err := sparkrun.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return stopped(t, p)
}

// ready starts a daemon and waits until it is ready.
func ready(t testing.TB, c sparkrun.Command, err error) *Process {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	p, err := sparkrun.Daemon(ctx, c, grace)
	if err != nil {
		t.Fatal(err)
	}
	return stopped(t, p)
}

// stopped has a process stopped when the test ends.
func stopped(t testing.TB, of *sparkrun.Process) *Process {
	p := &Process{Process: of, t: t}
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("%s printed:\n%s", p, sparkrun.Tail(p.Output(), 6000))
		}
	})
	return p
}

// Await waits until the output contains text and fails the test if the process
// ends or the limit passes before.
func (p *Process) Await(text string, limit time.Duration) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := p.Process.Await(ctx, text); err != nil {
		p.t.Fatal(err)
	}
}

// Wait returns the exit code, -signal if a signal ended the process; it fails
// the test after limit.
func (p *Process) Wait(limit time.Duration) int {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	code, err := p.Code(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	return code
}

// Signal sends a signal to the process.
func (p *Process) Signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// Stop ends the process: SIGTERM, and SIGKILL, a fault of the test, when a minute was not
// enough.
func (p *Process) Stop() {
	if err := p.Process.Stop(grace); err != nil {
		p.t.Error(err)
	}
}
