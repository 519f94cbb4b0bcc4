package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mover moves processes into groups of one tree. A process is listed and moved by its id, which may go to another one
// meanwhile: each is held by a descriptor, so that its id is known to have been its own.
type mover struct {
	tree string
	// open holds a process, alive reports whether it has its id still, close lets it go.
	open  func(pid int) (fd int, err error)
	alive func(fd int) bool
	close func(fd int)
	// write moves whoever has the id; home is the group of whoever's parent, where it has begun.
	write func(dir string, pid int) error
	home  func(pid int) (string, error)
}

// newMover moves processes in a tree of h's, where controller is.
func newMover(tree, controller string, h *Hierarchy) mover {
	if !h.kernel { // The ids in a tree of ordinary files are nobody's.
		return mover{tree: tree, open: func(int) (int, error) { return -1, nil }, alive: func(int) bool { return true },
			close: func(int) {}, write: joinGroup}
	}
	return mover{
		tree:  tree,
		open:  func(pid int) (int, error) { return unix.PidfdOpen(pid, 0) },
		alive: func(fd int) bool { return !errors.Is(unix.PidfdSendSignal(fd, 0, nil, 0), unix.ESRCH) },
		close: func(fd int) { _ = unix.Close(fd) },
		write: joinGroup,
		home:  func(pid int) (string, error) { return homeOf(pid, controller, h) },
	}
}

// homeOf is the group of the parent of a process, in the tree of a controller.
func homeOf(pid int, controller string, h *Hierarchy) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return "", fmt.Errorf("cgroup: process %d has no parent", pid)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%s/cgroup", fields[1]))
	if err != nil {
		return "", err
	}
	return filepath.Clean("/" + h.pathIn(text, controller)), nil
}

// move moves to dir those of pids that list still has when they are held, and none that has got an id of theirs since.
func (m mover) move(dir string, pids []int, list func() ([]int, error)) error {
	held := make(map[int]int, len(pids))
	defer func() {
		for _, fd := range held {
			m.close(fd)
		}
	}()
	for _, pid := range pids {
		fd, err := m.open(pid)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cgroup: open process %d: %w", pid, err)
		}
		held[pid] = fd
	}
	again, err := list()
	if err != nil {
		return err
	}
	for _, pid := range again {
		if fd, is := held[pid]; is && m.alive(fd) {
			if err := m.one(dir, pid, fd); err != nil {
				return err
			}
		}
	}
	return nil
}

// one moves the process that fd holds. A process that had its id by then goes where it has come from.
func (m mover) one(dir string, pid, fd int) error {
	if err := m.write(dir, pid); err != nil || m.alive(fd) {
		return err
	}
	stranger, err := m.open(pid)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cgroup: open process %d: %w", pid, err)
	}
	defer m.close(stranger)
	home, err := m.home(pid)
	there, listErr := procsIn(dir)
	if err = errors.Join(err, listErr); err != nil && m.alive(stranger) {
		return fmt.Errorf("cgroup: process %d, which got its id meanwhile: %w", pid, err)
	}
	if !m.alive(stranger) || !slices.Contains(there, pid) {
		return nil
	}
	return m.write(filepath.Join(m.tree, home), pid)
}

// joinGroup moves whoever has an id into a group's directory; one that has ended is no error.
func joinGroup(dir string, pid int) error {
	f, err := os.OpenFile(filepath.Join(dir, procsFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	_, err = f.WriteString(strconv.Itoa(pid) + "\n")
	if err = errors.Join(err, f.Close()); errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cgroup: move process %d to %s: %w", pid, dir, err)
	}
	return nil
}
