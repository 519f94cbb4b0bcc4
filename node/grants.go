package node

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Grant is what a controlled stage executor asks for and has, before rounding to
// the quantum.
type Grant struct {
	Key   Key
	Stage api.StageKey
	// Request is rc, Cores is cc; Floor is the least it should have.
	Request, Cores, Floor units.Cores
}

// Grants appends the division in force to into, in the order of the Plan: for
// those who check what must be true of it.
func (e *Engine) Grants(into []Grant) []Grant {
	for _, c := range e.division.active {
		if !c.active {
			continue
		}
		floor, _ := e.roster.bounds(c, e.division.capacity.cores())
		into = append(into, Grant{Key: c.x.key, Stage: c.target.StageKey, Request: c.request, Cores: c.grant, Floor: floor})
	}
	return into
}
