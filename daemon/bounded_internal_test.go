package daemon

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/units"
)

// An executor has a memory limit from its start, but where its mode lets nothing be written for it
// and its user has no bounds.
func TestABoundedUsersExecutorHasAMemoryLimitInEveryMode(t *testing.T) {
	for _, c := range []struct {
		mode    api.Mode
		bounded bool
		limit   units.Bytes
	}{
		{api.ModeControl, false, units.GiB}, {api.ModeControl, true, units.GiB},
		{api.ModeObserve, false, 0}, {api.ModeObserve, true, units.GiB},
		{api.ModeOff, false, 0}, {api.ModeOff, true, units.GiB},
	} {
		groups, err := cgroup.Open(cgrouptest.NewWithMemory(t, cgrouptest.V2).Root, "pacer/node-n1")
		if err != nil {
			t.Fatal(err)
		}
		x := newCrowdOn(t, groups, 0, 1).executors
		x.command = func(node.Key, api.Launch, executor.Paths, executor.Credential) (executor.CommandLine, error) {
			return executor.CommandLine{Args: []string{executor.FakeRuns}, Memory: units.GiB}, nil
		}
		key := node.Key{App: "app-1", ID: "1"}
		if err := x.Start(t.Context(), key, api.Launch{Mode: c.mode, Bounded: c.bounded}, false); err != nil {
			t.Fatal(err)
		}
		if got := x.group(key).MemoryLimit(); got != c.limit {
			t.Errorf("mode %s, bounded %v: the limit is %v, want %v", c.mode, c.bounded, got, c.limit)
		}
	}
}
