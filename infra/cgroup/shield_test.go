package cgroup_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

// What is promised is kept by memory.low in v2, and what is lent goes first: by memory.high, or v1's soft limit.
func TestAShieldIsWhatTheVersionHas(t *testing.T) {
	promised, lent := cgroup.Shield{Size: 512 * mib}, cgroup.Shield{Size: 512 * mib, Yields: true}
	for _, layout := range cgrouptest.Layouts() {
		tree, g, _ := limited(t, layout)
		for _, c := range []struct {
			set  cgroup.Shield
			want map[string]string
		}{
			{promised, map[string]string{"memory.low": "536870912", "memory.high": "max", "memory.soft_limit_in_bytes": "-1"}},
			{lent, map[string]string{"memory.low": "0", "memory.high": "503316480", "memory.soft_limit_in_bytes": "67108864"}},
			{promised, map[string]string{"memory.low": "536870912", "memory.high": "max", "memory.soft_limit_in_bytes": "-1"}},
		} {
			if err := c.set.Put(g); err != nil {
				t.Fatal(err)
			}
			for file, want := range c.want {
				if v2 := !strings.Contains(file, "soft"); v2 != (layout == cgrouptest.V2) {
					want = ""
				}
				if got := tree.Read(t, "pacer/n1/app-1-1", file); got != want {
					t.Errorf("%s %+v: %s is %q, want %q", layout, c.set, file, got, want)
				}
			}
		}
	}
}

// The kernel protects a group by no more than the one around it: these have the sum of what is promised below them, of
// all nodes, and it falls with an executor that goes.
func TestGroupsAroundArePromisedTheSum(t *testing.T) {
	tree := cgrouptest.NewWithMemory(t, cgrouptest.V2)
	sums := func(node string) (units.Bytes, units.Bytes) {
		n, _ := strconv.ParseInt(tree.Read(t, "pacer/"+node, "memory.low"), 10, 64)
		top, _ := strconv.ParseInt(tree.Read(t, "pacer", "memory.low"), 10, 64)
		return units.Bytes(n), units.Bytes(top)
	}
	var last *cgroup.Group
	for _, c := range []struct {
		node, name string
		shield     cgroup.Shield
		node1, top units.Bytes
	}{
		{"n1", "app-1-1", cgroup.Shield{Size: 300 * mib}, 300 * mib, 300 * mib},
		{"n1", "app-2-1", cgroup.Shield{Size: 900 * mib, Yields: true}, 300 * mib, 300 * mib},
		{"n2", "app-3-1", cgroup.Shield{Size: 100 * mib}, 100 * mib, 400 * mib},
		{"n2", "app-4-1", cgroup.Shield{Size: 50 * mib}, 150 * mib, 450 * mib},
	} {
		h, err := cgroup.Open(tree.Root, "pacer/"+c.node)
		if err != nil {
			t.Fatal(err)
		}
		last = group(t, h, c.name)
		if err := c.shield.Put(last); err != nil {
			t.Fatal(err)
		}
		if n, top := sums(c.node); n != c.node1 || top != c.top {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, n, top, c.node1, c.top)
		}
	}
	if err := last.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, top := sums("n2"); n != 100*mib || top != 400*mib {
		t.Errorf("after one has gone: %v and %v", n, top)
	}
}

// A container inside is protected as far as the group around it is.
func TestAShieldOfAContainerInside(t *testing.T) {
	tree := cgrouptest.NewWithMemory(t, cgrouptest.V2)
	h, err := cgroup.Open(tree.Root, "pacer/n1")
	if err != nil {
		t.Fatal(err)
	}
	g := group(t, h, "app-1-1")
	path := tree.Path("pacer/n1/app-1-1/0a1b2c", "memory.max")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("1073741824\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := (cgroup.Shield{Size: units.GiB}).Put(g); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"pacer/n1/app-1-1/0a1b2c", "pacer/n1/app-1-1", "pacer/n1", "pacer"} {
		if got := tree.Read(t, dir, "memory.low"); got != "1073741824" {
			t.Errorf("%s is promised %q", dir, got)
		}
	}
}

// What a kernel lacks is said, and is no fault.
func TestWhatAKernelLacks(t *testing.T) {
	for layout, want := range map[cgrouptest.Layout]int{cgrouptest.V1Separate: 2, cgrouptest.V2: 0} {
		h, err := cgroup.Open(cgrouptest.NewWithMemory(t, layout).Root, "pacer/n1")
		if err != nil {
			t.Fatal(err)
		}
		if lacks := h.Lacks; len(lacks) != want || want > 0 && !strings.Contains(lacks[0], "no memory.low (cgroup v1)") {
			t.Errorf("%s lacks %q", layout, lacks)
		}
	}
	for _, layout := range cgrouptest.Layouts() {
		h, err := cgroup.Open(cgrouptest.New(t, layout).Root, "pacer/n1")
		if err != nil {
			t.Fatal(err)
		}
		if err := (cgroup.Shield{Size: units.GiB}).Put(group(t, h, "app-1-1")); err != nil {
			t.Errorf("%s: %v", layout, err)
		}
		if lacks := h.Lacks; len(lacks) != 2 || !strings.HasPrefix(lacks[0], "no memory controller") {
			t.Errorf("%s lacks %q", layout, lacks)
		}
	}
}

