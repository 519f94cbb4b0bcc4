package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/units"
)

// TrimLogs gives back what the logs of all executors have on the disk beyond most bytes each, and
// returns how many were trimmed. It keeps the newest half of most at least. The beginning of a file becomes a hole,
// which reads as zeros. No byte is copied, no line is lost that is written meanwhile, no writer waits, and an offset in
// the file stays what it is. Where the file system knows no holes the file begins anew. Logs are open to be appended to
// (Paths.openLogs), so the writer goes on at the end either way.
func (l Layout) TrimLogs(most units.Bytes) (trimmed int, err error) {
	if most <= 0 {
		return 0, nil
	}
	apps, err := l.apps()
	if err != nil {
		return 0, fmt.Errorf("executor: logs: %w", err)
	}
	var errs []error
	for _, app := range apps {
		executors, err := l.executors(app)
		if err != nil {
			errs = append(errs, fmt.Errorf("executor: logs of %s: %w", app, err))
		}
		for _, id := range executors {
			for _, stream := range streams {
				path := filepath.Join(l.appDir(app), id, stream)
				done, err := trimLog(path, most)
				if done {
					trimmed++
				}
				if err != nil && !errors.Is(err, os.ErrNotExist) {
					errs = append(errs, fmt.Errorf("executor: log %s: %w", path, err))
				}
			}
		}
	}
	return trimmed, errors.Join(errs...)
}

// trimLog trims one log that has more than most bytes on the disk.
func trimLog(path string, most units.Bytes) (bool, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return false, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || units.Bytes(st.Blocks)*512 <= most {
		return false, nil
	}
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	from := max(0, st.Size-int64(most)/2)
	from -= from % max(1, int64(st.Blksize)) //nolint:unconvert // Only whole blocks are given back; an int32 on arm64.
	err = unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, max(1, from))
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		err = unix.Ftruncate(fd, 0)
	}
	return err == nil, err
}

// skipHole returns where f goes on with what was not trimmed, from offset on.
func skipHole(f *os.File, offset int64) int64 {
	at, err := unix.Seek(int(f.Fd()), offset, unix.SEEK_DATA)
	if err != nil {
		return offset // At the end, or a file system that knows no holes.
	}
	return max(at, offset)
}
