package attached

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/progress"
)

// ErrPage says that a progress page is not the executor's own, or not what one is.
var ErrPage = errors.New("attached: the page is refused")

// PageName is an executor's progress page in its working directory.
func PageName(id api.ExecutorID) string { return "pacer-progress-" + string(id) + ".page" }

// openPage opens the progress page of the executor id that p is. os.ErrNotExist says that there is
// none yet.
func (p *process) openPage(id api.ExecutorID) (*progress.Reader, error) {
	cwd, err := p.open("cwd", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(cwd)
	name := PageName(id)
	fd, err := unix.Openat(cwd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, fmt.Errorf("%w: it is a link", ErrPage)
	case err != nil:
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if err := p.ownsPage(f); err != nil {
		return nil, err
	}
	return progress.OpenFile(f)
}

// ownsPage checks that f is a page of p's.
func (p *process) ownsPage(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	status, err := p.read("status")
	if err != nil {
		return err
	}
	uid, _, err := parseStatus(status)
	if err != nil {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return fmt.Errorf("%w: it is no file", ErrPage)
	case st.Size != progress.PageSize:
		return fmt.Errorf("%w: it has %d bytes, a page has %d", ErrPage, st.Size, progress.PageSize)
	case st.Uid != uid:
		return fmt.Errorf("%w: it belongs to user %d, the process to %d", ErrPage, st.Uid, uid)
	}
	maps, err := p.read("maps")
	if err != nil {
		return err
	}
	if !p.maps(maps, f.Name(), &st) {
		return fmt.Errorf("%w: process %d has not mapped it", ErrPage, p.pid)
	}
	return nil
}

// maps reports whether a /proc/PID/maps has the file st. On stacked file systems, such as those of
// containers, it may tell of a file below: of one by that name the kernel is asked which it is.
func (p *process) maps(text []byte, name string, st *unix.Stat_t) bool {
	for line := range bytes.Lines(text) {
		m, is := parseMapping(line)
		if !is {
			continue
		}
		if m.major == unix.Major(st.Dev) && m.minor == unix.Minor(st.Dev) && m.inode == st.Ino {
			return true
		}
		if filepath.Base(m.path) != name {
			continue
		}
		var of unix.Stat_t
		fd, err := p.open(filepath.Join("map_files", m.at), unix.O_PATH)
		if err != nil {
			continue // It is not mapped any more, or who asks has not the right to know.
		}
		err = errors.Join(unix.Fstat(fd, &of), unix.Close(fd))
		if err == nil && of.Dev == st.Dev && of.Ino == st.Ino {
			return true
		}
	}
	return false
}

// mapping is a file that a process has mapped.
type mapping struct {
	at           string // Its addresses, as in /proc/PID/map_files.
	major, minor uint32
	inode        uint64
	path         string
}

// parseMapping reads a line of /proc/PID/maps; false for memory that is no file's.
func parseMapping(line []byte) (m mapping, is bool) {
	fields := strings.SplitN(strings.TrimSuffix(string(line), "\n"), " ", 6)
	if len(fields) < 6 {
		return m, false
	}
	major, minor, _ := strings.Cut(fields[3], ":")
	a, err := strconv.ParseUint(major, 16, 32)
	b, minorErr := strconv.ParseUint(minor, 16, 32)
	inode, inodeErr := strconv.ParseUint(fields[4], 10, 64)
	if errors.Join(err, minorErr, inodeErr) != nil || inode == 0 {
		return m, false
	}
	at, _, _ := strings.Cut(fields[0], "/")
	return mapping{at: at, major: uint32(a), minor: uint32(b), inode: inode, path: strings.TrimLeft(fields[5], " ")}, true
}
