package cgroup_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

const node = "pacer/node1"

// eachLayout runs a test on a tree of every layout.
func eachLayout(t *testing.T, test func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy)) {
	for _, layout := range cgrouptest.Layouts() {
		t.Run(string(layout), func(t *testing.T) {
			tree := cgrouptest.New(t, layout)
			test(t, tree, open(t, tree.Root, node))
		})
	}
}

func open(t testing.TB, root, parent string) *cgroup.Hierarchy {
	t.Helper()
	h, err := cgroup.Open(root, parent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func group(t testing.TB, h *cgroup.Hierarchy, name string) *cgroup.Group {
	t.Helper()
	g, err := h.Group(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// quotaFile returns the quota as the kernel would see it, "max" for none.
func quotaFile(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy, name string) string {
	t.Helper()
	if h.Version() == cgroup.V2 {
		return tree.Read(t, name, "cpu.max")
	}
	quota := tree.Read(t, name, "cpu.cfs_quota_us")
	if quota == "-1" {
		quota = "max"
	}
	period := tree.Read(t, name, "cpu.cfs_period_us")
	if period == "" {
		period = "100000" // What the kernel's file holds from the start.
	}
	return quota + " " + period
}

func TestQuotaIsWrittenInTheVersionsUnits(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		g := group(t, h, "app-1-1")
		for _, c := range []struct {
			quota units.Cores
			want  string
		}{
			{1.5, "150000 100000"}, {0.25, "25000 100000"}, {units.Unlimited, "max 100000"}, {16, "1600000 100000"},
			{0.05, "5000 100000"}, {0.001, "1000 100000"}, {0, "1000 100000"}, {1.00001, "100001 100000"}, {units.Unlimited, "max 100000"},
		} {
			if err := g.SetQuota(c.quota); err != nil {
				t.Fatal(err)
			}
			if got := quotaFile(t, tree, h, node+"/app-1-1"); got != c.want {
				t.Errorf("quota %v is in force as %q, want %q", c.quota, got, c.want)
			}
		}
	})
}

// A group that is never limited keeps whatever the kernel gave it.
func TestAGroupWithoutAQuotaIsNotWritten(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		tree.SetQuota(t, node+"/app-1-1", -1, 100000)
		g := group(t, h, "app-1-1")
		for range 2 {
			if err := g.SetQuota(units.Unlimited); err != nil {
				t.Fatal(err)
			}
			if quota, err := g.Quota(); err != nil || !quota.IsUnlimited() {
				t.Errorf("quota %v, %v", quota, err)
			}
		}
		if got := quotaFile(t, tree, h, node+"/app-1-1"); got != "max 100000" {
			t.Errorf("in force: %q", got)
		}
		if err := g.SetQuota(0.5); err != nil {
			t.Fatal(err)
		}
		if got := quotaFile(t, tree, h, node+"/app-1-1"); got != "50000 100000" {
			t.Errorf("with a quota: %q", got)
		}
	})
}

func TestBadQuotasChangeNothing(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		g := group(t, h, "app-1-1")
		if err := g.SetQuota(1); err != nil {
			t.Fatal(err)
		}
		for _, quota := range []units.Cores{units.Cores(math.NaN()), -1, units.Cores(math.Inf(-1))} {
			if err := g.SetQuota(quota); err == nil {
				t.Errorf("quota %v was taken", quota)
			}
		}
		if got := quotaFile(t, tree, h, node+"/app-1-1"); got != "100000 100000" {
			t.Errorf("in force: %q", got)
		}
	})
}

func TestUnchangedQuotaIsNotWritten(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		g := group(t, h, "app-1-1")
		if err := g.SetQuota(1); err != nil {
			t.Fatal(err)
		}
		tree.SetQuota(t, node+"/app-1-1", 40000, 100000) // another writer
		if err := g.SetQuota(1); err != nil {
			t.Fatal(err)
		}
		if got := quotaFile(t, tree, h, node+"/app-1-1"); got != "40000 100000" {
			t.Errorf("it was written again: %q", got)
		}
		// Reading back finds the second writer, and the next write happens.
		got, err := g.Quota()
		if err != nil || got != 0.4 {
			t.Errorf("quota in force %v, %v", got, err)
		}
		if err := g.SetQuota(1); err != nil {
			t.Fatal(err)
		}
		if got := quotaFile(t, tree, h, node+"/app-1-1"); got != "100000 100000" {
			t.Errorf("in force: %q", got)
		}
	})
}

