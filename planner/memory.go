package planner

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/behind"
	"github.com/sparkpacer/pacer/deciders/handover"
)

// memory is what an engine remembers beside the ledger and the marks of the agenda. A planner that starts has none.
type memory struct {
	even   evenness
	tails  handover.Decider
	behind behind.Choice
	doubts doubts
	lent   lent
	spare  string // The node of which it was said last that it may sleep.
}

func newMemory() memory {
	return memory{doubts: doubts{}, lent: lent{disputes: map[string]string{}, strange: map[api.AppID]bool{}}}
}
