package cgrouptest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
)

// Real opens a parent of t's own on this machine's cgroups, by default
// "pacer-test-PID/node", and removes it at the end, when it has to be empty (see
// Clear). It skips t where there are no cgroups or no right to make groups.
func Real(t testing.TB, parent ...string) *cgroup.Hierarchy {
	t.Helper()
	sweep(t)
	path := fmt.Sprintf("pacer-test-%d/node", os.Getpid())
	if len(parent) > 0 {
		path = parent[0]
	}
	groups, err := cgroup.Open("", path)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, cgroup.ErrUnavailable) {
		t.Skipf("needs real cgroups: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := groups.Remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return groups
}

// sweep removes what tests that were killed have left.
func sweep(t testing.TB) {
	removed, err := cgroup.RemoveAbandoned("", "pacer-test-*", time.Minute)
	if len(removed) > 0 || err != nil {
		t.Logf("groups of tests that were killed: removed %v, %v", removed, err)
	}
}

// Clear removes all groups below the parent with the processes in them.
func Clear(t testing.TB, groups *cgroup.Hierarchy) {
	t.Helper()
	names, err := groups.Names()
	for _, name := range names {
		group, openErr := groups.Group(name)
		if err = errors.Join(err, openErr); openErr == nil {
			err = errors.Join(err, group.Remove(context.Background()))
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// AwaitForeignWrite waits until g, which is watched, knows that somebody else has
// written its quota.
func AwaitForeignWrite(t testing.TB, g *cgroup.Group) {
	t.Helper()
	tick, limit := time.NewTicker(time.Millisecond), time.After(10*time.Second)
	defer tick.Stop()
	for {
		if _, known := g.Last(); !known {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("the kernel has not told of the write")
		}
	}
}

// RealOthers claims the groups of this machine's other managers for t, and waits for tests that have
// them. It skips t where there are no cgroups or no right to use them.
func RealOthers(t testing.TB) *cgroup.Others {
	t.Helper()
	tick, limit := time.NewTicker(20*time.Millisecond), time.After(2*time.Minute)
	defer tick.Stop()
	for {
		o, err := cgroup.OpenOthers("")
		switch {
		case err == nil:
			t.Cleanup(func() {
				if err := o.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
					t.Error(err)
				}
			})
			return o
		case errors.Is(err, os.ErrPermission) || errors.Is(err, cgroup.ErrUnavailable):
			t.Skipf("needs real cgroups: %v", err)
		case api.KindOf(err) != api.KindConflict:
			t.Fatal(err)
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal(err)
		}
	}
}
