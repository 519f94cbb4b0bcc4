package daemon

// guardEvent is something that a guard process learns.
type guardEvent int

const (
	// nodeStopped: the node controller has lifted its quotas and says so.
	nodeStopped guardEvent = iota
	// nodeDied: the node controller ended without saying so.
	nodeDied
	// guardReplaced: another guard of the same node takes over, so another node
	// controller runs.
	guardReplaced
	// guardEnded: somebody wants the guard to end (SIGTERM).
	guardEnded
	// waitOver: the time for a successor has passed.
	waitOver
)

// guardVerdict is what a guard does next.
type guardVerdict int

const (
	// guardOn goes on watching or waiting.
	guardOn guardVerdict = iota
	// guardLeave ends the guard; the quotas are somebody else's care.
	guardLeave
	// guardLift lifts all quotas, unless a successor has the node by now, and
	// ends the guard.
	guardLift
)

// guardRule decides for a guard. The zero value watches.
type guardRule struct {
	// orphaned says that the node controller is dead.
	orphaned bool
}

// next takes an event in. A guard that is told to end while its node controller lives stays. Where both are told (a
// service that stops, a machine that goes down) the node controller has quotas to lift first and may fail at it. Told
// without one it lifts at once rather than not at all.
func (r *guardRule) next(e guardEvent) guardVerdict {
	switch e {
	case nodeStopped, guardReplaced:
		return guardLeave
	case nodeDied:
		r.orphaned = true
	case guardEnded, waitOver:
		if r.orphaned {
			return guardLift
		}
	}
	return guardOn
}
