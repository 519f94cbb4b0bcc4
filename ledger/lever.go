package ledger

import "github.com/sparkpacer/pacer/units"

// Lever is a fact that a decider may ask for: it changes what runs. Deciders read a View and return
// levers; package planner records them, and what cannot be true the ledger refuses.
type Lever interface {
	Fact
	lever()
}

func (Registered) lever()      {} // Enter: start or wait.
func (Started) lever()         {} // Enter: start.
func (TurnedDown) lever()      {} // Enter: refuse.
func (Capped) lever()          {} // Cap.
func (Judged) lever()          {} // Band: what is thought of a deadline, and the gate that this means.
func (GateSet) lever()         {} // Band: let go, or held back again.
func (ModeSet) lever()         {} // Band: let go for good.
func (PutBehind) lever()       {} // Band: after the others of it, or no more.
func (TargetsDropped) lever()  {} // Band: all cores.
func (Seated) lever()          {} // Give seats.
func (ReplacementSent) lever() {} // Give a seat again that was lost.
func (ExecutorLeaving) lever() {} // Take a seat back, for one that waits or because its node drains.
func (ExecutorTaken) lever()   {} // Take a seat back at once, whose memory is lent.
func (ClaimKept) lever()       {} // Promise a seat's memory that was lent.
func (PlaceGivenBack) lever()  {} // Ceiling: what is kept for a lost seat is anybody's; else it goes with seats.
func (StageAimed) lever()      {} // Aim.
func (StageTargeted) lever()   {} // Aim at the deadline that stands.
func (StageShared) lever()     {} // Hand over.

// Farthest bounds the time left that a target may say, in seconds: a year says
// as much as more would, and stays far from any clock's overflow.
const Farthest units.Seconds = 365 * 24 * 3600
