package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrGone says that the group was removed under its user's hands.
var ErrGone = errors.New("cgroup: the group is gone")

// file is a control file that stays open: a read or a write is one system call
// and allocates nothing.
type file struct {
	f *os.File
	// fake files are ordinary ones, which keep a longer old content's tail.
	fake bool
}

// openFile opens a control file, to write too when write is set. In a tree of
// ordinary files it makes the file, empty, as the kernel would with defaults.
func openFile(kernel bool, dir, name string, write bool) (*file, error) {
	flags := os.O_RDONLY
	if write {
		flags = os.O_RDWR
	}
	if !kernel {
		flags = os.O_RDWR | os.O_CREATE
	}
	f, err := os.OpenFile(filepath.Join(dir, name), flags, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	return &file{f: f, fake: !kernel}, nil
}

// read fills buf from the start of the file and returns what was read.
func (f *file) read(buf []byte) ([]byte, error) {
	n, err := f.f.ReadAt(buf, 0)
	if n == 0 && err != nil && !isEOF(err) {
		return nil, f.wrap("read", err)
	}
	return buf[:n], nil
}

func (f *file) write(value []byte) error {
	if _, err := f.f.WriteAt(value, 0); err != nil {
		return f.wrap("write "+string(value)+" to", err)
	}
	if f.fake {
		return f.f.Truncate(int64(len(value)))
	}
	return nil
}

func (f *file) wrap(operation string, err error) error {
	if isGone(err) || errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("%s %s: %w", operation, f.f.Name(), ErrGone)
	}
	return fmt.Errorf("cgroup: %s %s: %w", operation, f.f.Name(), err)
}

// isGone reports whether the kernel says that a file's group was removed.
func isGone(err error) bool { return errors.Is(err, unix.ENODEV) }

// close closes the file; closing one that is closed or was never opened is
// harmless.
func (f *file) close() error {
	if f == nil {
		return nil
	}
	if err := f.f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return f.wrap("close", err)
	}
	return nil
}
