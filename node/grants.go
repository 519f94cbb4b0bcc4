package node

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Grant is what an executor with running tasks asks for and has, before rounding to
// the quantum.
type Grant struct {
	Key   Key
	Stage api.StageKey
	// Unheld says that no target holds it: Cores is its part, and no quota.
	Unheld bool
	// Request is rc, Cores is cc; Floor is the least it should have.
	Request, Cores, Floor units.Cores
}

// Grants appends the division in force to into, in the order of the Plan: for
// those who check what must be true of it. Observed applications have no part in it.
func (e *Engine) Grants(into []Grant) []Grant {
	for i, p := range e.division.part[:e.division.watched] {
		if c := p.c; c == nil {
			asked := e.division.stages[i].Request
			into = append(into, Grant{Key: p.x.key, Unheld: true, Request: asked, Cores: e.division.grants[i],
				Floor: min(e.roster.cfg.Floor, asked)})
		} else if c.active {
			floor, _ := e.roster.bounds(c, e.division.capacity.cores())
			into = append(into, Grant{Key: c.x.key, Stage: c.target.StageKey, Request: c.request, Cores: c.grant, Floor: floor})
		}
	}
	return into
}
