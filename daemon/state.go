package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/store"
)

// state is a daemon's directory with its lock and its store.
type state struct {
	lock *os.File
	db   *store.File
}

// stateReserve is the room that a store holds for when the disk is full.
const stateReserve = 16 << 20

// without says what becomes of what runs when a daemon starts without its state.
var without = map[string]string{
	"planner": "then executors run on, their applications are taken over unpaced, and profiles and history are lost",
	"node":    "then executors run on, without quotas until the planner answers",
}

// openState makes the directory, takes the daemon's lock in it and opens its
// store: dir/NAME.lock and dir/NAME.db. The kernel frees the lock when the
// process ends, however it does.
func openState(dir, name string, sync store.SyncPolicy, log *slog.Logger) (*state, error) {
	lock, err := makeState(dir, name)
	if err != nil {
		return nil, err
	}
	db, err := openStore(dir, name, sync, log)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &state{lock: lock, db: db}, nil
}

// makeState makes the directory and takes the daemon's lock in it.
func makeState(dir, name string) (*os.File, error) {
	// Executors' users have to pass through it; what is secret in it is private.
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	if name == "node" {
		if err := executor.OpenToPass(dir); err != nil {
			return nil, fmt.Errorf("state directory: %w", err)
		}
	}
	return awaitLock(filepath.Join(dir, name+".lock"))
}

// storePath is where a daemon has its store.
func storePath(dir, name string) string { return filepath.Join(dir, name+".db") }

// openStore opens the store of a directory whose lock is held.
func openStore(dir, name string, sync store.SyncPolicy, log *slog.Logger) (*store.File, error) {
	options := store.Options{Sync: sync, Tell: func(line string) { log.Warn("store: " + line) }}
	if sync == store.SyncAlways {
		options.Reserve = stateReserve
	}
	db, err := store.Open(storePath(dir, name), options)
	if errors.Is(err, store.ErrCorrupt) && without[name] != "" {
		err = fmt.Errorf("%w: %s", err, without[name])
	}
	return db, err
}

// awaitLock locks a daemon's file. A file that is locked is tried again for a moment. A guard holds a node's while it
// lifts quotas, and a process that was forked holds all of its parent's until it executes its program.
func awaitLock(path string) (*os.File, error) {
	for deadline := time.Now().Add(500 * time.Millisecond); ; time.Sleep(20 * time.Millisecond) {
		lock, err := lockFile(path)
		if err == nil || api.KindOf(err) != api.KindConflict || time.Now().After(deadline) {
			return lock, err
		}
	}
}

// Running reports whether a daemon, "planner" or "node", has its state in dir.
func Running(dir, name string) (bool, error) {
	f, err := os.Open(filepath.Join(dir, name+".lock"))
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // A daemon that starts meanwhile tries again for a moment.
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK), nil
}

// Holder is the process id of the daemon, "planner" or "node", that has its state in dir; 0 without one.
func Holder(dir, name string) (int, error) {
	runs, err := Running(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil || !runs {
		return 0, err
	}
	text, err := os.ReadFile(filepath.Join(dir, name+".lock"))
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("state directory %s: a %s has just begun or ended: try again", dir, name)
	}
	return pid, nil
}

// lockFile locks a file that names its holder; the file stays.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(path)
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil,
				api.Errorf(api.KindConflict,
					"state directory %s is in use by another Pacer daemon (pid %s): stop it or use another directory",
					filepath.Dir(path), strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f, nil
}

// Settle gives what root has made in a state directory to the owner of the directory: a daemon of another user
// reads and writes it. A file that has a second name stays as it is, for that may be anywhere.
func Settle(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	var owner *syscall.Stat_t // Of the directory, which comes first.
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = e.Info()
		}
		if errors.Is(err, fs.ErrNotExist) { // A daemon that runs has removed it.
			return nil
		} else if err != nil {
			return err
		}
		is := info.Sys().(*syscall.Stat_t)
		owner = cmp.Or(owner, is)
		if is.Uid == 0 && (e.IsDir() || is.Nlink == 1) {
			return os.Lchown(path, int(owner.Uid), int(owner.Gid))
		}
		return nil
	})
}

func (s *state) close() error { return errors.Join(s.db.Close(), s.lock.Close()) }
