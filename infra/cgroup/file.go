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
// and allocates nothing. It is for one goroutine. The bare descriptor has no lock against a Close. With hundreds of
// executors each further structure that is not in the CPU's caches any more costs a tick as much as a tenth of the
// read.
type file struct {
	fd   int // -1 once closed.
	name string
	// fake files are ordinary ones, which keep a longer old content's tail.
	fake bool
}

// openFile opens a control file, to write too when write is set. In a tree of
// ordinary files it makes the file, empty, as the kernel would with defaults.
func openFile(kernel bool, dir, name string, write bool) (*file, error) {
	flags := unix.O_RDONLY
	if write {
		flags = unix.O_RDWR
	}
	if !kernel {
		flags = unix.O_RDWR | unix.O_CREAT
	}
	path := filepath.Join(dir, name)
	for {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o644)
		if err == nil {
			return &file{fd: fd, name: path, fake: !kernel}, nil
		}
		if err != unix.EINTR {
			return nil, fmt.Errorf("cgroup: %w", &os.PathError{Op: "open", Path: path, Err: err})
		}
	}
}

// read fills buf from the start of the file and returns what was read.
func (f *file) read(buf []byte) ([]byte, error) {
	for {
		n, err := unix.Pread(f.fd, buf, 0)
		if err == nil {
			return buf[:n], nil
		}
		if err != unix.EINTR {
			return nil, f.wrap("read", err)
		}
	}
}

func (f *file) write(value []byte) error {
	// The kernel takes the value of a control file whole or not at all.
	_, err := unix.Pwrite(f.fd, value, 0)
	for err == unix.EINTR {
		_, err = unix.Pwrite(f.fd, value, 0)
	}
	if err == nil && f.fake {
		err = unix.Ftruncate(f.fd, int64(len(value)))
	}
	if err != nil {
		return f.wrap("write "+string(value)+" to", err)
	}
	return nil
}

func (f *file) wrap(operation string, err error) error {
	if isGone(err) || f.fd < 0 {
		return fmt.Errorf("%s %s: %w", operation, f.name, ErrGone)
	}
	return fmt.Errorf("cgroup: %s %s: %w", operation, f.name, err)
}

// isGone reports whether the kernel says that a file's group was removed.
func isGone(err error) bool { return errors.Is(err, unix.ENODEV) }

// close closes the file; closing one that is closed or was never opened is
// harmless.
func (f *file) close() error {
	if f == nil || f.fd < 0 {
		return nil
	}
	fd := f.fd
	f.fd = -1
	if err := unix.Close(fd); err != nil {
		return fmt.Errorf("cgroup: close %s: %w", f.name, err)
	}
	return nil
}
