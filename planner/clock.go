package planner

import (
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// clockOff is how far the planner's reading of a deadline clock may be from the driver's; more
// than a message is on its way.
const clockOff units.Seconds = 5

// farthestOff is the most that a clock can have been set by: 63 years, more than lie between now
// and where a machine begins that has lost the time. More than that is a driver's mistake.
const farthestOff units.Seconds = 2e9

// readClock takes in what a's deadline clock shows by its driver's word: now, or in the past, where
// it is of an event. That clock is the driver's (docs/decisions/003), which nobody sets; what the
// planner makes of it is off when the planner's own clock was set while the planner was down. A
// reading may have been held up on its way, so one that is behind counts only as the first one
// since the planner's start. It returns whether a's deadline is to be looked at anew.
func readClock(c *core, a *ledger.App, shows units.Seconds, now bool) (set bool) {
	ahead := shows - a.At(c.now)
	first := now && !a.Clocks.Read
	switch {
	case a.Over(), shows <= 0, ahead > farthestOff: // It says nothing.
		return false
	case ahead > clockOff, first && ahead < -clockOff:
	case first:
		c.record(ledger.ClockRead{App: a.ID})
		return false
	default:
		return false
	}
	return c.record(ledger.ClockRead{App: a.ID, Ahead: ahead}) && a.Promise.Deadline > 0
}