// A restarted node controller finds the quota that its predecessor left, on
// whatever period, and jumps nowhere.
func TestTakeOver(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		if err := group(t, h, "ours").SetQuota(0.75); err != nil {
			t.Fatal(err)
		}
		tree.SetQuota(t, node+"/theirs", 150000, 100000)
		tree.SetQuota(t, node+"/free", -1, 100000)
		next := open(t, tree.Root, node)
		names, err := next.Names()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"free", "ours", "theirs"}, names); diff != "" {
			t.Error(diff)
		}
		for name, want := range map[string]units.Cores{"ours": 0.75, "theirs": 1.5, "free": units.Unlimited} {
			g := group(t, next, name)
			if got, err := g.Quota(); err != nil || got != want {
				t.Errorf("%s: quota %v, %v, want %v", name, got, err, want)
			}
			if got, ok := g.Last(); !ok || got != want {
				t.Errorf("%s: last quota %v, %v, want %v", name, got, ok, want)
			}
		}
	})
}

func TestUsage(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		g := group(t, h, "app-1-1")
		if used, throttled, err := g.Usage(); used != 0 || throttled != 0 || err != nil {
			t.Errorf("new group: %v, %v, %v", used, throttled, err)
		}
		tree.Use(t, node+"/app-1-1", 12.25, 1500*time.Millisecond)
		if used, throttled, err := g.Usage(); used != 12.25 || throttled != 1500*time.Millisecond || err != nil {
			t.Errorf("%v, %v, %v", used, throttled, err)
		}
	})
}

func TestWeights(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		file, unit, most := "cpu.shares", map[cgroup.Weight]string{1: "1024", 0.1: "102", 1e-9: "2"}, "262144"
		if h.Version() == cgroup.V2 {
			file, unit, most = "cpu.weight", map[cgroup.Weight]string{1: "100", 0.1: "10", 1e-9: "1"}, "10000"
		}
		unit[1e9] = most
		g := group(t, h, "app-1-1")
		for weight, want := range unit {
			if err := g.SetWeight(weight); err != nil {
				t.Fatal(err)
			}
			if got := tree.Read(t, node+"/app-1-1", file); got != want {
				t.Errorf("weight %v is %q, want %q", weight, got, want)
			}
		}
		for _, weight := range []cgroup.Weight{0, -1, cgroup.Weight(math.NaN()), cgroup.Weight(math.Inf(1))} {
			if err := g.SetWeight(weight); err == nil {
				t.Errorf("weight %v was taken", weight)
			}
		}
	})
}

// What competes with the rest of the machine is the top group: it has the weight of the node
// that has most, on each CPU. What a node controller leaves behind that was killed has no say.
func TestTheWeightOfAllExecutors(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		file, unit, most := "cpu.shares", 1024, 262144
		if h.Version() == cgroup.V2 {
			file, unit, most = "cpu.weight", 100, 10000
		}
		other, stale := open(t, tree.Root, "pacer/other"), open(t, tree.Root, "pacer/stale")
		for _, h := range []*cgroup.Hierarchy{h, other} {
			if err := h.Claim(); err != nil {
				t.Fatal(err)
			}
		}
		if err := stale.SetWeight(4); err != nil {
			t.Fatal(err)
		}
		for i, c := range []struct {
			h        *cgroup.Hierarchy
			set, top int
		}{{h, 4, 4}, {h, 1, 1}, {other, 2, 2}, {h, 3, 3}, {h, 1, 2}, {other, 1, 1}} {
			if err := c.h.SetWeight(cgroup.Weight(c.set)); err != nil {
				t.Fatal(err)
			}
			want := strconv.Itoa(min(most, c.top*runtime.NumCPU()*unit))
			if got := tree.Read(t, "pacer", file); got != want {
				t.Errorf("write %d: weight of the parent is %q, want %q", i, got, want)
			}
		}
		if got, want := tree.Read(t, node, file), strconv.Itoa(unit); got != want {
			t.Errorf("weight of the node's group is %q, want %q", got, want)
		}
	})
}

