package cgroup_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

// weigh gives groups the weight that a kubelet writes for so many cpu.shares, by the conversion of that time.
func weigh(tree *cgrouptest.Tree, layout cgrouptest.Layout, newer bool, shares int64, groups ...string) error {
	file, text := "cpu.shares", fmt.Sprintf("%d\n", shares)
	if layout == cgrouptest.V2 {
		l := math.Log2(float64(shares))
		weight := new(big.Int).Add(big.NewInt(1), new(big.Int).Div(big.NewInt((shares-2)*9999), big.NewInt(262142))).Int64()
		if newer {
			weight = int64(math.Ceil(math.Pow(10, (l*l+125*l)/612.0-7.0/34.0)))
		}
		file, text = "cpu.weight", fmt.Sprintf("%d\n", weight)
	}
	var faults []error
	for _, group := range groups {
		path := tree.Path(group, file)
		faults = append(faults, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	return errors.Join(faults...)
}

// What is requested for a container is told by the weights that kubelets of both kinds write, as exactly as these are.
func TestWhatIsRequestedIsRead(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		t.Run(string(layout), func(t *testing.T) {
			tree := cgrouptest.New(t, layout)
			others, err := cgroup.OpenOthers(tree.Root)
			if err != nil {
				t.Fatal(err)
			}
			defer others.Close()
			rapid.Check(t, func(t *rapid.T) {
				cpus := rapid.Int64Range(1, 64).Draw(t, "CPUs")
				newer := rapid.Bool().Draw(t, "newer")
				// The least weight of v2 is that of who requests nothing.
				milli := rapid.Int64Range(30, 1000*cpus*9/10).Draw(t, "request in thousandths")
				shares := milli * 1024 / 1000
				err := errors.Join(weigh(tree, layout, newer, 1024*cpus*9/10, "/kubepods"),
					weigh(tree, layout, newer, shares, "/kubepods/burstable/podx", "/kubepods/burstable/podx/c"),
					weigh(tree, layout, newer, 2, "/kubepods/burstable/podx/sandbox"))
				if err != nil {
					t.Fatal(err)
				}
				got := float64(others.Requested("/kubepods/burstable/podx/c", "/kubepods", int(cpus))) * 1024
				step := 0.1
				if layout == cgrouptest.V2 {
					step = 27
				}
				if got < float64(shares)-0.1 || got > float64(shares)+step {
					t.Fatalf("%v shares, of a kubelet that writes %d", got, shares)
				}
			})
		})
	}
}

// A container has the part of its pod's cores that the kernel gives it, whatever its runtime makes of requests.
func TestAContainerHasItsPartOfAPod(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		tree := cgrouptest.New(t, layout)
		others, err := cgroup.OpenOthers(tree.Root)
		if err != nil {
			t.Fatal(err)
		}
		want := func(what string, cores units.Cores) {
			t.Helper()
			got := others.Requested("/kubepods/podx/c", "/kubepods", 4)
			if got < cores-0.001 || got > cores+0.03 {
				t.Errorf("%s, %s: %v cores are requested, want %v", layout, what, got, cores)
			}
		}
		put := func(newer bool, shares int64, groups ...string) {
			t.Helper()
			if err := weigh(tree, layout, newer, shares, groups...); err != nil {
				t.Fatal(err)
			}
		}
		want("none of it is there", 0)
		put(false, 4096, "/kubepods")
		put(false, 2048, "/kubepods/podx")
		want("the container's group is gone", 0)
		put(true, 1024, "/kubepods/podx/c", "/kubepods/podx/sidecar")
		want("beside one like it", 1)
		put(true, 2, "/kubepods/podx/sidecar")
		want("beside one that requests nothing", 2)
		put(true, 2, "/kubepods/podx/c")
		want("it requests nothing", 0)
		if err := others.Close(); err != nil {
			t.Error(err)
		}
	}
}
