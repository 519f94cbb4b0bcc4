package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/oklog/run"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/node"
)

// Up runs a planner and a node controller in this process until ctx ends, which
// is no error. The applications' executors end with it.
func Up(ctx context.Context, cfg UpConfig) error {
	LimitMemory()
	if err := cfg.Validate(); err != nil {
		return err
	}
	p, err := NewPlanner(cfg.Planner)
	if err != nil {
		return err
	}
	var n *NodeDaemon
	n, err = newNode(cfg.inProcess(p, func() string { return n.runsIn() }), node.End)
	if err != nil {
		return errors.Join(err, p.Close())
	}
	var g run.Group
	untilDone(ctx, &g)
	// The planner outlives the node, which tells it that it leaves.
	inOrder(&g, n.Run)
	inOrder(&g, p.Run)
	return g.Run()
}

// inProcess is the node's configuration beside the planner in the same process;
// runsIn is asked when the node is ready.
func (c UpConfig) inProcess(p *PlannerDaemon, runsIn func() string) NodeConfig {
	n := c.Node
	n.Planner, n.Plaintext, n.Owners = p.Address(), c.Planner.Plaintext, c.Planner.Owners
	n.TLS = c.Planner.beside(n.HTTP)
	n.TLS.CA = cmp.Or(n.TLS.CA, c.Planner.Trust().CA) // Drivers on the node reach the planner as others do.
	if server := p.Bus(); server != nil {
		if c.Planner.Listen == "" {
			n.Planner = bus.DefaultAddress // No planner listens there: it only tells the node that it is on this machine.
		}
		deps := Deps{}
		if n.Deps != nil {
			deps = *n.Deps
		}
		deps.Known, deps.Dial = true, func(o bus.Options) (*bus.Conn, error) {
			return server.ConnectAs(api.Principal{Kind: api.PrincipalNode, Name: n.Name}, o)
		}
		n.Deps = &deps
	}
	if n.Host == "" {
		n.Host = facing(n.Planner)
	}
	n.Ready = func(string) {
		if c.Ready != nil {
			c.Ready(fmt.Sprintf("pacer is ready: planner on %s, node %s offers %v of %v cores and %v%s", p.Address(), n.Name,
				n.offered(),
				n.TotalCores, n.Memory, runsIn()))
		}
		if link := p.web.link(p.site, c.Planner.Owners); c.Link != nil && link != "" {
			c.Link(link)
		}
	}
	return n
}

// LimitMemory keeps a daemon small: collect more often than Go would by itself
// (the heaps are a few MiB, a tick makes hardly any garbage), and hold back
// before the machine has to.
func LimitMemory() {
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(memoryLimit)
}

// LimitPlannerMemory is LimitMemory for a planner: its heap has what it knows of all nodes and applications. An event
// that meets a collection takes twice as long or more, so there are to be fewer of them.
func LimitPlannerMemory() {
	debug.SetGCPercent(150)
	debug.SetMemoryLimit(memoryLimit)
}

// memoryLimit is the soft limit of the Go runtime's memory. A planner of 1,000 applications on
// 10,000 nodes stays below it (plan.scale_rss_mib in docs/figures.md).
const memoryLimit = 512 << 20
