package daemon

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// A node controller that runs goes by another configuration: its engine and its disk; with a
// fault in it by none of that.
func TestANodeControllerGoesByAnotherConfiguration(t *testing.T) {
	c := DefaultNodeConfig()
	c.Name, c.State, c.HTTP, c.Planner, c.CgroupRoot, c.Jar = "n1", t.TempDir(), "", "127.0.0.1:1", cgrouptest.New(t, cgrouptest.V1Separate).Root, filepath.Join(t.TempDir(), "jar")
	c.TotalCores, c.Reserve, c.Memory = 2, 0.2, 4*units.GiB
	c.Deps = &Deps{Runtime: func(l executor.Layout, g *cgroup.Hierarchy) (executor.Runtime, error) {
		return executor.NewFake(l, g), nil
	}}
	n, err := NewNode(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	running, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- n.Run(running) }()

	next := c
	next.Engine.Supervisor.Strategy, next.Files.App, next.Files.Log = supervisor.Speed, units.GiB, units.MiB
	if err := n.Reload(ctx, next); err != nil {
		t.Fatal(err)
	}
	status, err := n.loop.Status(ctx)
	if err != nil || status.Division.Strategy != supervisor.Speed {
		t.Errorf("it divides by %q, %v", status.Division.Strategy, err)
	}
	if l := n.disk.within(); l.bounds.app != units.GiB || l.logs != units.MiB {
		t.Errorf("its disk has the limits %+v", l)
	}
	spoilt := next
	spoilt.Engine.Supervisor.Strategy, spoilt.Files.App, spoilt.Engine.Supervisor.Gamma = supervisor.EDFPure, 2*units.GiB, 3
	if err := n.Reload(ctx, spoilt); err == nil {
		t.Error("gamma 3 was taken")
	}
	if status, err := n.loop.Status(ctx); err != nil || status.Division.Strategy != supervisor.Speed || n.disk.within().bounds.app != units.GiB {
		t.Errorf("a configuration with a fault has changed it: %s, %v, %v", status.Division.Strategy, n.disk.within(), err)
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
