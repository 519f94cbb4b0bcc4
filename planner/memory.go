package planner

import (
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/behind"
	"github.com/sparkpacer/pacer/deciders/handover"
	"github.com/sparkpacer/pacer/units"
)

// memory is what an engine remembers beside the ledger and the marks of the agenda. A planner that starts has none.
type memory struct {
	shares   shares
	reserved reserving
	even     evenness
	tails    handover.Decider
	behind   behind.Choice
	doubts   doubts
	lent     lent
	// silence is what the uptime will be at least when the next node is lost or forgotten.
	silence time.Duration
	// woke is when the applications of a user have woken a node, for as long as that counts; over is for how many rounds
	// on end nodes have been overloaded; spare is what was last said of a node that may sleep.
	woke  map[string]units.Instant
	over  map[string]int
	spare string
}

func newMemory() memory {
	return memory{doubts: doubts{}, woke: make(map[string]units.Instant),
		lent: lent{disputes: map[string]string{}, strange: map[api.AppID]bool{}}}
}
