package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	signals "os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
)

// keptExit is how a program has ended whose parent waits for it, as that writes it.
type keptExit struct {
	Code int       `json:"exit_code"`
	At   time.Time `json:"at"`
}

// parent runs a program, waits for it and has how it ended on the disk before it ends the same way: a node controller
// that is started again is not the parent of what runs, and nobody could tell it. It is in the program's group,
// with the program's user and bounds. The program does not outlive it.
func (s shimSpec) parent(exit *os.File) error {
	// A signal to the program's process group reaches this process, too, which waits for what the program makes of
	// it. It is caught and not ignored: the program would ignore it then.
	caught := make(chan os.Signal, 1)
	signals.Notify(caught, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	pid, err := syscall.ForkExec(s.Args[0], s.Args, &syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		return fmt.Errorf("user %s: exec %s: %w", s.User.Name, s.Args[0], err)
	}
	if err := syscall.Close(shimStatus); err != nil { // The node controller hears that it runs.
		return err
	}
	status, err := wait(pid, 0)
	if err != nil {
		status.ExitCode = api.Unknown
	}
	body, err := json.Marshal(keptExit{status.ExitCode, time.Now().UTC()})
	if err == nil {
		_, err = exit.Write(body)
	}
	if err = errors.Join(err, exit.Sync()); err != nil {
		fmt.Fprintf(os.Stderr, "pacer: how the program has ended cannot be kept: %v\n", err)
	}
	os.Exit(status.ExitCode & 0xff)
	return nil
}

// openExit makes the file that says how the program has ended, in a directory that its user cannot write in.
func (s shimSpec) openExit() (*os.File, error) {
	f, err := os.OpenFile(s.Exit, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("exit of the program: %w", err)
	}
	return f, nil
}

// kept is how a program has ended as its parent has kept it; s where it has not.
func (p Paths) kept(s Status) Status {
	body, err := readOwn(p.Exit)
	var e keptExit
	if err != nil || json.Unmarshal(body, &e) != nil || e.Code < 0 {
		return s
	}
	return endedWith(e.Code)
}

// endedWith is the Status of what has ended with a code.
func endedWith(code int) Status {
	if code > api.Signalled {
		return killedBy(code - api.Signalled)
	}
	return Status{State: api.ExecutorExited, Exit: fmt.Sprintf("exit status %d", code), ExitCode: code}
}
