package cgroup_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
)

// Where engines put containers, with their own driver and with systemd's.
func TestContainerPath(t *testing.T) {
	for parent, want := range map[string]string{
		"/pacer/node-n1/app-1-1":        "/pacer/node-n1/app-1-1/c0ffee",
		"pacer.slice":                   "/pacer.slice/docker-c0ffee.scope",
		"pacer-n1.slice":                "/pacer.slice/pacer-n1.slice/docker-c0ffee.scope",
		`pacer-n1-app\x2d1\x2d1.slice`:  `/pacer.slice/pacer-n1.slice/pacer-n1-app\x2d1\x2d1.slice/docker-c0ffee.scope`,
		`pacer-a\x2db-app\x2d1.slice`:   `/pacer.slice/pacer-a\x2db.slice/pacer-a\x2db-app\x2d1.slice/docker-c0ffee.scope`,
		"/user.slice/pacer/node-n1/a-1": "/user.slice/pacer/node-n1/a-1/c0ffee",
	} {
		if got := cgroup.ContainerPath(parent, "c0ffee"); got != want {
			t.Errorf("%s: %s, want %s", parent, got, want)
		}
	}
}

// Groups below a slice are slices, in the place that systemd reads from their
// names, and are found again under their own names.
func TestGroupsBelowASlice(t *testing.T) {
	tree := cgrouptest.New(t, cgrouptest.V2)
	parent := cgroup.SliceParent("n-1")
	if want := `pacer.slice/pacer-n\x2d1.slice`; parent != want {
		t.Fatalf("parent %s, want %s", parent, want)
	}
	h, err := cgroup.Open(tree.Root, parent)
	if err != nil {
		t.Fatal(err)
	}
	g, err := h.Group("app-2026-0001-12")
	if err != nil {
		t.Fatal(err)
	}
	slice, ok := g.Slice()
	if want := `pacer-n\x2d1-app\x2d2026\x2d0001\x2d12.slice`; !ok || slice != want {
		t.Errorf("slice %s, %v", slice, ok)
	}
	scope := cgroup.ContainerPath(slice, "c0ffee")
	if got := filepath.Dir(scope); got != g.Path() {
		t.Errorf("its containers are in %s, the group is %s", got, g.Path())
	}
	if err := g.SetQuota(0.5); err != nil {
		t.Fatal(err)
	}
	if body, err := os.ReadFile(filepath.Join(tree.Root, g.Path(), "cpu.max")); err != nil || string(body) != "50000 100000" {
		t.Errorf("quota %q, %v", body, err)
	}
	if names, err := h.Names(); err != nil || !slices.Equal(names, []string{"app-2026-0001-12"}) {
		t.Errorf("names %v, %v", names, err)
	}
	for _, bad := range []string{"pacer.slice/other-n1.slice", "pacer.slice/n1.slice", "a/pacer.slice", "../x.slice", "pacer/pacer-n1.slice"} {
		if _, err := cgroup.Open(tree.Root, bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("parent %s: %v", bad, err)
		}
	}
}

func TestPathOfAGroup(t *testing.T) {
	h, err := cgroup.Open(cgrouptest.New(t, cgrouptest.V1Separate).Root, "pacer/node-n1")
	if err != nil {
		t.Fatal(err)
	}
	g, err := h.Group("app-1-1")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := g.Slice(); ok || g.Path() != "/pacer/node-n1/app-1-1" {
		t.Errorf("path %s, a slice: %v", g.Path(), ok)
	}
}

// What a container engine makes inside a group belongs to it: members count, are
// killed, and their groups go with it.
func TestRealGroupInside(t *testing.T) {
	g := realGroup(t)
	var join []string
	for _, file := range g.JoinFiles() {
		inner := filepath.Join(filepath.Dir(file), "c0ffee")
		if err := os.Mkdir(inner, 0o755); err != nil {
			t.Fatal(err)
		}
		join = append(join, filepath.Join(inner, "cgroup.procs"))
	}
	script := ""
	for _, file := range join {
		script += "echo $$ > " + file + "; "
	}
	cmd := shellIn(t, g, script+"while :; do sleep 1; done")
	pids, err := g.Procs()
	if err != nil || !slices.Contains(pids, cmd.Process.Pid) {
		t.Fatalf("members %v, %v, want %d among them", pids, err, cmd.Process.Pid)
	}
	reap := make(chan error, 1)
	go func() { reap <- cmd.Wait() }()
	if err := g.Remove(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := <-reap; err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the member inside ended with %v", err)
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(join[0]))); !os.IsNotExist(err) {
		t.Errorf("the group is still there: %v", err)
	}
}
