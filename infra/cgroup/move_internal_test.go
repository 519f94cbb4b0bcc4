package cgroup

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// table is a machine's processes: who has an id, in which group each is, and in which its parent is.
type table struct {
	holder      map[int]string // By id.
	group, home map[string]string
	fds         map[int]string
	// before is called with an id that is about to be moved.
	before func(pid int)
}

func newTable() *table {
	return &table{holder: map[int]string{}, group: map[string]string{}, home: map[string]string{}, fds: map[int]string{}, before: func(int) {}}
}

func (w *table) run(pid int, who, group string) {
	w.holder[pid], w.group[who], w.home[who] = who, group, group
}

// give has the process of an id end and another one get it.
func (w *table) give(pid int, who, group string) {
	delete(w.group, w.holder[pid])
	w.run(pid, who, group)
}

func (w *table) in(group string) (pids []int) {
	for _, pid := range slices.Sorted(maps.Keys(w.holder)) {
		if w.group[w.holder[pid]] == group {
			pids = append(pids, pid)
		}
	}
	return pids
}

// mover moves on w, in a tree of files that shows who is where.
func (w *table) mover(tree string) mover {
	show := func() {
		for _, g := range []string{"/own", "/from", "/theirs"} {
			text := ""
			for _, pid := range w.in(g) {
				text += fmt.Sprintln(pid)
			}
			if err := errors.Join(os.MkdirAll(filepath.Join(tree, g), 0o755), os.WriteFile(filepath.Join(tree, g, procsFile), []byte(text), 0o644)); err != nil {
				panic(err)
			}
		}
	}
	show()
	return mover{tree: tree,
		open: func(pid int) (int, error) {
			who, is := w.holder[pid]
			if !is {
				return -1, unix.ESRCH
			}
			w.fds[len(w.fds)+1] = who
			return len(w.fds), nil
		},
		alive: func(fd int) bool { _, is := w.group[w.fds[fd]]; return is },
		close: func(int) {},
		write: func(dir string, pid int) error {
			w.before(pid)
			if who, is := w.holder[pid]; is {
				w.group[who] = "/" + filepath.Base(dir)
			}
			show()
			return nil
		},
		home: func(pid int) (string, error) { return w.home[w.holder[pid]], nil },
	}
}

// An id that was given away between the list and the move is not moved, whenever that was.
func TestAttackAnIDIsGivenAway(t *testing.T) {
	for name, when := range map[string]string{"before it is held": "listed", "before it is listed again": "held",
		"while it is moved": "moved", "never": ""} {
		t.Run(name, func(t *testing.T) {
			w, tree := newTable(), t.TempDir()
			w.run(7, "executor", "/from")
			m := w.mover(tree)
			pids := w.in("/from")
			if when == "listed" {
				w.give(7, "stranger", "/theirs")
			}
			if when == "moved" {
				w.before = func(pid int) { w.before = func(int) {}; w.give(pid, "stranger", "/theirs") }
			}
			err := m.move(filepath.Join(tree, "own"), pids, func() ([]int, error) {
				if when == "held" {
					w.give(7, "stranger", "/theirs")
				}
				return w.in("/from"), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if when == "" {
				if w.group["executor"] != "/own" {
					t.Errorf("it is in %s", w.group["executor"])
				}
			} else if w.group["stranger"] != "/theirs" {
				t.Errorf("a stranger is in %s", w.group["stranger"])
			}
		})
	}
}

// One that got the id of an executor is not put back to the group where that one was.
func TestAttackAStrangerIsPutBack(t *testing.T) {
	w, tree := newTable(), t.TempDir()
	w.run(7, "executor", "/own")
	w.run(8, "other", "/own")
	m := w.mover(tree)
	w.before = func(pid int) { w.before = func(int) {}; w.give(pid, "stranger", "/theirs") }
	if err := m.move(filepath.Join(tree, "from"), w.in("/own"), func() ([]int, error) { return w.in("/own"), nil }); err != nil {
		t.Fatal(err)
	}
	if w.group["stranger"] != "/theirs" || w.group["other"] != "/from" {
		t.Errorf("the groups are %v", w.group)
	}
}

// Whatever ids go to whom and when, each process is in the group of its own or was listed for the move.
func TestAttackIDsAreGivenAwayAtWill(t *testing.T) {
	tree := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		w, n := newTable(), 0
		listed := map[string]bool{}
		for pid := range rapid.IntRange(1, 6).Draw(rt, "processes") {
			w.run(pid, fmt.Sprintf("executor %d", pid), "/from")
		}
		list := func() ([]int, error) {
			for _, pid := range w.in("/from") {
				listed[w.holder[pid]] = true
			}
			return w.in("/from"), nil
		}
		give := func() {
			if pid := rapid.IntRange(0, 9).Draw(rt, "given away"); pid < 6 && w.holder[pid] != "" {
				n++
				w.give(pid, fmt.Sprintf("stranger %d", n), "/theirs")
			}
		}
		m := w.mover(tree)
		pids, _ := list()
		w.before = func(int) {
			if n < 4 {
				give()
			}
		}
		give()
		if err := m.move(filepath.Join(tree, "own"), pids, func() ([]int, error) { give(); return list() }); err != nil {
			rt.Fatal(err)
		}
		for who, group := range w.group {
			if group == "/own" && !listed[who] {
				rt.Fatalf("%s was moved: %v", who, w.group)
			}
		}
	})
}

// On the kernel's processes: an id that nobody has any more, and one whose parent tells where it began.
func TestProcessesOfTheKernelAreHeld(t *testing.T) {
	h := &Hierarchy{version: V1, kernel: true}
	m := newMover(t.TempDir(), "cpu", h)
	fd, err := m.open(os.Getpid())
	if err != nil {
		t.Skipf("needs descriptors of processes: %v", err)
	}
	defer m.close(fd)
	if !m.alive(fd) {
		t.Error("this process has ended")
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", os.Getppid()))
	if err != nil {
		t.Fatal(err)
	}
	if home, err := m.home(os.Getpid()); err != nil || home != filepath.Clean("/"+h.pathIn(text, "cpu")) {
		t.Errorf("home %q, %v", home, err)
	}
	if _, err := m.open(1 << 30); err == nil {
		t.Error("a process of that id")
	}
}
