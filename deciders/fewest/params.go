package fewest

import "github.com/sparkpacer/pacer/units"

// Params are the numbers of this decider. They were chosen on the 300 applications of sim/attach against its oracle
// (docs/decisions/051-attached-executors.md); the bench rows attach.virtual say what they are worth. The source has no
// such decider.
type Params struct {
	// Enough is the part of what is left of a deadline by which an application is to end at all cores; 0.88.
	Enough units.Seconds
	// Late is the part from which it asks for more; 0.93. Spare is the one by which it would end with fewer executors that
	// may go; 0.84. Between the two nothing changes, so that no executor is asked for and given back by turns.
	Late, Spare units.Seconds
	// Comes is after how long an executor that is asked for is taken to be there; 60 s, in which the manager of
	// sim/attach gives half of what is asked for.
	Comes units.Seconds
	// Idle is for how long fewer have to be enough before some go; 30 s.
	Idle units.Seconds
	// Worth is what has to be left of a deadline for an executor to be given back; 60 s: its blocks are moved to
	// others first.
	Worth units.Seconds
	// Gain is the part of what is left that more executors have to bring where none are enough; 0.02.
	Gain units.Seconds
}

// Default returns what planners use.
func Default() Params {
	return Params{Enough: 0.88, Late: 0.93, Spare: 0.84, Comes: 60, Idle: 30, Worth: 60, Gain: 0.02}
}

var params = Default()
