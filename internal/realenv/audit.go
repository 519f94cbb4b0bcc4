package realenv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Audit records, by the kernel's word (fanotify), which files of one mount are
// written, by whomever. It needs root.
type Audit struct {
	t    testing.TB
	file *os.File
	done chan struct{}

	mu      sync.Mutex
	written map[string]int
	err     error
}

// StartAudit watches the mount that path is on until Written is called.
func StartAudit(t testing.TB, path string) *Audit {
	t.Helper()
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_CLOEXEC|unix.FAN_NONBLOCK, unix.O_RDONLY|unix.O_CLOEXEC)
	if err != nil {
		t.Fatalf("fanotify: %v", err)
	}
	a := &Audit{t: t, file: os.NewFile(uintptr(fd), "fanotify"), done: make(chan struct{}), written: map[string]int{}}
	if err := unix.FanotifyMark(fd, unix.FAN_MARK_ADD|unix.FAN_MARK_MOUNT, unix.FAN_MODIFY, unix.AT_FDCWD, path); err != nil {
		t.Fatalf("fanotify: watch the mount of %s: %v", path, err)
	}
	go a.read()
	return a
}

func (a *Audit) read() {
	defer close(a.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := a.file.Read(buf)
		if err != nil {
			if !errors.Is(err, os.ErrClosed) {
				a.fail(err)
			}
			return
		}
		a.events(buf[:n])
	}
}

// events takes a batch of struct fanotify_event_metadata.
func (a *Audit) events(batch []byte) {
	for len(batch) > 0 {
		var e unix.FanotifyEventMetadata
		if err := binary.Read(bytes.NewReader(batch), binary.NativeEndian, &e); err != nil || int(e.Event_len) > len(batch) {
			a.fail(fmt.Errorf("a damaged event: %w", err))
			return
		}
		batch = batch[e.Event_len:]
		if e.Mask&unix.FAN_Q_OVERFLOW != 0 {
			a.fail(errors.New("events were lost"))
			continue
		}
		path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", e.Fd))
		if err = errors.Join(err, unix.Close(int(e.Fd))); err != nil {
			a.fail(err)
			continue
		}
		a.mu.Lock()
		a.written[strings.TrimSuffix(path, " (deleted)")]++
		a.mu.Unlock()
	}
}

func (a *Audit) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = errors.Join(a.err, err)
}

// Written ends the audit and returns how often each file below dir was written.
func (a *Audit) Written(dir string) map[string]int {
	a.t.Helper()
	if err := a.file.Close(); err != nil {
		a.t.Fatal(err)
	}
	<-a.done
	if a.err != nil {
		a.t.Fatalf("audit: %v", a.err)
	}
	below := map[string]int{}
	for path, n := range a.written {
		if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
			below[path] = n
		}
	}
	return below
}
