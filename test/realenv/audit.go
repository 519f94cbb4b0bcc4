package realenv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Audit records, by the kernel's word (fanotify), which files of one mount are
// written, by whomever. It needs root.
type Audit struct {
	t          testing.TB
	fd         int
	stop, done chan struct{}

	// The reader's until done is closed.
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
	a := &Audit{t: t, fd: fd, stop: make(chan struct{}), done: make(chan struct{}), written: map[string]int{}}
	err = unix.FanotifyMark(fd, unix.FAN_MARK_ADD|unix.FAN_MARK_MOUNT, unix.FAN_MODIFY, unix.AT_FDCWD, path)
	if err != nil {
		t.Fatalf("fanotify: watch the mount of %s: %v", path, err)
	}
	go a.read()
	return a
}

// read takes events until it is told to stop and none is left: a write's event is
// there before the write returns.
func (a *Audit) read() {
	defer close(a.done)
	buf := make([]byte, 64<<10)
	for stopping := false; ; {
		select {
		case <-a.stop:
			stopping = true
		default:
		}
		n, err := unix.Read(a.fd, buf)
		switch {
		case err == nil:
			a.events(buf[:n])
		case errors.Is(err, unix.EAGAIN) && stopping:
			return
		case errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EINTR):
			// A group that was removed within the moment: its files cannot be opened
			// any more, so the kernel drops the event. Other tests have such groups.
		case errors.Is(err, unix.EAGAIN):
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(a.fd), Events: unix.POLLIN}}, 50)
		default:
			a.fail(err)
			return
		}
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
		a.written[strings.TrimSuffix(path, " (deleted)")]++
	}
}

func (a *Audit) fail(err error) { a.err = errors.Join(a.err, err) }

// Written ends the audit and returns how often each file below dir was written.
func (a *Audit) Written(dir string) map[string]int {
	a.t.Helper()
	close(a.stop)
	<-a.done
	if err := unix.Close(a.fd); err != nil {
		a.t.Fatal(err)
	}
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
