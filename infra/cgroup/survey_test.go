package cgroup_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/cgroup"
)

// A survey tells the version and the controllers, and makes nothing.
func TestASurveyMakesNothing(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := cgroup.Look(root, "pacer/n1"); !errors.Is(err, cgroup.ErrUnavailable) {
		t.Errorf("nothing mounted: %v", err)
	}
	write("cpu/cpu.shares", "1024")
	write("cpu/cpuacct.usage", "0")
	if s, err := cgroup.Look(root, "pacer/n1"); err != nil || s != (cgroup.Survey{Version: cgroup.V1}) {
		t.Errorf("v1 without memory: %+v, %v", s, err)
	}
	write("memory/memory.limit_in_bytes", "0")
	if s, err := cgroup.Look(root, "pacer/n1"); err != nil || !s.Memory {
		t.Errorf("v1 with memory: %+v, %v", s, err)
	}
	write("cgroup.controllers", "cpuset memory pids")
	if _, err := cgroup.Look(root, "pacer/n1"); !errors.Is(err, cgroup.ErrUnavailable) {
		t.Errorf("v2 without cpu: %v", err)
	}
	write("cgroup.controllers", "cpuset cpu pids")
	if s, err := cgroup.Look(root, "pacer/n1"); err != nil || s != (cgroup.Survey{Version: cgroup.V2}) {
		t.Errorf("v2 without memory: %+v, %v", s, err)
	}
	if _, err := os.Stat(filepath.Join(root, "pacer")); !os.IsNotExist(err) {
		t.Errorf("the survey has made a group: %v", err)
	}
	if os.Geteuid() == 0 {
		return // Root may write everywhere.
	}
	if err := os.Chmod(root, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(root, 0o755) })
	if s, err := cgroup.Look(root, "pacer/n1"); err != nil || s.Denied == nil || !strings.Contains(s.Denied.Error(), "let root grant it once") {
		t.Errorf("without rights: %+v, %v", s, err)
	}
}
