package executor_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
)

// trainer makes m's Java a script that counts its runs and then does what body
// says, with $archive for the file to write.
func trainer(t *testing.T, m machine, body string) (runs func() int) {
	t.Helper()
	count := filepath.Join(t.TempDir(), "runs")
	script := "#!/bin/sh\necho run >>" + count + "\nfor a in \"$@\"; do case $a in -XX:ArchiveClassesAtExit=*) archive=${a#*=};; esac; done\n" + body + "\n"
	if err := os.WriteFile(filepath.Join(m.launch.JavaHome, "bin", "java"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return func() int {
		said, _ := os.ReadFile(count)
		return strings.Count(string(said), "run")
	}
}

func (m machine) trainingRun(t *testing.T) executor.TrainingRun {
	t.Helper()
	h := processHarness(t, fakeGroups(t, cgrouptest.V2), currentUser(t))
	return executor.TrainingRun{Archive: m.archive(t), Node: m.settings, Keep: 2,
		Runtime: h.New(), Groups: h.Groups, Layout: h.Layout, Users: &executor.Users{All: &h.User, Layout: h.Layout}}
}

// left are the names in the directory of archives but the lock.
func left(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != "lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

// An archive is made once, behind everything else, and is used from then on.
func TestArchiveIsMadeOnce(t *testing.T) {
	m := newMachine(t).withJVM(t).own()
	priority := filepath.Join(t.TempDir(), "nice")
	runs := trainer(t, m, "umask 022; nice >"+priority+"; echo classes >$archive")
	r := m.trainingRun(t)
	for range 2 {
		if err := r.Make(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if runs() != 1 {
		t.Errorf("%d training runs", runs())
	}
	if nice, err := os.ReadFile(priority); err != nil || strings.TrimSpace(string(nice)) != "19" {
		t.Errorf("nice %s, %v", nice, err)
	}
	if names := left(t, r.Node.Archives); len(names) != 1 || names[0] != r.Archive.Key+".jsa" {
		t.Errorf("in the directory: %v", names)
	}
	if archiveOption(m.must(t).Args) == "" {
		t.Error("executors do not use it")
	}
}

// A training run that fails says why and leaves nothing.
func TestFailedArchiveLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"exit":    {"echo half >$archive; echo first; echo no such class; exit 3", "exit status 3: no such class"},
		"nothing": {"echo it is over", "left no archive: it is over"},
		"silence": {"exit 1", "it said nothing"},
		"link":    {"ln -s /etc/passwd $archive", "left no archive"},
	} {
		m := newMachine(t).withJVM(t).own()
		trainer(t, m, c.body)
		r := m.trainingRun(t)
		if err := r.Make(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if names := left(t, r.Node.Archives); len(names) != 0 {
			t.Errorf("%s left %v", name, names)
		}
	}
}

// The end of the context ends the training run with all its processes.
func TestArchiveMakingIsInterrupted(t *testing.T) {
	m := newMachine(t).withJVM(t).own()
	fifo := filepath.Join(t.TempDir(), "pid")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	trainer(t, m, "sleep 600 & echo $! >"+fifo+"; wait")
	r := m.trainingRun(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("somebody has come")
	ended := make(chan error, 1)
	go func() { ended <- r.Make(ctx) }()
	said, err := os.ReadFile(fifo)
	if err != nil {
		t.Fatal(err)
	}
	cancel(why)
	if err := <-ended; !errors.Is(err, why) {
		t.Errorf("error %v, want the cause", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(said)))
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil { // The orphan may still be ending.
		defer unix.Close(fd)
		if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 5000); n != 1 {
			t.Errorf("its child %d runs on: %v", pid, err)
		}
	}
	if names := left(t, r.Node.Archives); len(names) != 0 {
		t.Errorf("left %v", names)
	}
}

// Two that share a directory do not make an archive twice, and the one that
// comes after a crash clears up.
func TestArchiveDirectoryIsShared(t *testing.T) {
	m := newMachine(t).withJVM(t).own()
	runs := trainer(t, m, "umask 022; echo classes >$archive")
	r := m.trainingRun(t)
	touch(t, filepath.Join(r.Node.Archives, ".making-crashed", "half.jsa"), 0o644)
	other, err := os.OpenFile(filepath.Join(r.Node.Archives, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(other.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := r.Make(t.Context()); !errors.Is(err, executor.ErrArchiveBusy) || runs() != 0 {
		t.Errorf("beside another: %v, %d runs", err, runs())
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	old, older := touch(t, filepath.Join(r.Node.Archives, "old.jsa"), 0o444), touch(t, filepath.Join(r.Node.Archives, "older.jsa"), 0o444)
	for file, age := range map[string]time.Duration{old: time.Hour, older: 2 * time.Hour} {
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	names := left(t, r.Node.Archives)
	if len(names) != 2 || !strings.Contains(strings.Join(names, " "), "old.jsa") || !strings.Contains(strings.Join(names, " "), r.Archive.Key) {
		t.Errorf("in the directory: %v, want the new one and the newer of the old ones", names)
	}
}
