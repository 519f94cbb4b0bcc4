package cgroup_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

func watched(t *testing.T, h *cgroup.Hierarchy) {
	t.Helper()
	err := h.WatchQuotas()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		t.Skipf("needs fanotify: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// shout writes a file from a process that lives until the test ends.
func shout(t *testing.T, script string) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script+" && read forever")
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

func TestAWatchNamesWhoElseWritesAQuota(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		tree := cgrouptest.New(t, layout)
		h, err := cgroup.Open(tree.Root, "pacer/n1")
		if err != nil {
			t.Fatal(err)
		}
		before := group(t, h, "app-1-1")
		watched(t, h)
		after := group(t, h, "app-1-2")
		for _, g := range []*cgroup.Group{before, after} {
			if err := g.SetQuota(0.5); err != nil {
				t.Fatal(err)
			}
			file, text := "cpu.cfs_quota_us", "30000"
			if layout == cgrouptest.V2 {
				file, text = "cpu.max", "30000 100000"
			}
			pid := shout(t, fmt.Sprintf("echo %s > %s", text, tree.Path("pacer/n1/"+g.Name(), file)))
			cgrouptest.AwaitForeignWrite(t, g)
			if want := fmt.Sprintf("sh (process %d)", pid); g.Writer() != want {
				t.Errorf("%s: %s was written by %q, want %q", layout, g.Name(), g.Writer(), want)
			}
			if quota, err := g.Quota(); err != nil || quota != 0.3 {
				t.Errorf("%s: quota %v, %v", layout, quota, err)
			}
			if err := g.SetQuota(0.5); err != nil {
				t.Fatal(err)
			}
			if quota, known := g.Last(); !known || quota != 0.5 {
				t.Errorf("%s: last %v, %v: its own write is somebody else's", layout, quota, known)
			}
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// As `docker update --cpus` does on the kernel's own files: quota and period.
func TestRealForeignPeriodIsSeenAndPutBack(t *testing.T) {
	h := cgrouptest.Real(t)
	g := group(t, h, "app-1-1")
	watched(t, h)
	if err := g.SetQuota(0.5); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(g.JoinFiles()[0])
	if h.Version() == cgroup.V2 {
		shout(t, "echo 50000 200000 > "+dir+"/cpu.max")
	} else {
		shout(t, fmt.Sprintf("echo 200000 > %s/cpu.cfs_period_us", dir))
	}
	cgrouptest.AwaitForeignWrite(t, g)
	if !strings.HasPrefix(g.Writer(), "sh (process ") {
		t.Errorf("writer %q", g.Writer())
	}
	if quota, err := g.Quota(); err != nil || quota != 0.25 {
		t.Errorf("quota %v, %v, want 50 ms in 200 ms", quota, err)
	}
	for _, want := range []units.Cores{0.5, 0.25} {
		if err := g.SetQuota(want); err != nil {
			t.Fatal(err)
		}
		if quota, err := g.Quota(); err != nil || quota != want {
			t.Errorf("quota %v, %v, want %v", quota, err, want)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	if err := g.Remove(t.Context()); err != nil {
		t.Error(err)
	}
}
