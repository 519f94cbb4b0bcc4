package daemon

import (
	"sync"
	"time"

	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// overheard notes nodes' statuses while a planner stands by. It is safe for concurrent use.
type overheard struct {
	now  func() units.Instant
	mu   sync.Mutex
	last planner.Overheard
}

// overhear listens to nodes until stop is called.
func overhear(conn *bus.Conn, now func() units.Instant) (o *overheard, stop func(), err error) {
	o = &overheard{now: now, last: planner.Overheard{}}
	stop, err = bus.OverhearNodes(conn, o.heard)
	return o, stop, err
}

func (o *overheard) heard(node string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last[node] = o.now()
}

// silence is for how long nodes have been silent, as far as they could have been heard.
func (o *overheard) silence(listened time.Duration) planner.Silence {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last.Silence(o.now(), listened)
}
