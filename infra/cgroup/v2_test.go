package cgroup_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

// What only the kernel's v2 has; test/e2e/vm runs these where the machine has v1.

func onV2(t *testing.T) *cgroup.Hierarchy {
	t.Helper()
	h := cgrouptest.Real(t)
	if h.Version() != cgroup.V2 {
		t.Skip("needs cgroup v2: see e2e/vm")
	}
	return h
}

func TestRealV2FilesHoldWhatWasSet(t *testing.T) {
	h := onV2(t)
	t.Cleanup(func() { cgrouptest.Clear(t, h) })
	g := group(t, h, "app-1-1")
	dir := filepath.Dir(g.JoinFiles()[0])
	for quota, want := range map[units.Cores]string{0.5: "50000 100000", 3: "300000 100000", 0.001: "1000 100000", units.Unlimited: "max 100000"} {
		set(t, g, quota)
		if got := content(t, filepath.Join(dir, "cpu.max")); got != want {
			t.Errorf("quota %v is %q, want %q", quota, got, want)
		}
	}
	for weight, want := range map[cgroup.Weight]string{0.1: "10", cgroup.WeightDefault: "100", 1e9: "10000", 1e-9: "1"} {
		if err := g.SetWeight(weight); err != nil {
			t.Fatal(err)
		}
		if got := content(t, filepath.Join(dir, "cpu.weight")); got != want {
			t.Errorf("weight %v is %q, want %q", weight, got, want)
		}
	}
	if err := h.SetWeight(3); err != nil {
		t.Fatal(err)
	}
	top := filepath.Dir(filepath.Dir(dir))
	if got := content(t, filepath.Join(top, "cpu.weight")); got != strconv.Itoa(300*runtime.NumCPU()) {
		t.Errorf("the parent's weight is %q", got)
	}
	for _, passes := range []string{cgroup.DefaultRoot, top, filepath.Dir(dir)} {
		if got := content(t, filepath.Join(passes, "cgroup.subtree_control")); !strings.Contains(got, "cpu") {
			t.Errorf("%s passes down %q", passes, got)
		}
	}
	if got := content(t, filepath.Join(dir, "cgroup.subtree_control")); got != "" {
		t.Errorf("the group passes down %q: it could have no members", got)
	}
}

// Processes that fork and end may be gone whenever they are looked at one by one.
func TestRealV2RemoveGetsAtProcessesThatForkOn(t *testing.T) {
	h := onV2(t)
	g := group(t, h, "app-1-1")
	cmd := shellIn(t, g, "flee() { flee & }; flee; flee; exec sleep 600")
	if err := g.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the leader ended with %v", err)
	}
}

// below makes a group of a test's own below the root, for a root that is given.
func below(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	})
	return path
}

// A service's or a container's own group may be the root, as soon as the cpu
// controller is passed down to it and it has no processes beside groups.
func TestRealV2RootOfAnothers(t *testing.T) {
	onV2(t)
	slice := below(t, cgroup.DefaultRoot, fmt.Sprintf("pacer-test-%d.service", os.Getpid()))
	root := below(t, slice, "inner")
	_, err := cgroup.Open(root, "pacer/n1")
	if !errors.Is(err, cgroup.ErrUnavailable) || !strings.Contains(err.Error(), "parent's cgroup.subtree_control") || !strings.Contains(err.Error(), root) {
		t.Errorf("without the controller: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "pacer")); !os.IsNotExist(err) {
		t.Errorf("it has left a group: %v", err)
	}
	passDown(t, slice)
	controller := below(t, root, "controller")
	cmd := shell(t, fmt.Sprintf("echo $$ > %s/cgroup.procs; echo there; exec sleep 600", root))
	if _, err = cgroup.Open(root, "pacer/n1"); err == nil || !strings.Contains(err.Error(), root+" has processes of its own") {
		t.Errorf("with processes of its own: %v", err)
	}
	if got := content(t, filepath.Join(root, "cgroup.subtree_control")); got != "" {
		t.Errorf("it was made to pass down %q", got)
	}
	if err := os.WriteFile(filepath.Join(controller, "cgroup.procs"), fmt.Append(nil, cmd.Process.Pid), 0); err != nil {
		t.Fatal(err)
	}
	h, err := cgroup.Open(root, "pacer/n1")
	if err != nil {
		t.Fatal(err)
	}
	g := group(t, h, "app-1-1")
	if want := strings.TrimPrefix(root, cgroup.DefaultRoot) + "/pacer/n1/app-1-1"; g.Path() != want {
		t.Errorf("an engine is told %s, want %s", g.Path(), want)
	}
	set(t, g, 0.5)
	member := shellIn(t, g, "exec sleep 600")
	if err := g.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if err := member.Wait(); err == nil {
		t.Error("its member was not killed")
	}
	if err := h.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
