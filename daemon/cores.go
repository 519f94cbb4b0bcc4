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
