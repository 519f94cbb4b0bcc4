package cgroup_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
)

// Drivers have a parent of their own beside that of the executors, which has the weight of the driver that has most. A node
// controller that comes after another one finds it, and it goes with the executors' parent.
func TestDriversStandBesideExecutors(t *testing.T) {
	eachLayout(t, func(t *testing.T, tree *cgrouptest.Tree, h *cgroup.Hierarchy) {
		file, unit := "cpu.shares", 1024
		if h.Version() == cgroup.V2 {
			file, unit = "cpu.weight", 100
		}
		parents := func(drivers cgroup.Weight) {
			t.Helper()
			if got, want := tree.Read(t, "pacer-drivers", file), strconv.Itoa(int(drivers)*runtime.NumCPU()*unit); got != want {
				t.Errorf("the parent of drivers weighs %q, want %q", got, want)
			}
		}
		if err := h.SetWeight(1); err != nil {
			t.Fatal(err)
		}
		all := tree.Read(t, "pacer", file)
		names := []string{cgroup.GroupName("app-1", api.DriverName), cgroup.GroupName("app-2", "driver-2"), cgroup.GroupName("app-1", "1")}
		first, second := group(t, h, names[0]), group(t, h, names[1])
		for _, w := range []struct {
			of            *cgroup.Group
			weight, among cgroup.Weight
		}{{first, 1, 1}, {first, 9, 9}, {second, 2, 9}, {first, 1, 2}, {first, 9, 9}} {
			if err := w.of.SetWeight(w.weight); err != nil {
				t.Fatal(err)
			}
			parents(w.among)
		}
		if got := tree.Read(t, "pacer-drivers/node1/app-1.driver", file); got != strconv.Itoa(9*unit) {
			t.Errorf("the driver weighs %q", got)
		}
		group(t, h, names[2])
		if got := tree.Read(t, "pacer", file); got != all {
			t.Errorf("executors together weigh %q beside drivers, %q without", got, all)
		}
		if err := first.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		parents(2)
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		h = open(t, tree.Root, node)
		if got, err := h.Names(); err != nil || !slices.Equal(got, []string{"app-1-1", "app-2.driver-2"}) {
			t.Fatalf("the next node controller finds %v, %v", got, err)
		}
		for _, name := range names[1:] {
			if err := group(t, h, name).Remove(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Dir(tree.Path("pacer-drivers", file))); len(left) > 0 {
			entries, _ := os.ReadDir(left[0])
			t.Errorf("left is %v with %v", left, entries)
		}
	})
}

// Where no second parent can be made drivers are among executors.
func TestDriversAmongExecutors(t *testing.T) {
	tree := cgrouptest.New(t, cgrouptest.V2)
	if err := os.WriteFile(filepath.Join(tree.Root, "pacer-drivers"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := open(t, tree.Root, node)
	g := group(t, h, cgroup.GroupName("app-1", api.DriverName))
	if err := g.SetWeight(9); err != nil {
		t.Fatal(err)
	}
	if got := tree.Read(t, node+"/app-1.driver", "cpu.weight"); got != "900" {
		t.Errorf("the driver among executors weighs %q", got)
	}
	if names, err := h.Names(); err != nil || !slices.Equal(names, []string{"app-1.driver"}) {
		t.Errorf("the groups are %v, %v", names, err)
	}
}
