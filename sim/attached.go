package sim

import (
	"math"

	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/sim/plant"
)

// seek has the node controller find an executor of another cluster manager.
func (a *agent) seek(key node.Key) {
	engine := a.engine
	a.w.clock.After(launchTime, rankNode, a.m.ID, func() {
		if p := a.m.Find(key); p != nil && a.engine == engine {
			p.Unsought = false
			a.seen.changed = a.w.clock.Now()
			a.observe()
		}
	})
}

// letGo leaves an executor of another cluster manager as it was found. It returns false for any other one.
func letGo(p *plant.Process) bool {
	if p.Driver.App.Attach == nil {
		return false
	}
	p.Unsought = true
	p.SetQuota(math.Inf(1))
	return true
}
