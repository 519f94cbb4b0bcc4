package executor

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/units"
)

// Trees below a work directory are an executor's: it may make paths longer than the kernel takes
// (PATH_MAX), close directories to their owner, and put links where directories were. So they are
// walked by descriptors, of which a walk holds a bounded number.
const (
	// deepest is how many levels of directories are counted: each holds a descriptor.
	deepest = 256
	// someNames is how many names of a directory are read at once.
	someNames = 512
)

// Why files of an application are not counted.
var (
	errDeep   = errors.New("a directory of it lies more than " + strconv.Itoa(deepest) + " levels deep")
	errClosed = errors.New("a directory of it is closed to the node controller")
)

// count adds up what path and all below it have on the disk, links not followed. It leaves out
// what goes meanwhile. It leaves out directories that cannot be counted, too: uncounted is errDeep, errClosed or nil,
// and err is what is not the fault of who made the tree.
func count(path string) (bytes units.Bytes, files int64, uncounted, err error) {
	c := counter{}
	c.count(unix.AT_FDCWD, path, 0)
	return c.bytes, c.files, c.uncounted, c.err
}

type counter struct {
	bytes          units.Bytes
	files          int64
	uncounted, err error
}

// fail notes the first fault of each kind, and nothing for what has gone.
func (c *counter) fail(err error) {
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP):
	case errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM):
		c.uncounted = errClosed
	case c.err == nil:
		c.err = err
	}
}

func (c *counter) count(dir int, name string, level int) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT); err != nil {
		c.fail(err)
		return
	}
	c.bytes, c.files = c.bytes+units.Bytes(st.Blocks)*512, c.files+1
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return
	}
	if level == deepest {
		c.uncounted = errDeep
		return
	}
	f, err := openDir(dir, name)
	if err != nil {
		c.fail(err)
		return
	}
	defer f.Close()
	if err := each(f, func(name string) { c.count(int(f.Fd()), name, level+1) }); err != nil {
		c.fail(err)
	}
}

// openDir opens a directory to read it; a link is none.
func openDir(dir int, name string) (*os.File, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// removeTree removes path and all below it, links not followed; what is not there is no error. A
// directory that is closed to its owner it opens. It holds three descriptors however deep the tree
// is: directories are moved up to the top one before they are emptied.
func removeTree(path string) error {
	isDir, err := unlink(unix.AT_FDCWD, path)
	if isDir {
		var top *os.File
		if top, err = reopen(unix.AT_FDCWD, path); err == nil {
			err = errors.Join(empty(top), top.Close())
		}
		if err == nil {
			err = unix.Rmdir(path)
		}
	}
	if err != nil {
		return &os.PathError{Op: "remove", Path: path, Err: err}
	}
	return nil
}

// unlink removes what is no directory, and reports whether it is one.
func unlink(dir int, name string) (isDir bool, err error) {
	switch err := unix.Unlinkat(dir, name, 0); {
	case errors.Is(err, unix.EISDIR):
		return true, nil
	case errors.Is(err, unix.ENOENT):
		return false, nil
	default:
		return false, err
	}
}

// empty goes through a directory until there is nothing more that it can remove.
func empty(top *os.File) error {
	for lifted := 0; ; {
		if _, err := top.Seek(0, io.SeekStart); err != nil {
			return err
		}
		var fault error
		removed := false
		err := each(top, func(name string) {
			gone, err := clearOne(top, name, &lifted)
			removed = removed || gone
			if fault == nil {
				fault = err
			}
		})
		if err != nil || !removed {
			return errors.Join(fault, err)
		}
	}
}

// clearOne removes an entry of the top directory, of a directory all but those below it: these it
// lifts to the top, where they get a number for a name. It reports whether it has removed anything.
func clearOne(top *os.File, name string, lifted *int) (removed bool, err error) {
	isDir, err := unlink(int(top.Fd()), name)
	if !isDir {
		return err == nil, err
	}
	dir, err := reopen(int(top.Fd()), name)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	var fault error
	readErr := each(dir, func(below string) {
		isDir, err := unlink(int(dir.Fd()), below)
		if isDir {
			err = lift(dir, below, top, lifted)
		}
		removed = removed || err == nil
		if fault == nil {
			fault = err
		}
	})
	if err := errors.Join(fault, readErr); err != nil {
		return removed, err
	}
	err = unix.Unlinkat(int(top.Fd()), name, unix.AT_REMOVEDIR)
	if removed && errors.Is(err, unix.ENOTEMPTY) {
		return true, nil // The next time: some file systems leave out names when others go.
	}
	return removed || err == nil, err
}

// lift moves a directory to the top one. To be moved it must be open to its owner.
func lift(from *os.File, name string, top *os.File, lifted *int) error {
	dir, err := reopen(int(from.Fd()), name)
	if err != nil {
		return err
	}
	if err := dir.Close(); err != nil {
		return err
	}
	for {
		free := strconv.Itoa(*lifted)
		err := unix.Renameat(int(from.Fd()), name, int(top.Fd()), free)
		switch {
		case errors.Is(err, unix.ENOTDIR): // A file of this name, which goes too.
			if err := unix.Unlinkat(int(top.Fd()), free, 0); err != nil {
				return err
			}
			continue
		case errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOTEMPTY):
			*lifted++
			continue
		}
		*lifted++
		return err
	}
}

// reopen opens a directory to read and to change it, and gives its owner back the rights to do so.
func reopen(dir int, name string) (*os.File, error) {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	held := filepath.Join("/proc/self/fd", strconv.Itoa(fd))
	if st.Mode&unix.S_IRWXU != unix.S_IRWXU {
		_ = unix.Chmod(held, st.Mode&0o7777|unix.S_IRWXU) // If it is somebody else's, to open it says so.
	}
	opened, err := unix.Open(held, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(opened), name), nil
}

// each calls do with the names in a directory, some at a time.
func each(dir *os.File, do func(name string)) error {
	for {
		names, err := dir.Readdirnames(someNames)
		for _, name := range names {
			do(name)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
