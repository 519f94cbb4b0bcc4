package cgroup

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// shortage is what the kernel tells of the memory of a container in v1. An engine removes the
// container's group at its end, and the kernel's count goes with it.
type shortage struct {
	mu  sync.Mutex
	dir string // The container's group, "" where nothing is watched.
	fd  int    // An eventfd.
	n   uint64 // The count that was read from it.
}

// watch has kills know of the container in dir, also when its group is gone. Where it cannot, the
// engine's word alone counts.
func (s *shortage) watch(dir string) {
	control, err := os.Open(filepath.Join(dir, "memory.oom_control"))
	if err != nil {
		return
	}
	defer func() { _ = control.Close() }()
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return
	}
	line := fmt.Appendf(nil, "%d %d", fd, control.Fd())
	if os.WriteFile(filepath.Join(dir, "cgroup.event_control"), line, 0) != nil || s.close() != nil {
		_ = unix.Close(fd)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir, s.fd, s.n = dir, fd, 0
}

// kills is how often the kernel has found the container short of memory. The kernel tells of the
// end of the group as well, a moment after that.
func (s *shortage) kills() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		return 0
	}
	var count [8]byte
	if n, err := unix.Read(s.fd, count[:]); err == nil && n == len(count) {
		s.n += binary.NativeEndian.Uint64(count[:])
	}
	if _, err := os.Stat(s.dir); err != nil {
		return max(0, int64(s.n)-1)
	}
	return int64(s.n)
}

func (s *shortage) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		return nil
	}
	s.dir = ""
	return unix.Close(s.fd)
}
