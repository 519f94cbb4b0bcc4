package daemon

import (
	"sync"
	"time"

	"github.com/sparkpacer/pacer/bus"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// overheard is when a planner that stands by has last heard each node. A node may be lost with
// the planner that served: who takes over need not wait for as long again to know. It is safe
// for concurrent use.
type overheard struct {
	now  func() units.Instant
	mu   sync.Mutex
	last map[string]units.Instant
}

// overhear listens to nodes until stop is called.
func overhear(conn *bus.Conn, now func() units.Instant) (o *overheard, stop func(), err error) {
	o = &overheard{now: now, last: map[string]units.Instant{}}
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
	now, s := o.now(), planner.Silence{Listened: listened, Last: map[string]time.Duration{}}
	for node, at := range o.last {
		s.Last[node] = now.Sub(at)
	}
	return s
}
