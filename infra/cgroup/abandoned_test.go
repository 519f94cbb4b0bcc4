package cgroup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
)

// What a node controller that died has left goes when nobody has claimed it, nothing runs in it
// and it was not made a moment ago; the others stay.
func TestAbandonedGroupsAreRemoved(t *testing.T) {
	of := func(name string) *cgroup.Hierarchy {
		return cgrouptest.Real(t, fmt.Sprintf("pacer-test-%d/node-%s", os.Getpid(), name))
	}
	alive, busy := of("alive"), of("busy")
	dead, err := cgroup.Open("", fmt.Sprintf("pacer-test-%d/node-dead", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	group(t, dead, "app-1-1")
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	group(t, alive, "app-1-1")
	if err := alive.Claim(); err != nil {
		t.Fatal(err)
	}
	shellIn(t, group(t, busy, "app-1-1"), "exec sleep 600")
	t.Cleanup(func() { cgrouptest.Clear(t, alive); cgrouptest.Clear(t, busy) })
	pattern := fmt.Sprintf("pacer-test-%d/node-*", os.Getpid())
	if removed, err := cgroup.RemoveAbandoned("", pattern, time.Hour); err != nil || len(removed) > 0 {
		t.Errorf("removed %v that were just made, %v", removed, err)
	}
	removed, err := cgroup.RemoveAbandoned("", pattern, 0)
	if want := []string{fmt.Sprintf("pacer-test-%d/node-dead", os.Getpid())}; err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %v, want %v, %v", removed, want, err)
	}
	left, err := filepath.Glob(filepath.Join(cgroup.DefaultRoot, "*", fmt.Sprintf("pacer-test-%d/node-dead", os.Getpid())))
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}
