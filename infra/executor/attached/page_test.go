package attached_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor/attached"
	"github.com/sparkpacer/pacer/infra/progress"
)

// candidate runs a process with the command line of executor 1 that has no page yet, and a clock that the runtime goes by.
func candidate(t *testing.T) (m *machine, cwd string, r *attached.Runtime, now *time.Time) {
	t.Helper()
	m = newMachine(t, cgrouptest.V1Separate)
	m.tree.SetQuota(t, yarnGroup, 150000, 100000)
	m.tree.Use(t, yarnGroup, 0, 0)
	cwd = m.run(t, process{pid: 4242, parent: 1, session: 4242, args: command(yarnClass, "1"), groups: m.in(yarnGroup, true), unproven: true})
	at := time.Unix(1, 0)
	m.clock = func() time.Time { return at }
	return m, cwd, m.runtime(t), &at
}

// Whatever is put in the place of the page, its process is held only where it is the process's own and shows the secret.
func TestAttackAPageThatIsNotItsOwn(t *testing.T) {
	path := func(dir string) string { return filepath.Join(dir, attached.PageName("1")) }
	proof := attach.Proof("1", 4242, started(4242))
	show := func(t *testing.T, path string, p [progress.ProofBytes]byte) string {
		t.Helper()
		if err := showPage(path, p); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		make func(t *testing.T, m *machine, dir string)
		want string // "" is a page that is taken.
		kind api.Kind
	}{
		"its own": {make: func(t *testing.T, m *machine, dir string) { m.proves(t, 4242, dir, attach, "1") }},
		"none":    {make: func(*testing.T, *machine, string) {}, want: "no progress page", kind: api.KindNotFound},
		"one that is not open": {make: func(t *testing.T, m *machine, dir string) { show(t, path(dir), proof) },
			want: "no progress page", kind: api.KindNotFound},
		"a pipe": {make: func(t *testing.T, m *machine, dir string) {
			if err := unix.Mkfifo(path(dir), 0o600); err != nil {
				t.Fatal(err)
			}
			m.opens(t, 4242, path(dir))
		}, want: "no file"},
		"a directory": {make: func(t *testing.T, m *machine, dir string) {
			if err := os.Mkdir(path(dir), 0o700); err != nil {
				t.Fatal(err)
			}
			m.opens(t, 4242, path(dir))
		}, want: "no file"},
		"too short": {make: func(t *testing.T, m *machine, dir string) { write(t, path(dir), "x"); m.opens(t, 4242, path(dir)) }, want: "has 1 bytes"},
		"too long": {make: func(t *testing.T, m *machine, dir string) {
			write(t, path(dir), strings.Repeat("x", progress.PageSize+1))
			m.opens(t, 4242, path(dir))
		}, want: "bytes"},
		"of another user": {make: func(t *testing.T, m *machine, dir string) {
			if os.Getuid() != 0 {
				t.Skip("only root gives files away")
			}
			m.proves(t, 4242, dir, attach, "1")
			if err := os.Chown(path(dir), 12345, 12345); err != nil {
				t.Fatal(err)
			}
		}, want: "belongs to user 12345"},
		"on another kind of file system": {make: func(t *testing.T, m *machine, dir string) {
			m.proves(t, 4242, dir, attach, "1")
			file := filepath.Join(m.proc, "4242", "mountinfo")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []string{"ext4", "overlay", "tmpfs", "xfs", "btrfs"} {
				text = []byte(strings.ReplaceAll(string(text), " - "+kind+" ", " - fuse.slow "))
			}
			write(t, file, string(text))
		}, want: `of the kind "fuse.slow"`},
		"on a mount that it does not see": {make: func(t *testing.T, m *machine, dir string) {
			m.proves(t, 4242, dir, attach, "1")
			write(t, filepath.Join(m.proc, "4242", "mountinfo"), "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n")
		}, want: `of the kind ""`},
		"of no secret": {make: func(t *testing.T, m *machine, dir string) {
			m.opens(t, 4242, show(t, path(dir), [progress.ProofBytes]byte{}))
		},
			want: "does not show", kind: api.KindConflict},
		"of another application": {make: func(t *testing.T, m *machine, dir string) {
			other := *attach
			other.App = "application_1_0009"
			m.proves(t, 4242, dir, &other, "1")
		}, want: "does not show", kind: api.KindConflict},
		"of another secret": {make: func(t *testing.T, m *machine, dir string) {
			other := *attach
			other.Secret = strings.Repeat("0", api.LeastSecret)
			m.proves(t, 4242, dir, &other, "1")
		}, want: "does not show", kind: api.KindConflict},
		"of another machine": {make: func(t *testing.T, m *machine, dir string) { m.proves(t, 4242, dir, attach.On("b2"), "1") },
			want: "does not show", kind: api.KindConflict},
		"of another executor": {make: func(t *testing.T, m *machine, dir string) {
			m.opens(t, 4242, show(t, path(dir), attach.Proof("2", 4242, started(4242))))
		}, want: "does not show", kind: api.KindConflict},
		"a copy of another process's": {make: func(t *testing.T, m *machine, dir string) {
			m.opens(t, 4242, show(t, path(dir), attach.Proof("1", 4300, started(4300))))
		}, want: "does not show", kind: api.KindConflict},
		"a copy of one that had its id": {make: func(t *testing.T, m *machine, dir string) {
			m.opens(t, 4242, show(t, path(dir), attach.Proof("1", 4242, started(4242)-1)))
		}, want: "does not show", kind: api.KindConflict},
	} {
		t.Run(name, func(t *testing.T) {
			m, cwd, r, _ := candidate(t)
			c.make(t, m, cwd)
			h, err := r.Start(t.Context(), spec("1"))
			if c.want == "" {
				if err != nil || r.Of(h).Page == nil {
					t.Fatalf("%+v, %v", r.Of(h), err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || c.kind != 0 && api.KindOf(err) != c.kind {
				t.Errorf("error %v, want %q of kind %v", err, c.want, c.kind)
			}
			if c.kind == 0 && !errors.Is(err, attached.ErrPage) {
				t.Errorf("error %v", err)
			}
			if us := m.tree.Read(t, yarnGroup, "cpu.cfs_quota_us"); us != "150000" {
				t.Errorf("quota %s", us)
			}
		})
	}
}

// An application whose driver has told no secret has nobody, and one that has a secret is not kept out by another one.
func TestAttackWhoNamesAnApplicationWithoutItsSecret(t *testing.T) {
	m, cwd, r, _ := candidate(t)
	m.proves(t, 4242, cwd, attach, "1")
	none, other := spec("1"), spec("1")
	none.App, none.Attach = "app-of-nobody", &api.Attach{Manager: api.ManagerYARN, App: sparkApp}
	if _, err := r.Start(t.Context(), none); api.KindOf(err) != api.KindInvalid {
		t.Errorf("without a secret: %v", err)
	}
	mallory := *attach
	mallory.Secret = strings.Repeat("ab", api.LeastSecret)
	other.App, other.Attach = "app-of-mallory", &mallory
	for range 3 {
		if _, err := r.Start(t.Context(), other); api.KindOf(err) != api.KindConflict {
			t.Errorf("with another secret: %v", err)
		}
	}
	if h, err := r.Start(t.Context(), spec("1")); err != nil || h.PID != 4242 {
		t.Errorf("its own user: %+v, %v", h, err)
	}
}

// A process that shows the command line of an executor before that comes keeps nobody from it.
func TestAttackAnOlderProcessWithItsCommandLine(t *testing.T) {
	m, _, r, _ := candidate(t)
	m.run(t, process{pid: 4300, parent: 1, session: 4300, args: command(yarnClass, "1"), groups: m.in(yarnGroup, true)})
	if h, err := r.Start(t.Context(), spec("1")); err != nil || h.PID != 4300 {
		t.Errorf("found %+v, %v", h, err)
	}
}

// One that may yet show what it is is waited for, whatever others with its command line show.
func TestAttackAWrongPageBesideNone(t *testing.T) {
	m, cwd, r, _ := candidate(t)
	other := *attach
	other.App = "application_1_0009"
	m.proves(t, 4242, cwd, &other, "1")
	m.run(t, process{pid: 4300, parent: 1, session: 4300, args: command(yarnClass, "1"), groups: m.in(yarnGroup, true), unproven: true})
	if _, err := r.Start(t.Context(), spec("1")); api.KindOf(err) != api.KindNotFound {
		t.Errorf("error %v", err)
	}
}

// However often a process is sought, its page is looked for once a second at first, and less and less often.
func TestAttackAPageIsLookedForTooOften(t *testing.T) {
	m, cwd, r, now := candidate(t)
	file := filepath.Join(cwd, attached.PageName("1"))
	write(t, file, "x")
	m.opens(t, 4242, file)
	fds := filepath.Join(m.proc, "4242", "fd")
	looks := func(seconds int) (n int) {
		t.Helper()
		for range 4 * seconds {
			// What was looked at is gone: an answer that names it is one from before.
			if err := os.Rename(fds, fds+"-"); err != nil {
				t.Fatal(err)
			}
			_, err := r.Start(t.Context(), spec("1"))
			if !strings.Contains(err.Error(), "has 1 bytes") {
				n++
			}
			if err := os.Rename(fds+"-", fds); err != nil {
				t.Fatal(err)
			}
			*now = now.Add(250 * time.Millisecond)
		}
		return n
	}
	if _, err := r.Start(t.Context(), spec("1")); !errors.Is(err, attached.ErrPage) {
		t.Fatal(err)
	}
	if n := looks(1); n != 0 {
		t.Errorf("%d looks in the first second", n)
	}
	*now = now.Add(time.Minute)
	if _, err := r.Start(t.Context(), spec("1")); !errors.Is(err, attached.ErrPage) {
		t.Fatal(err)
	}
	for range 5 {
		*now = now.Add(time.Minute)
		_, _ = r.Start(t.Context(), spec("1"))
	}
	if n := looks(15); n != 0 {
		t.Errorf("%d looks in 15 s", n)
	}
	// When it shows what it has to, that is seen in the end.
	if err := os.RemoveAll(fds); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(fds, 0o755); err != nil {
		t.Fatal(err)
	}
	m.proves(t, 4242, cwd, attach, "1")
	*now = now.Add(time.Minute)
	if _, err := r.Start(t.Context(), spec("1")); err != nil {
		t.Error(err)
	}
}

// A directory that a process chose is not looked into: its page is what it has open, wherever that is.
func TestAttackAWorkingDirectoryThatHangs(t *testing.T) {
	m, cwd, r, _ := candidate(t)
	m.proves(t, 4242, t.TempDir(), attach, "1")
	if err := unix.Mkfifo(filepath.Join(cwd, attached.PageName("1")), 0o600); err != nil { // To open it would wait.
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(m.proc, "4242", "cwd")); err != nil {
		t.Fatal(err)
	}
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

// A process that got the id of an executor which has ended is not it: nothing of its is opened.
func TestAttackASwappedProcess(t *testing.T) {
	m, cwd, r, _ := candidate(t)
	m.proves(t, 4242, cwd, attach, "1")
	h, err := r.Start(t.Context(), spec("1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(m.proc, "4242")); err != nil {
		t.Fatal(err)
	}
	m.run(t, process{pid: 4242, parent: 1, session: 4242, args: command(yarnClass, "1"), groups: m.in(yarnGroup, true)})
	if page, err := r.Of(h).OpenPage(); err == nil {
		t.Errorf("a page was opened: %v", page.Close())
	}
}

// A page that is replaced by another one's is not opened again.
func TestAttackAPageThatIsReplaced(t *testing.T) {
	m, cwd, r, _ := candidate(t)
	m.proves(t, 4242, cwd, attach, "1")
	h, err := r.Start(t.Context(), spec("1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := showPage(filepath.Join(cwd, attached.PageName("1")), attach.Proof("2", 4300, 1)); err != nil {
		t.Fatal(err)
	}
	if page, err := r.Of(h).OpenPage(); err == nil {
		t.Errorf("a page was opened: %v", page.Close())
	}
}

// A page of a real process is found by what it has open, and proves the process.
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
