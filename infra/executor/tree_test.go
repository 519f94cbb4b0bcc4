package executor_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/units"
)

// dig makes directories in one another from dir on, with a file in the last.
func dig(t *testing.T, dir, name string, levels int) {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	for range levels {
		if err == nil {
			err = unix.Mkdirat(fd, name, 0o755)
		}
		if err == nil {
			above := fd
			fd, err = unix.Openat(above, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
			unix.Close(above)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	file, err := unix.Openat(fd, "file", unix.O_CREAT|unix.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(file), "file")
	if _, err := f.Write(make([]byte, units.MiB)); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func usage(t *testing.T, l executor.Layout) map[api.AppID]executor.AppLogs {
	t.Helper()
	listing, err := l.Usage()
	if err != nil {
		t.Error(err)
	}
	found := map[api.AppID]executor.AppLogs{}
	for _, a := range listing {
		found[a.App] = a
	}
	return found
}

// However deep an application's directories are, it is counted or said to be uncountable, its
// neighbour is counted, and all of it can be removed.
func TestATreeOfAnyDepthIsCountedOrTold(t *testing.T) {
	for name, c := range map[string]struct {
		name      string
		levels    int
		uncounted string
	}{
		"longer than a path may be": {strings.Repeat("d", 200), 30, ""},
		"deeper than is walked":     {"d", 300, "a directory of it lies more than 256 levels deep"},
	} {
		t.Run(name, func(t *testing.T) {
			l := workRoot(t)
			local := filepath.Dir(logFile(t, l, "app-1", "local", "other", nil))
			logFile(t, l, "app-2", "local", "spilled", make([]byte, 2*units.MiB))
			dig(t, local, c.name, c.levels)
			found := usage(t, l)
			if got := found["app-1"]; got.Uncounted != c.uncounted || c.uncounted == "" && got.Bytes < units.MiB {
				t.Errorf("%+v, want %q", got, c.uncounted)
			}
			if got := found["app-2"]; got.Uncounted != "" || got.Bytes < 2*units.MiB {
				t.Errorf("its neighbour: %+v", got)
			}
			defer limitFiles(t, 100)()
			if err := l.RemoveLogs([]api.AppID{"app-1", "app-2"}); err != nil {
				t.Error(err)
			}
			if left, err := l.Logs(); len(left) != 0 || err != nil {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// limitFiles lets this process open most files at a time until what it returns is called.
func limitFiles(t *testing.T, most uint64) func() {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	set := func(r unix.Rlimit) {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
			t.Error(err)
		}
	}
	set(unix.Rlimit{Cur: most, Max: before.Max})
	return func() { set(before) }
}

// A node controller that is not root tells of an application that has closed a directory to it, and
// counts its neighbour; it can remove both.
func TestAClosedDirectoryIsToldAndRemoved(t *testing.T) {
	l := workRoot(t)
	if err := errors.Join(os.Mkdir(l.Root, 0o755), os.Chown(l.Root, 4242, 4242)); err != nil {
		t.Skip("needs root to become another user")
	}
	user := executor.Credential{Name: "x", UID: 4242, GID: 4242}
	err := user.As(func() error {
		closed := filepath.Dir(logFile(t, l, "app-1", "local/closed/inner", "file", nil))
		logFile(t, l, "app-2", "local", "spilled", make([]byte, units.MiB))
		if err := errors.Join(os.Chmod(closed, 0), os.Chmod(filepath.Dir(closed), 0)); err != nil {
			return err
		}
		found := usage(t, l)
		if got := found["app-1"].Uncounted; got != "a directory of it is closed to the node controller" {
			t.Errorf("uncounted %q", got)
		}
		if got := found["app-2"]; got.Uncounted != "" || got.Bytes < units.MiB {
			t.Errorf("its neighbour: %+v", got)
		}
		return l.RemoveLogs([]api.AppID{"app-1", "app-2"})
	})
	if left, listErr := l.Logs(); len(left) != 0 || listErr != nil || err != nil {
		t.Errorf("left: %v, %v, %v", left, listErr, err)
	}
}

// To remove a tree follows no link out of it, holds no descriptors, and leaves what is beside it.
func TestToRemoveATreeFollowsNoLink(t *testing.T) {
	l, outside := workRoot(t), t.TempDir()
	kept := filepath.Join(outside, "kept")
	logFile(t, l, "app-1", "local/a/b/c", "0", nil)
	beside := logFile(t, l, "app-2", "1", "stdout", nil)
	at := func(name string) string { return filepath.Join(l.Root, "apps/app-1/local", name) }
	err := errors.Join(os.WriteFile(kept, nil, 0o600), os.Symlink(outside, at("link")), os.Symlink(outside, at("a/b/link")),
		os.Mkdir(at("0"), 0o755), os.WriteFile(at("1"), nil, 0o600), os.MkdirAll(at("2/x/2/y"), 0o755))
	if err != nil {
		t.Fatal(err)
	}
	open := func() int {
		runtime.GC()
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(fds)
	}
	before := open()
	if err := l.RemoveLogs([]api.AppID{"app-1"}); err != nil {
		t.Error(err)
	}
	if after := open(); after > before {
		t.Errorf("%d descriptors, before %d", after, before)
	}
	for _, path := range []string{kept, beside} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if left, err := l.Logs(); len(left) != 1 || err != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}