func TestOpenGivesTheParentItsWeight(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		file, unit, most := "cpu.shares", 1024, 262144
		if h.Version() == cgroup.V2 {
			file, unit, most = "cpu.weight", 100, 10000
		}
		want := strconv.Itoa(min(most, int(cgroup.ParentWeight(runtime.NumCPU()))*unit))
		if got := tree.Read(t, "pacer", file); got != want {
			t.Errorf("weight of the parent is %q, want %q", got, want)
		}
		if err := h.SetWeight(0.25); err != nil {
			t.Fatal(err)
		}
		want = tree.Read(t, "pacer", file)
		open(t, tree.Root, "pacer/other")
		if got := tree.Read(t, "pacer", file); got != want {
			t.Errorf("another node controller starts, and the weight of the parent is %q, want %q", got, want)
		}
		if got := tree.Read(t, "pacer/other", file); got != "" {
			t.Errorf("weight of the node's group is %q: nodes of one machine share equally", got)
		}
	})
	if cgroup.ParentWeight(0) != cgroup.ParentWeight(1) || cgroup.ParentWeight(8) != 8*cgroup.ParentWeight(1) {
		t.Error("the parent's weight does not follow the CPUs that it is spread over")
	}
}

func TestV2PassesTheControllerDown(t *testing.T) {
	tree := cgrouptest.New(t, cgrouptest.V2)
	open(t, tree.Root, node)
	for _, dir := range []string{"", "pacer", node} {
		if got := tree.Read(t, dir, "cgroup.subtree_control"); got != "+cpu" {
			t.Errorf("%q: subtree_control %q", dir, got)
		}
	}
}

func TestSameNameSameGroup(t *testing.T) {
	eachLayout(t, func(t *testing.T, _ *cgrouptest.Tree, h *cgroup.Hierarchy) {
		first := group(t, h, "app-1-1")
		if group(t, h, "app-1-1") != first {
			t.Error("two values for one group")
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if err := first.SetQuota(1); !errors.Is(err, cgroup.ErrGone) {
			t.Errorf("write to a closed group: %v", err)
		}
		if err := group(t, h, "app-1-1").SetQuota(1); err != nil {
			t.Error(err)
		}
	})
}

func TestRemove(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		g := group(t, h, "app-1-1")
		if err := h.Remove(t.Context()); err == nil || !strings.Contains(err.Error(), "app-1-1") {
			t.Errorf("the parent of a group was removed: %v", err)
		}
		if err := g.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		if names, err := h.Names(); err != nil || len(names) > 0 {
			t.Errorf("groups %v, %v", names, err)
		}
		second := open(t, tree.Root, "pacer/node2")
		if err := h.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(tree.Path("pacer/node2", "")); err != nil {
			t.Errorf("the other node's group: %v", err)
		}
		if err := second.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(tree.Path("pacer", "")); !os.IsNotExist(err) {
			t.Errorf("the top group: %v", err)
		}
	})
}

