package cgroup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

// container makes a group inside g as an engine does and has g look at it.
func container(t *testing.T, g *cgroup.Group) (dir string) {
	t.Helper()
	parent := filepath.Dir(g.JoinFiles()[0])
	dir = filepath.Join(parent, "c0ffee")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	passDown(t, parent)
	if err := g.LookInside(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func wantInForce(t *testing.T, what string, g *cgroup.Group, want units.Cores) {
	t.Helper()
	quota, err := g.Quota()
	last, known := g.Last()
	if err != nil || quota != want || (known && last != want) {
		t.Errorf("%s: quota %v, %v, last known %v, want %v", what, quota, err, last, want)
	}
}

func set(t *testing.T, g *cgroup.Group, quota units.Cores) {
	t.Helper()
	if err := g.SetQuota(quota); err != nil {
		t.Fatal(err)
	}
}

func TestTheLowerOfTwoQuotasIsInForce(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		g := group(t, h, "app-1-1")
		set(t, g, 0.5)
		container(t, g)
		inner := "pacer/node1/app-1-1/c0ffee"
		wantInForce(t, "a new container", g, 0.5)
		tree.SetQuota(t, inner, 30000, 100000)
		wantInForce(t, "a lower one inside", g, 0.3)
		set(t, g, 0.5)
		wantInForce(t, "ours again", g, 0.5)

		// A higher one is left alone until it is found to be in force.
		tree.SetQuota(t, inner, 80000, 100000)
		wantInForce(t, "a higher one inside", g, 0.5)
		set(t, g, 1)
		wantInForce(t, "ours is raised above it", g, 0.8)
		set(t, g, 1)
		wantInForce(t, "ours once more", g, 1)

		tree.SetQuota(t, inner, 30000, 100000)
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		wantInForce(t, "found by the next node controller", group(t, h, "app-1-1"), 0.3)
	})
}

func TestAWatchNamesWhoWritesAQuotaInside(t *testing.T) {
	for _, first := range []bool{true, false} {
		for _, layout := range cgrouptest.Layouts() {
			tree := cgrouptest.New(t, layout)
			h := open(t, tree.Root, "pacer/n1")
			g := group(t, h, "app-1-1")
			if first {
				watched(t, h)
			}
			dir := container(t, g)
			if !first {
				watched(t, h)
			}
			text := "30000 > " + filepath.Join(dir, "cpu.cfs_quota_us")
			if layout == cgrouptest.V2 {
				text = "30000 100000 > " + filepath.Join(dir, "cpu.max")
			}
			pid := shout(t, "echo "+text)
			cgrouptest.AwaitForeignWrite(t, g)
			if want := fmt.Sprintf("sh (process %d)", pid); g.Writer() != want || !g.Watched() {
				t.Errorf("%s: written by %q, want %q", layout, g.Writer(), want)
			}
			wantInForce(t, string(layout), g, 0.3)
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// As docker update --cpus on the kernel's own files. The kernel of v1 refuses a
// quota of ours below one inside.
func TestRealQuotaInside(t *testing.T) {
	h := cgrouptest.Real(t)
	t.Cleanup(func() { cgrouptest.Clear(t, h) })
	g := group(t, h, "app-1-1")
	dir := container(t, g)
	update := func() {
		t.Helper()
		name, text := "cpu.cfs_quota_us", "25000"
		if h.Version() == cgroup.V2 {
			name, text = "cpu.max", "25000 100000"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set(t, g, 0.5)
	update()
	wantInForce(t, "read", g, 0.25)
	set(t, g, 0.1)
	wantInForce(t, "below theirs", g, 0.1)
	set(t, g, 0.5)
	update()
	set(t, g, 0.1)
	wantInForce(t, "below one that was not read", g, 0.1)
	set(t, g, units.Unlimited)
	if h.Version() == cgroup.V2 { // Its kernel took ours below theirs, which was left alone.
		wantInForce(t, "theirs comes into force", g, 0.25)
		set(t, g, units.Unlimited)
	}
	wantInForce(t, "lifted", g, units.Unlimited)
	if text, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_quota_us")); h.Version() == cgroup.V1 && (err != nil || strings.TrimSpace(string(text)) != "-1") {
		t.Errorf("inside: %s, %v", text, err)
	}
	update()
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	wantInForce(t, "the container is gone", g, units.Unlimited)
}
