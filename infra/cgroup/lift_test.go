package cgroup_test

import (
	"testing"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
)

func TestLiftTakesOffEveryQuotaBelowTheParent(t *testing.T) {
	for _, layout := range cgrouptest.Layouts() {
		tree := cgrouptest.New(t, layout)
		if lifted, err := cgroup.Lift(tree.Root, "pacer/node-n1"); lifted != 0 || err != nil {
			t.Errorf("%s: without a parent: %d, %v", layout, lifted, err)
		}
		h, err := cgroup.Open(tree.Root, "pacer/node-n1")
		if err != nil {
			t.Fatal(err)
		}
		limited, free := group(t, h, "app-1-1"), group(t, h, "app-1-2")
		if err := limited.SetQuota(0.5); err != nil {
			t.Fatal(err)
		}
		tree.SetQuota(t, "pacer/node-n1/container/inner", 30000, 100000)
		tree.SetQuota(t, "pacer/node-n2/app-1-1", 30000, 100000)
		if lifted, err := cgroup.Lift(tree.Root, "pacer/node-n1"); lifted != 2 || err != nil {
			t.Errorf("%s: %d lifted, %v", layout, lifted, err)
		}
		for _, g := range []*cgroup.Group{limited, free} {
			if quota, err := g.Quota(); err != nil || !quota.IsUnlimited() {
				t.Errorf("%s: %s has %v, %v", layout, g.Name(), quota, err)
			}
		}
		if lifted, err := cgroup.Lift(tree.Root, "pacer/node-n1"); lifted != 0 || err != nil {
			t.Errorf("%s: again: %d, %v", layout, lifted, err)
		}
		if lifted, err := cgroup.Lift(tree.Root, "pacer/node-n2"); lifted != 1 || err != nil {
			t.Errorf("%s: the other node had %d left, %v", layout, lifted, err)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
