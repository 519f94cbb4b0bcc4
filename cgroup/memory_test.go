package cgroup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/cgroup"
	"github.com/sparkpacer/pacer/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

// limitOf is g's memory limit as the kernel shows it; the test is skipped where it has none.
func limitOf(t *testing.T, g *cgroup.Group) string {
	t.Helper()
	for _, file := range g.JoinFiles() {
		for _, name := range []string{"memory.limit_in_bytes", "memory.max"} {
			if data, err := os.ReadFile(filepath.Join(filepath.Dir(file), name)); err == nil {
				return strings.TrimSpace(string(data))
			}
		}
	}
	t.Skip("needs a memory controller")
	return ""
}

// The kernel takes the limit, counts what a process has, and is not asked to take that away.
func TestRealMemoryLimit(t *testing.T) {
	g := realGroup(t)
	limitOf(t, g)
	if got := g.MemoryLimit(); got != 0 {
		t.Errorf("a new group has a limit of %v", got)
	}
	if err := g.RaiseMemory(512 * units.MiB); err != nil {
		t.Fatal(err)
	}
	if got := limitOf(t, g); got != "536870912" || g.MemoryLimit() != 512*units.MiB {
		t.Errorf("limit %s, %v", got, g.MemoryLimit())
	}
	// A process with some 100 MiB of its own.
	shellIn(t, g, `x=$(head -c 52428800 /dev/zero | tr '\0' x); y=$x; echo full; sleep 600`)
	for resident := units.Bytes(0); resident < 50*units.MiB; {
		var err error
		if resident, _, err = g.Memory(); err != nil {
			t.Fatal(err)
		}
	}
	g.AimMemory(16 * units.MiB)
	if err := g.LowerMemory(); err != nil {
		t.Fatal(err)
	}
	resident, _, err := g.Memory()
	if limit := g.MemoryLimit(); err != nil || limit < 50*units.MiB+cgroup.MemoryMargin || limit >= 512*units.MiB || resident < 50*units.MiB {
		t.Errorf("lowered to %v beside %v in use: %v", limit, resident, err)
	}
	// A raise that comes before the lowering is not undone by it.
	g.AimMemory(16 * units.MiB)
	if err := g.RaiseMemory(units.GiB); err != nil {
		t.Fatal(err)
	}
	if err := g.LowerMemory(); err != nil {
		t.Fatal(err)
	}
	if got := limitOf(t, g); got != "1073741824" || g.MemoryLimit() != units.GiB {
		t.Errorf("after a raise: %s, %v", got, g.MemoryLimit())
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
