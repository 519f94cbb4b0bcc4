package cgroup_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
)

// TestClaim: one of two has the parent, and the other when that one has closed.
func TestClaim(t *testing.T) {
	tree := cgrouptest.New(t, cgrouptest.V2)
	open := func() *cgroup.Hierarchy {
		h, err := cgroup.Open(tree.Root, "pacer/node-a")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first, second := open(), open()
	if err := first.Claim(); err != nil {
		t.Fatal(err)
	}
	if err := second.Claim(); api.KindOf(err) != api.KindConflict {
		t.Errorf("a second claim: %v, want a conflict", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Claim(); err != nil {
		t.Errorf("when the first had closed: %v", err)
	}
	if err := second.Remove(t.Context()); err != nil {
		t.Error(err)
	}
}
