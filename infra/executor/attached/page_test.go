package attached_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor/attached"
	"github.com/sparkpacer/pacer/infra/progress"
)

// Whatever a container's user puts in the place of the page, it is refused unless it is the process's own.
func TestPagesThatAreNotTheExecutorsOwn(t *testing.T) {
	page := func(t *testing.T, path string) string {
		t.Helper()
		if err := progress.Create(path, -1, -1); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		make func(t *testing.T, m *machine, path string)
		want string // "" is a page that is taken.
	}{
		"its own": {func(t *testing.T, m *machine, path string) { m.mapPage(t, 4242, page(t, path)) }, ""},
		"a link to its own": {func(t *testing.T, m *machine, path string) {
			m.mapPage(t, 4242, page(t, path+".there"))
			if err := os.Symlink(path+".there", path); err != nil {
				t.Fatal(err)
			}
		}, "a link"},
		"a pipe": {func(t *testing.T, m *machine, path string) {
			if err := unix.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "no file"},
		"a directory": {func(t *testing.T, m *machine, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "no file"},
		"too short": {func(t *testing.T, m *machine, path string) { write(t, path, "x"); m.mapPage(t, 4242, path) }, "has 1 bytes"},
		"too long": {func(t *testing.T, m *machine, path string) {
			write(t, path, strings.Repeat("x", progress.PageSize+1))
			m.mapPage(t, 4242, path)
		}, "bytes"},
		"not mapped": {func(t *testing.T, m *machine, path string) { page(t, path) }, "has not mapped it"},
		"another's, mapped by that one": {func(t *testing.T, m *machine, path string) {
			m.run(t, process{pid: 4300, parent: 1, session: 4300, args: command(yarnClass, "2"), groups: m.in("/", true)})
			m.mapPage(t, 4300, page(t, path+".another"))
			if err := os.Link(path+".another", path); err != nil {
				t.Fatal(err)
			}
		}, "has not mapped it"},
		"another file is mapped by that name": {func(t *testing.T, m *machine, path string) {
			page(t, path)
			there := filepath.Join(t.TempDir(), filepath.Base(path))
			m.mapPage(t, 4242, page(t, there))
		}, "has not mapped it"},
		"of another user": {func(t *testing.T, m *machine, path string) {
			if os.Getuid() != 0 {
				t.Skip("only root gives files away")
			}
			m.mapPage(t, 4242, page(t, path))
			if err := os.Chown(path, 12345, 12345); err != nil {
				t.Fatal(err)
			}
		}, "belongs to user 12345"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, cgrouptest.V1Separate)
			cwd := m.run(t, process{pid: 4242, parent: 1, session: 4242, args: command(yarnClass, "1"), groups: m.in("/", true)})
			r := m.runtime(t)
			h, err := r.Start(t.Context(), spec("1"))
			if err != nil {
				t.Fatal(err)
			}
			x := r.Of(h)
			if _, err := x.OpenPage(); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("before there is one: %v", err)
			}
			c.make(t, m, filepath.Join(cwd, attached.PageName("1")))
			got, err := x.OpenPage()
			if err == nil {
				err = got.Close()
			}
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, attached.ErrPage) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// A process that got the id of an executor which has ended is not it: nothing of its is opened.
func TestASwappedProcess(t *testing.T) {
	m := newMachine(t, cgrouptest.V1Separate)
	cwd := m.run(t, process{pid: 4242, parent: 1, session: 4242, args: command(yarnClass, "1"), groups: m.in("/", true)})
	r := m.runtime(t)
	h, err := r.Start(t.Context(), spec("1"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cwd, attached.PageName("1"))
	if err := progress.Create(path, -1, -1); err != nil {
		t.Fatal(err)
	}
	m.mapPage(t, 4242, path)
	if err := os.RemoveAll(filepath.Join(m.proc, "4242")); err != nil {
		t.Fatal(err)
	}
	other := m.run(t, process{pid: 4242, parent: 1, session: 4242, args: command(yarnClass, "1"), groups: m.in("/", true)})
	if err := progress.Create(filepath.Join(other, attached.PageName("1")), -1, -1); err != nil {
		t.Fatal(err)
	}
	m.mapPage(t, 4242, filepath.Join(other, attached.PageName("1")))
	if page, err := r.Of(h).OpenPage(); err == nil {
		t.Errorf("a page was opened: %v", page.Close())
	}
}

// A page of a real process is found below its working directory, wherever that is mapped.
func TestRealPage(t *testing.T) {
	m := newMachine(t, cgrouptest.V1Separate)
	m.proc = "/proc"
	spawn(t, "1")
	r := m.runtime(t)
	h, err := r.Start(t.Context(), spec("1"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := r.Of(h).OpenPage()
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Close(); err != nil {
		t.Error(err)
	}
}
