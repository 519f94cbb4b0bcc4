package cgroup_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

const mib = units.MiB

// limited is a group with a memory limit of a GiB on a tree of files, and how to read the
// limit that is in force there.
func limited(t *testing.T, layout cgrouptest.Layout) (tree *cgrouptest.Tree, g *cgroup.Group, inForce func() units.Bytes) {
	t.Helper()
	tree = cgrouptest.NewWithMemory(t, layout)
	h, err := cgroup.Open(tree.Root, "pacer/n1")
	if err != nil {
		t.Fatal(err)
	}
	g = group(t, h, "app-1-1")
	file := "memory.limit_in_bytes"
	if layout == cgrouptest.V2 {
		file = "memory.max"
	}
	inForce = func() units.Bytes {
		n, _ := strconv.ParseInt(tree.Read(t, "pacer/n1/app-1-1", file), 10, 64)
		return units.Bytes(n)
	}
	if err := g.RaiseMemory(units.GiB); err != nil || inForce() != units.GiB || g.MemoryLimit() != units.GiB {
		t.Fatalf("%s: %v, %v, %v", layout, inForce(), g.MemoryLimit(), err)
	}
	return tree, g, inForce
}

// A limit comes down to what is wanted, but not below what the group cannot give up: its
// anonymous memory, with a margin. Page cache it can.
func TestMemoryLimitComesDownToWhatIsNeeded(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		for _, c := range []struct{ anonymous, cache, aim, want units.Bytes }{
			{100 * mib, 0, 512 * mib, 512 * mib},
			{600 * mib, 0, 512 * mib, 600*mib + cgroup.MemoryMargin},
			{100 * mib, 800 * mib, 512 * mib, 512 * mib},
			{1000 * mib, 24 * mib, 512 * mib, units.GiB},
		} {
			tree, g, inForce := limited(t, layout)
			tree.Hold(t, "pacer/n1/app-1-1", c.anonymous, c.cache)
			g.AimMemory(c.aim)
			if err := g.LowerMemory(); err != nil || inForce() != c.want || g.MemoryLimit() != c.want {
				t.Errorf("%s %+v: %v, %v, %v", layout, c, inForce(), g.MemoryLimit(), err)
			}
			use, err := g.Memory()
			if err != nil || use.Resident != c.anonymous || use.Cache != c.cache || use.Needed != c.anonymous || use.Charged != c.anonymous+c.cache {
				t.Errorf("%s %+v: %+v, %v", layout, c, use, err)
			}
		}
	}
}

// A raise wins over a lowering that has not come to its end, and is never a lowering.
func TestARaisedMemoryLimitStays(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		_, g, inForce := limited(t, layout)
		g.AimMemory(200 * mib)
		if err := g.RaiseMemory(2 * units.GiB); err != nil {
			t.Fatal(err)
		}
		if err := g.LowerMemory(); err != nil || inForce() != 2*units.GiB {
			t.Errorf("%s: %v, %v", layout, inForce(), err)
		}
		if err := g.RaiseMemory(units.GiB); err != nil || inForce() != 2*units.GiB {
			t.Errorf("%s: %v, %v", layout, inForce(), err)
		}
	}
}

// What passes its limit is ended and not swapped: a limit leaves no swap, whether it comes first,
// is raised or lowered. A machine without swap has no file for it, and is given none.
func TestAMemoryLimitLeavesNoSwap(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		tree, g, inForce := limited(t, layout)
		file, want := "memory.memsw.limit_in_bytes", func() string { return strconv.FormatInt(int64(inForce()), 10) }
		if layout == cgrouptest.V2 {
			file, want = "memory.swap.max", func() string { return "0" }
		}
		path := tree.Path("pacer/n1/app-1-1", file)
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: %s was made", layout, path)
		}
		for name, set := range map[string]func() error{
			"raised":  func() error { return g.RaiseMemory(g.MemoryLimit() + units.GiB) },
			"lowered": func() error { g.AimMemory(512 * mib); return g.LowerMemory() },
		} {
			if err := os.WriteFile(path, []byte("max\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := set(); err != nil || strings.TrimSpace(tree.Read(t, "pacer/n1/app-1-1", file)) != want() {
				t.Errorf("%s %s: %s is %q, want %q: %v", layout, name, file, tree.Read(t, "pacer/n1/app-1-1", file), want(), err)
			}
		}
	}
}

// A container inside has the limit that its engine gave it, and Pacer moves that one.
func TestTheLimitOfAContainerInside(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		tree := cgrouptest.NewWithMemory(t, layout)
		h, err := cgroup.Open(tree.Root, "pacer/n1")
		if err != nil {
			t.Fatal(err)
		}
		g := group(t, h, "app-1-1")
		file := "memory.limit_in_bytes"
		if layout == cgrouptest.V2 {
			file = "memory.max"
		}
		if got := g.MemoryLimit(); got != 0 {
			t.Errorf("%s: %v before there is a container", layout, got)
		}
		path := tree.Path("pacer/n1/app-1-1/0a1b2c", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("1073741824\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		g.ForgetMemoryLimit()
		if got := g.MemoryLimit(); got != units.GiB {
			t.Errorf("%s: %v, want the container's", layout, got)
		}
		if err := g.RaiseMemory(2 * units.GiB); err != nil {
			t.Fatal(err)
		}
		if inner, own := tree.Read(t, "pacer/n1/app-1-1/0a1b2c", file), tree.Read(t, "pacer/n1/app-1-1", file); inner != "2147483648" || strings.Contains(own, "2147483648") {
			t.Errorf("%s: %q inside, %q of the group", layout, inner, own)
		}
	}
}

// Where nothing counts memory there are no limits, and no faults.
func TestNoMemoryController(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		h, err := cgroup.Open(cgrouptest.New(t, layout).Root, "pacer/n1")
		if err != nil {
			t.Fatal(err)
		}
		g := group(t, h, "app-1-1")
		if err := g.RaiseMemory(units.GiB); err != nil || g.MemoryLimit() != 0 {
			t.Errorf("%s: %v, %v", layout, g.MemoryLimit(), err)
		}
		if err := g.LowerMemory(); err != nil {
			t.Errorf("%s: %v", layout, err)
		}
	}
}