func TestProcsAndJoinFiles(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		g := group(t, h, "app-1-1")
		files := g.JoinFiles()
		want := 1
		if _, err := os.Stat(filepath.Join(tree.Root, "cpuacct", "pacer")); err == nil && h.Version() == cgroup.V1 {
			if link, err := os.Readlink(filepath.Join(tree.Root, "cpuacct")); err != nil || link == "" {
				want = 2
			}
		}
		if len(files) != want {
			t.Errorf("join files %v, want %d", files, want)
		}
		for _, file := range files {
			if err := os.WriteFile(file, []byte("12\n34\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		pids, err := g.Procs()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{12, 34}, pids); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFaults(t *testing.T) {
	empty := t.TempDir()
	if _, err := cgroup.Open(empty, node); !errors.Is(err, cgroup.ErrUnavailable) || !strings.Contains(err.Error(), empty) {
		t.Errorf("no cgroups: %v", err)
	}
	cpuOnly := t.TempDir()
	if err := os.MkdirAll(filepath.Join(cpuOnly, "cpu"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cpuOnly, "cpu", "cpu.shares"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := cgroup.Open(cpuOnly, node); !errors.Is(err, cgroup.ErrUnavailable) || !strings.Contains(err.Error(), "cpuacct") {
		t.Errorf("no cpuacct: %v", err)
	}
	tree := cgrouptest.New(t, cgrouptest.V2)
	for _, parent := range []string{"", "/", "../x", "a//b", "a/../b", "cgroup.procs", "cpu.max", "a b", ".x"} {
		if _, err := cgroup.Open(tree.Root, parent); err == nil {
			t.Errorf("parent %q was taken", parent)
		}
	}
	h := open(t, tree.Root, node)
	for _, name := range []string{"", "..", "a/b", "a\nb", strings.Repeat("x", 201)} {
		if _, err := h.Group(name); err == nil {
			t.Errorf("group %q was taken", name)
		}
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	tree := cgrouptest.New(t, cgrouptest.V1Separate)
	h := open(t, tree.Root, node)
	g := group(t, h, "app-1-1")
	for _, file := range []string{"cpuacct.usage", "cpu.cfs_quota_us"} {
		if err := os.WriteFile(tree.Path(node+"/app-1-1", file), []byte("12x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := g.Usage(); err == nil || !strings.Contains(err.Error(), "cpuacct.usage") {
		t.Errorf("usage: %v", err)
	}
	if _, err := g.Quota(); err == nil || !strings.Contains(err.Error(), "cpu.cfs_quota_us") {
		t.Errorf("quota: %v", err)
	}
}

// What is written is read back to half a microsecond per period, never below
// the least quota, and an equal quota is the same quota.
func TestQuotaRoundTrip(t *testing.T) {
	tree := cgrouptest.New(t, cgrouptest.V2)
	g := group(t, open(t, tree.Root, node), "app-1-1")
	rapid.Check(t, func(rt *rapid.T) {
		quota := units.Cores(rapid.Float64Range(0, 256).Draw(rt, "quota"))
		if err := g.SetQuota(quota); err != nil {
			rt.Fatal(err)
		}
		got, err := g.Quota()
		if err != nil {
			rt.Fatal(err)
		}
		if diff := math.Abs(float64(got - max(quota, cgroup.MinQuota))); diff > 0.5/100000+1e-12 {
			rt.Fatalf("%v became %v", quota, got)
		}
	})
}

func TestGroupName(t *testing.T) {
	if got := cgroup.GroupName("app-20261121043012-0001-3fa94c", "3"); got != "app-20261121043012-0001-3fa94c-3" {
		t.Error(got)
	}
}

func TestTickPathDoesNotAllocate(t *testing.T) {
	eachLayout(t, func(t *testing.T, _ *cgrouptest.Tree, h *cgroup.Hierarchy) {
		g := group(t, h, "app-1-1")
		quota := units.Cores(1)
		n := testing.AllocsPerRun(100, func() {
			quota += 0.05
			if err := g.SetQuota(quota); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Quota(); err != nil {
				t.Fatal(err)
			}
			if _, _, err := g.Usage(); err != nil {
				t.Fatal(err)
			}
		})
		if n > 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestKillSpareWhomOrdinaryFilesName(t *testing.T) {
	tree := cgrouptest.New(t, cgrouptest.V1Separate)
	g := group(t, open(t, tree.Root, node), "app-1-1")
	for _, file := range g.JoinFiles() {
		if err := os.WriteFile(file, []byte("1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Kill(context.Background()); err != nil {
		t.Fatal(err)
	}
	if pids, err := g.Procs(); err != nil || len(pids) > 0 {
		t.Errorf("%v, %v", pids, err)
	}
}
