package daemon

import (
	"sync"
	"time"

	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// heardNodes notes when nodes sent statuses while a planner stands by. It is safe for concurrent use.
type heardNodes struct {
	now  func() units.Instant
	mu   sync.Mutex
	last planner.Overheard
}

// hearNodes listens to nodes until stop is called.
func hearNodes(conn *bus.Conn, now func() units.Instant) (o *heardNodes, stop func(), err error) {
	o = &heardNodes{now: now, last: planner.Overheard{}}
	stop, err = bus.OverhearNodes(conn, o.heard)
	return o, stop, err
}

func (o *heardNodes) heard(node string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last[node] = o.now()
}

// silence is for how long nodes have been silent, as far as they could have been heard.
func (o *heardNodes) silence(listened time.Duration) planner.Silence {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last.Silence(o.now(), listened)
}