func TestPressure(t *testing.T) {
	dir := t.TempDir()
	if _, err := cgroup.MachinePressure(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without files: %v", err)
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("cpu", "some avg10=12.50 avg60=3.00 avg300=1.00 total=99\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
	put("memory", "some avg10=0.25 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.10 avg60=0.00 avg300=0.00 total=1\n")
	put("io", "some avg10=100.00 avg60=0.00 avg300=0.00 total=1\n")
	if p, err := cgroup.MachinePressure(dir); err != nil || p != (api.Pressure{CPU: 0.125, Memory: 0.0025, IO: 1}) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, text := range []string{"", "full avg10=1.00", "some avg10=x ", "some avg10=NaN ", "some avg10=101.00 ", "some avg10=-1.00 "} {
		put("io", text)
		if p, err := cgroup.MachinePressure(dir); err == nil {
			t.Errorf("of %q: %+v", text, p)
		}
	}
	tree, g, _ := limited(t, cgrouptest.V2)
	tree.Hold(t, "pacer/n1/app-1-1", mib, mib)
	if use, err := g.Memory(); use.Pressure != 0 || err != nil {
		t.Errorf("of a group without: %+v, %v", use, err)
	}
	if err := os.WriteFile(tree.Path("pacer/n1/app-1-1", "memory.pressure"), []byte("some avg10=50.00 avg60=0.00 avg300=0.00 total=1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if use, err := g.Memory(); use.Pressure != 0.5 || err != nil {
		t.Errorf("of a group: %+v, %v", use, err)
	}
}

// The kernel takes what is written, on either version.
func TestRealShield(t *testing.T) {
	h := cgrouptest.Real(t)
	t.Cleanup(func() { cgrouptest.Clear(t, h) })
	g := group(t, h, "app-1-1")
	dir := memoryDir(t, g)
	if err := g.RaiseMemory(512 * mib); err != nil {
		t.Fatal(err)
	}
	files := map[string][2]string{"memory.soft_limit_in_bytes": {"9223372036854771712", "67108864"}}
	if h.Version() == cgroup.V2 {
		files = map[string][2]string{"memory.low": {"536870912", "0"}, "memory.high": {"max", "503316480"}}
	}
	for i, lent := range []bool{false, true} {
		if err := (cgroup.Shield{Size: 512 * mib, Yields: lent}).Put(g); err != nil {
			t.Fatal(err)
		}
		for file, want := range files {
			if got := content(t, filepath.Join(dir, file)); got != want[i] {
				t.Errorf("lent %v: %s is %q, want %q", lent, file, got, want[i])
			}
		}
	}
	t.Logf("this kernel lacks %q", h.Lacks)
}

// Where the group around all is short, a lent neighbour gives its page cache and a promised one keeps its own.
func TestRealV2WhatIsPromisedStays(t *testing.T) {
	h := onV2(t)
	t.Cleanup(func() { cgrouptest.Clear(t, h) })
	promised, lent := group(t, h, "app-1-1"), group(t, h, "app-2-1")
	around := filepath.Dir(memoryDir(t, promised))
	disk := onDisk(t, 96*mib)
	read := func(g *cgroup.Group, offset int) {
		t.Helper()
		script := "dd if=" + disk + " of=/dev/null bs=1048576 skip=" + strconv.Itoa(offset) + " count=24 2>/dev/null; exit 0"
		if err := shellIn(t, g, script).Wait(); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range []*cgroup.Group{promised, lent} {
		if err := g.RaiseMemory(64 * mib); err != nil {
			t.Fatal(err)
		}
		if err := (cgroup.Shield{Size: 64 * mib, Yields: g == lent}).Put(g); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(around, "memory.max"), []byte(strconv.Itoa(int(40*mib))), 0o644); err != nil {
		t.Fatal(err)
	}
	read(promised, 0)
	before, err := promised.Memory()
	if err != nil || before.Cache < 16*mib {
		t.Fatalf("it has read %+v, %v", before, err)
	}
	read(lent, 24)
	read(lent, 48)
	after, err := promised.Memory()
	if err != nil || after.Cache < before.Cache*9/10 {
		t.Errorf("of %+v what is promised has %+v, %v", before, after, err)
	}
	if use, err := lent.Memory(); err != nil || use.Cache > 32*mib {
		t.Errorf("what is lent has %+v, %v", use, err)
	}
}
