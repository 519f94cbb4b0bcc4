package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	cgroups "github.com/containerd/cgroups/v3"
	"golang.org/x/sys/unix"
)

// rounds bounds how often Kill and Remove try again: a process may fork between
// being listed and being killed, and the kernel unlinks a dead one a moment
// after it says that it is dead.
const rounds = 20

// Kill sends SIGKILL to every process of the group and waits until all are dead,
// new ones that they fork meanwhile included. It gives up with an error when ctx
// ends or after a bounded number of rounds. A group that is gone has nobody to
// kill.
func (g *Group) Kill(ctx context.Context) error {
	if !g.h.kernel {
		return makeProcs(g.JoinFiles())
	}
	wait := time.NewTimer(0)
	defer wait.Stop()
	for round := range rounds {
		<-wait.C
		pids, err := g.Procs()
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			return nil
		}
		if err := g.killAll(ctx, pids); err != nil {
			return err
		}
		// Somebody else may have to reap the dead before they leave the list.
		wait.Reset(time.Millisecond << min(round, 6))
	}
	return fmt.Errorf("cgroup: %s still has processes after %d rounds of SIGKILL", g.name, rounds)
}

// makeProcs makes the member lists of a tree of ordinary files, empty: nobody
// takes the dead out of them, and nobody in them is Pacer's to kill.
func makeProcs(files []string) error {
	for _, path := range files {
		if err := os.WriteFile(path, nil, 0o644); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("cgroup: %w", err)
		}
	}
	return nil
}

// killAll kills those of pids that still are members and waits for their end. A
// kernel that ends a group by itself also gets at what they fork meanwhile.
func (g *Group) killAll(ctx context.Context, pids []int) error {
	var fds []unix.PollFd
	defer func() {
		for _, fd := range fds {
			unix.Close(int(fd.Fd))
		}
	}()
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cgroup: open process %d: %w", pid, err)
		}
		fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		// The descriptor pins the process, so what is checked here is what is
		// killed even if the id was given to another one since it was listed.
		if !g.has(pid) {
			fds = fds[:len(fds)-1]
			unix.Close(fd)
			continue
		}
	}
	if !g.killWhole() {
		for _, fd := range fds {
			if err := unix.PidfdSendSignal(int(fd.Fd), unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("cgroup: kill a process of %s: %w", g.name, err)
			}
		}
	}
	return awaitEnd(ctx, fds)
}

// killWhole has the kernel kill all that is in the group and inside it, at once
// (v2 since Linux 5.14); false where it cannot.
func (g *Group) killWhole() bool {
	return g.h.version == V2 && os.WriteFile(filepath.Join(g.cpu, "cgroup.kill"), []byte("1"), 0) == nil
}

// awaitEnd returns when the processes behind all the descriptors have ended.
func awaitEnd(ctx context.Context, fds []unix.PollFd) error {
	for waiting := fds; len(waiting) > 0; {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("cgroup: waiting for %d killed processes: %w", len(waiting), err)
		}
		if _, err := unix.Poll(waiting, 20); err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("cgroup: poll: %w", err)
		}
		var left []unix.PollFd
		for _, fd := range waiting {
			if fd.Revents == 0 {
				left = append(left, fd)
			}
		}
		waiting = left
	}
	return nil
}

// has reports whether process pid is in the group, by what the kernel says of
// the process.
func (g *Group) has(pid int) bool {
	v1, unified, err := cgroups.ParseCgroupFileUnified(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return false
	}
	path := v1["cpu"]
	if g.h.version == V2 {
		path = unified
	}
	own := "/" + filepath.Join(g.h.parent, g.dir)
	return strings.HasSuffix(path, own) || strings.Contains(path, own+"/")
}

// removeDir removes a group's directory. A group whose last process has just
// died may be busy for a moment more.
func removeDir(ctx context.Context, dir string, kernel bool) error {
	if !kernel {
		return removeFake(dir)
	}
	wait := time.NewTimer(0)
	defer wait.Stop()
	var err error
	for round := range rounds {
		select {
		case <-ctx.Done():
			return fmt.Errorf("cgroup: remove %s: %w", dir, errors.Join(ctx.Err(), err))
		case <-wait.C:
		}
		if err = unix.Rmdir(dir); err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) {
			break
		}
		wait.Reset(time.Millisecond << min(round, 6))
	}
	return fmt.Errorf("cgroup: remove %s: %w", dir, err)
}

// removeFake removes a directory of ordinary files unless it has directories in
// it, which is what the kernel does with a group.
func removeFake(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			return fmt.Errorf("cgroup: remove %s: %w", dir, unix.EBUSY)
		}
	}
	return os.RemoveAll(dir)
}
