package cgroup

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// The name spaces of groups of process 1, and of a thread that reads.
const (
	firstSpace  = "/proc/1/ns/cgroup"
	threadSpace = "/proc/thread-self/ns/cgroup"
)

// openFirst opens process 1's name space of groups, nil where this process is in that. In a container on cgroup v2 the
// groups of other containers have names in that space alone.
func openFirst() (*os.File, error) {
	own, err := os.Readlink(threadSpace)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // The kernel has no such name spaces.
	}
	first, err1 := os.Readlink(firstSpace)
	if err = errors.Join(err, err1); err != nil || own == first {
		return nil, err
	}
	f, err := os.Open(firstSpace)
	if err == nil {
		if _, err = inSpace(f, func() ([]byte, error) { return nil, nil }); err == nil {
			return f, nil
		}
		_ = f.Close()
	}
	return nil, err
}

// inSpace reads in a name space of groups, on a thread that is in it meanwhile.
func inSpace(space *os.File, read func() ([]byte, error)) (text []byte, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // A thread that does not come back ends with the goroutine.
		own, openErr := os.Open(threadSpace)
		if err = openErr; err != nil {
			return
		}
		defer own.Close()
		if err = unix.Setns(int(space.Fd()), unix.CLONE_NEWCGROUP); err != nil {
			err = fmt.Errorf("enter %s: %w", firstSpace, err)
			runtime.UnlockOSThread()
			return
		}
		text, err = read()
		if unix.Setns(int(own.Fd()), unix.CLONE_NEWCGROUP) == nil {
			runtime.UnlockOSThread()
		}
	}()
	<-done
	return text, err
}

// Read has read tell the groups of a process, a /proc/PID/cgroup, with the names that they have for process 1. Where
// that cannot be it has those of this process.
func (o *Others) Read(read func() ([]byte, error)) ([]byte, error) {
	if o.first == nil {
		return read()
	}
	return inSpace(o.first, read)
}

// Blind is why groups of containers have no names here, and what gives them some; nil where they have.
func (o *Others) Blind() error {
	if o.blind == nil {
		return nil
	}
	return fmt.Errorf("%w (%w): add SYS_ADMIN and SYS_PTRACE to the capabilities of the node controller's container",
		ErrOutside, o.blind)
}
