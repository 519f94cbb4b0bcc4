package daemon

import (
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner/usage"
	"github.com/sparkpacer/pacer/units"
)

// coresHistory is who had the cluster's cores since the term began. It is beside the planner's loop, and safe for
// concurrent use.
type coresHistory struct {
	mu      sync.Mutex
	history usage.History
}

// status takes in what a node says, and hands it over to the loop.
func (t *term) status(s api.NodeStatus) {
	t.cores.take(&s)
	t.loop.Status(s)
}

func (c *coresHistory) take(s *api.NodeStatus) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history.Status(units.Instant(time.Now().UnixNano()), s)
}

// with is what q asks for, nil being the last 15 minutes, with what is promised from now on.
func (c *coresHistory) with(promised []api.PromisedCores, q *api.Query) *api.CoresHistory {
	if q == nil {
		q = &api.Query{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.history.Of(units.Instant(time.Now().UnixNano()), *q)
	h.Promised = promised
	return &h
}

// ofNodes adds to nodes who has their cores.
func (c *coresHistory) ofNodes(nodes []api.NodeSummary) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := units.Instant(time.Now().UnixNano())
	for i := range nodes {
		nodes[i].NodeCores = c.history.Node(now, nodes[i].Node)
	}
}

// lookedBack is how much of the cores' history somebody sees anew each second who looks.
const lookedBack = 3 * time.Second

// Look implements web.Planner.
func (t *term) Look(since uint64, reply func(api.Changes)) {
	t.loop.Look(since, func(c api.Changes) {
		if t.cores.ofNodes(c.Nodes); c.Error == nil {
			c.Cores = t.cores.with(c.Cores.Promised, &api.Query{Step: 1, After: time.Now().Add(-lookedBack)})
		}
		reply(c)
	})
}
