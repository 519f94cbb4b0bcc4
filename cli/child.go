package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/cli/config"
	"github.com/sparkpacer/pacer/units"
)

// runSpark runs spark-submit on the streams of this process, passes signals on
// to it and returns its exit code as a codedError. It gets SIGTERM when this process is
// killed: nobody would report its exit, and no one waits for it any more.
//
// With a terminal it is in the process group of its caller, as if that had started it itself. It reads from the
// terminal, which sends Ctrl-C and Ctrl-Z to both, and goes on where the caller does. Without one it leads a session: a
// kernel that divides CPUs by session (autogroup) then gives a driver that hands out tasks its turn beside one that
// starts, with a dozen threads that compile. The rest of the session goes when a signal has ended its leader: a
// Python program may work on without the JVM that ran it. Nice is by how much such a session yields (launch.yields), 0
// for not.
func (sh *shell) runSpark(ctx context.Context, sp spark, env, args []string, nice int, signals <-chan os.Signal) error {
	cmd := exec.Command(sp.submit, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = sh.Stdin, command.Raw(sh.Stdout), command.Raw(sh.Stderr)
	cmd.Env = env
	tty := openTerminal()
	defer tty.close()
	// The kernel takes the end of the thread that starts the child for its parent's.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setsid: tty == nil}
	if err := cmd.Start(); err != nil {
		return command.Coded(command.ExitNotFound, fmt.Errorf("start %s: %w", sp.submit, err))
	}
	ended := make(chan error, 1)
	go func() {
		if nice > 0 && tty == nil {
			yieldSession(cmd.Process.Pid, nice)
		}
		ended <- cmd.Wait()
	}()
	interrupt, passed, told := ctx.Done(), false, false
	var quiet <-chan time.Time
	for {
		select {
		case sig := <-signals:
			passed = true
			told = told || sig != syscall.SIGUSR1 && sig != syscall.SIGUSR2
			if !tty.sends(sig) {
				pass(cmd, sig)
			}
		case <-interrupt:
			// The context ends with its caller, or with a signal that is about to
			// come out of signals too: then the child gets that one only.
			interrupt, quiet = nil, time.After(100*time.Millisecond)
		case <-quiet:
			if !passed {
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
		case err := <-ended:
			if told && tty == nil {
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
			}
			return childError(err)
		}
	}
}

// childError turns what Wait says into the child's exit code.
func childError(err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &exit):
		return fmt.Errorf("wait for spark-submit: %w", err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return command.Coded(command.ExitSignal+int(status.Signal()), nil)
	}
	return command.Coded(exit.ExitCode(), nil)
}

// clock is the time of a call.
type clock struct {
	// now is the start of the deadline clock.
	now time.Time
	// began is the same moment since the machine's start (sinceBoot).
	began time.Duration
	// started is now with its monotonic reading, which stands still in a suspension.
	started time.Time
}

// suspended is for how long the machine was suspended since the call; less than a second
// is not told apart from the time between two readings.
func (c clock) suspended() units.Seconds {
	if s := units.FromDuration(sinceBoot() - c.began - time.Since(c.started)); s >= 1 {
		return s
	}
	return 0
}

// deadlineClock returns a clock that started when the application was submitted, in
// milliseconds since 1970 as the driver is told: with the call, but where the user says
// otherwise.
// It goes on while the machine is suspended and is not set.
func (c clock) deadlineClock(submitted string) func() units.Seconds {
	var before units.Seconds
	if ms, err := strconv.ParseInt(submitted, 10, 64); err == nil {
		before = max(0, units.FromDuration(c.now.Sub(time.UnixMilli(ms))))
	}
	return func() units.Seconds { return before + units.FromDuration(sinceBoot()-c.began) }
}

// sinceBoot is the time since the machine was started, suspensions included.
func sinceBoot() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) // It fails for no clock that the kernel has.
	return time.Duration(t.Nano())
}

// reportTimeout bounds how long the exit of an application is kept from its user's sight by a planner that does not
// answer any more. reportAgain is how soon one that is just restarted is asked again.
const (
	reportTimeout = 3 * time.Second
	reportAgain   = 200 * time.Millisecond
)

// reportExit tells the planner that spark-submit has ended and returns what is known of
// the application then, nothing where the planner is gone. unknown says that the planner knows none.
func reportExit(cfg config.Client, r api.ControlRequest) (end api.ControlReply, unknown bool) {
	ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
	defer cancel()
	cfg.Timeout = min(cfg.Timeout, reportTimeout)
	for {
		end, err := reportOnce(ctx, cfg, r)
		switch kind := api.KindOf(err); {
		case err == nil, kind == api.KindInvalid:
			return end, false
		case kind == api.KindNotFound:
			return end, true
		}
		select {
		case <-ctx.Done():
			return end, false
		case <-time.After(reportAgain):
		}
	}
}

func reportOnce(ctx context.Context, cfg config.Client, r api.ControlRequest) (api.ControlReply, error) {
	conn, done, err := dialPlanner(ctx, cfg)
	if err != nil {
		return api.ControlReply{}, err
	}
	defer done()
	return conn.Control(ctx, api.VerbExit, r)
}
