package daemon

import (
	"cmp"
	"context"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/cgroup/cgrouptest"
	"github.com/sparkpacer/pacer/units"
)

func TestANodeWhoseLoopStandsStillIsNotHealthy(t *testing.T) {
	c := DefaultNodeConfig()
	now := units.Instant(time.Hour)
	c.Jar, c.State, c.HTTP, c.CgroupRoot, c.Name = "/some.jar", t.TempDir(), "", cgrouptest.New(t, cgrouptest.V1Separate).Root, "n1"
	c.ExecutorUser = cmp.Or(c.ExecutorUser, "root")
	c.Deps = &Deps{
		Clock: func() units.Instant { return now },
		Dial: func(o bus.Options) (*bus.Conn, error) {
			o.Dialer = func() (net.Conn, error) { return nil, syscall.ECONNREFUSED }
			return bus.Dial(o)
		},
	}
	n, err := NewNode(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	// The loop answers after its first tick; with this clock there is no second.
	if _, err := n.loop.Status(ctx); err != nil {
		t.Fatal(err)
	}
	if err := n.alive(); err != nil {
		t.Errorf("after a tick: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	now = now.Add(6 * time.Second)
	if err := n.alive(); err == nil || !strings.Contains(err.Error(), "has not ticked for 6s") {
		t.Errorf("6 s later: %v", err)
	}
}
