package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/sparkpacer/pacer/api"
)

// The exit codes of pacer. `pacer submit` returns spark-submit's own code
// unchanged once spark-submit has been started, with the one exception of
// ExitInfeasible. docs/reference/exit-codes.md is made from what is said here.
const (
	// ExitOK is success: of `pacer plan` a deadline that can be kept, of `submit --detach` an application that has
	// registered, or has yet to.
	ExitOK = 0
	// ExitFailure is any failure without a code of its own: an application or profile that is not known, a fault of the
	// planner, a fault that `pacer doctor` has found.
	ExitFailure = 1
	// ExitUsage is a wrong command line: unknown flag, malformed or past deadline, unsupported master, deploy mode or
	// Spark, a file that is none of its kind (EX_USAGE of sysexits.h).
	ExitUsage = 64
	// ExitNoInput is a file that the command line names and that is not there, or cannot be read (EX_NOINPUT).
	ExitNoInput = 66
	// ExitUnavailable is a planner, or a Docker daemon, that does not answer (EX_UNAVAILABLE). Where a NATS server does,
	// `pacer submit` waits 10 s for a planner that takes over. With `--master yarn` or `k8s://...` it runs without Pacer
	// then.
	ExitUnavailable = 69
	// ExitInfeasible is a deadline that cannot be kept: `pacer plan` keeps it on none of the cores asked for, or
	// `pacer submit` was refused by --pacer-require-feasible or planner.late.
	ExitInfeasible = 76
	// ExitDenied is a request that its sender may not make, credentials that are not taken, or what the system denies
	// (EX_NOPERM).
	ExitDenied = 77
	// ExitConfig is a wrong configuration file or environment, a file that it names and that is not there, and a planner
	// whose certificate is not trusted by it (EX_CONFIG).
	ExitConfig = 78
	// ExitNotFound is a spark-submit that cannot be found, as in a shell.
	ExitNotFound = 127
	// ExitSignal plus a signal's number is a child that the signal ended.
	ExitSignal = 128
)

// codedError carries the exit code that belongs to an error.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *codedError) Unwrap() error { return e.err }

// Coded returns err with an exit code. A nil err ends the command with that code and
// without a message.
func Coded(code int, err error) error { return &codedError{code: code, err: err} }

// Usagef returns an error that is the fault of the command line.
func Usagef(format string, args ...any) error {
	return Coded(ExitUsage, fmt.Errorf(format, args...))
}

// unread reports whether a named file is not there or is of another kind than it has to be.
func unread(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR)
}

// Configured gives an error about a file that is not there the code of a wrong configuration, which names the file.
func Configured(err error) error {
	var c *codedError
	if unread(err) && !errors.As(err, &c) {
		return Coded(ExitConfig, err)
	}
	return err
}

// ExitCode returns the code for err: its own, or the one of the kind that came
// over the wire.
func ExitCode(err error) int {
	var c *codedError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &c) && !(c.code == ExitUsage && (unread(err) || errors.Is(err, fs.ErrPermission))):
		return c.code
	case c != nil || unread(err):
		return ExitNoInput
	case errors.Is(err, fs.ErrPermission):
		return ExitDenied
	case errors.Is(err, context.Canceled):
		return ExitSignal + 2 // As a shell reports an interrupt.
	}
	switch api.KindOf(err) {
	case api.KindInvalid:
		return ExitUsage
	case api.KindTransient:
		return ExitUnavailable
	case api.KindInfeasible:
		return ExitInfeasible
	case api.KindDenied:
		return ExitDenied
	default:
		return ExitFailure
	}
}
