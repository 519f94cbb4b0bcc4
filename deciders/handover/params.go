package handover

import (
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Params are the numbers of this decider; times in seconds are on the deadline clock. They are Pacer's own, chosen
// by hand: the source hands no tails over, and no table varies them.
type Params struct {
	// PaceKnown is how long an executor must have been seen at work on a stage before its speed counts; 3 s.
	PaceKnown units.Seconds
	// HeldShare of what it asks for is what an executor gets that is not held back; 0.85: less tells of a node that is
	// slower than it says.
	HeldShare units.Cores
	// FreeShare of a node's free cores is counted on; 0.9: the rest is for what comes between.
	FreeShare units.Cores
	// Every is the least time between two hand-overs of a stage; 4 s: the changes of the first one have to show before the
	// next is decided.
	Every time.Duration
	// Rebinding is how long after a change of bindings the nodes' words are about the new shares; 2 s.
	Rebinding time.Duration
	// PriorTasks is how many mean tasks the profile's prediction of a stage's work weighs beside what the executor has
	// shown; 2, as in package meter.
	PriorTasks float64
	// LateShare of the time left is how late a part must threaten to be before work is moved; 0.05: controllers make up
	// for less. LateTask is how late the last task alone must threaten to be at least; 1 s.
	LateShare, LateTask units.Seconds
	// DeniedShare of its time without what it asked for makes a part one that others keep from its cores; 0.1.
	DeniedShare units.Seconds
	// LeastMove is the least weight worth moving, in mean tasks, and LeastMoveShare as a part of the stage; 1 and 0.005:
	// each move re-synchronises controllers.
	LeastMove, LeastMoveShare float64
}

// Default returns what planners use.
func Default() Params {
	return Params{PaceKnown: 3, HeldShare: 0.85, FreeShare: 0.9, Every: 4 * time.Second, Rebinding: 2 * time.Second,
		PriorTasks: 2, LateShare: 0.05, LateTask: 1, DeniedShare: 0.1, LeastMove: 1, LeastMoveShare: 0.005}
}

var params = Default()
