package cgroup

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watch hears of each write to the groups' quota files by way of fanotify, which
// names the writer. It costs nothing while nobody writes.
type watch struct {
	events *os.File
	fd     int // Of events.
	self   int32

	mu     sync.Mutex
	groups map[uint64]watched // By the inodes of their files.
	ended  chan struct{}
}

// watched is who wants to hear of a write to its quota.
type watched interface {
	touch(writer string)
}

// WatchQuotas has the groups learn at once when another process writes their
// quota: Last then knows no quota until Quota has read it, and Writer names the
// process. It needs CAP_SYS_ADMIN; without it, or where the kernel has no
// fanotify, it returns an error and nothing changes. Writers in another cgroup
// namespace are not heard of. Close ends it.
func (h *Hierarchy) WatchQuotas() error {
	w, err := newWatch()
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.groups {
		_ = w.add(g) // See Group.Watched.
	}
	h.watch = w
	return nil
}

// newWatch returns a watch that runs until it is closed.
func newWatch() (*watch, error) {
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_CLOEXEC|unix.FAN_NONBLOCK, unix.O_RDONLY|unix.O_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cgroup: watch the quotas: %w", err)
	}
	w := &watch{events: os.NewFile(uintptr(fd), "fanotify"), fd: fd, self: int32(os.Getpid()),
		groups: map[uint64]watched{}, ended: make(chan struct{})}
	go w.run()
	return w, nil
}

// add marks the group's quota files and those inside. Their marks go with the
// files.
func (w *watch) add(g *Group) error {
	g.mu.Lock()
	files := g.files.quotaFiles()
	for _, c := range g.within.groups {
		files = append(files, c.quotaFiles()...)
	}
	g.watched = false // Until all are marked.
	g.mu.Unlock()
	if err := w.mark(files, g); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watched = true
	return nil
}

// mark has who hear of writes to files.
func (w *watch) mark(files []*file, who watched) error {
	for _, f := range files {
		if err := unix.FanotifyMark(w.fd, unix.FAN_MARK_ADD, unix.FAN_MODIFY, unix.AT_FDCWD, f.name); err != nil {
			return fmt.Errorf("cgroup: watch %s: %w", f.name, err)
		}
		var st unix.Stat_t
		if err := unix.Stat(f.name, &st); err != nil {
			return f.wrap("stat", err)
		}
		w.mu.Lock()
		w.groups[st.Ino] = who
		w.mu.Unlock()
	}
	return nil
}

func (w *watch) forget(g watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for inode, other := range w.groups {
		if other == g {
			delete(w.groups, inode)
		}
	}
}

// run reads events until the watch is closed.
func (w *watch) run() {
	defer close(w.ended)
	const size = int(unsafe.Sizeof(unix.FanotifyEventMetadata{}))
	buf := make([]byte, 64*size)
	for {
		n, err := w.events.Read(buf)
		if err != nil {
			return
		}
		for data := buf[:n]; len(data) >= size; {
			length := int(binary.NativeEndian.Uint32(data))
			mask, fd, pid := binary.NativeEndian.Uint64(data[8:]), int32(binary.NativeEndian.Uint32(data[16:])),
				int32(binary.NativeEndian.Uint32(data[20:]))
			w.take(mask, int(fd), pid)
			if length < size || length > len(data) {
				break
			}
			data = data[length:]
		}
	}
}

// take handles one event. After an overflow anything may have been written.
func (w *watch) take(mask uint64, fd int, pid int32) {
	if mask&unix.FAN_Q_OVERFLOW != 0 {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, g := range w.groups {
			g.touch("")
		}
		return
	}
	defer unix.Close(fd)
	if pid == w.self {
		return
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return
	}
	w.mu.Lock()
	g := w.groups[st.Ino]
	w.mu.Unlock()
	if g != nil {
		g.touch(processName(pid))
	}
}

// processName is "runc (process 7)", less its first word for one that has ended.
func processName(pid int32) string {
	if pid <= 0 {
		return "" // It is in another namespace.
	}
	process := "process " + strconv.Itoa(int(pid))
	name, err := os.ReadFile("/proc/" + strconv.Itoa(int(pid)) + "/comm")
	if err != nil {
		return process
	}
	return strings.TrimSpace(string(name)) + " (" + process + ")"
}

func (w *watch) close() error {
	err := w.events.Close()
	<-w.ended
	return err
}

// touch takes in that somebody else has written the quota.
func (g *Group) touch(writer string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.touched, g.writer = true, writer
}

// Writer names the process that was last seen to write the quota beside this
// Group, "" when none was or it is not known. It is only a number for a process
// that ended before its name was looked up, as a shell's echo may. See WatchQuotas.
func (g *Group) Writer() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.writer
}

// Watched reports whether WatchQuotas is in effect for the group. It is not for
// one that the kernel had no mark left for.
func (g *Group) Watched() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.watched
}
