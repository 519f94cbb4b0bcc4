package node

import (
	"time"

	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// Sample is what the shell saw at one moment. The engine keeps nothing of it
// after the call, so that the shell may fill the same one again.
type Sample struct {
	// Executors are all executors that the runtime knows, those that it
	// recovered included, in any order. An executor that the engine has started and that is missing, with no Failure for
	// it, is still being started.
	Executors []ExecutorSample
	// HostUsed is the CPU time used by the whole machine since its boot; 0 when
	// it cannot be read.
	HostUsed units.Work
	// Deaf says that nothing of what a planner sends can come through: the bus is away.
	Deaf bool
	// Failures are the actions that have failed since the last Sample.
	Failures []Failure
}

// ExecutorSample is one executor as the shell saw it.
type ExecutorSample struct {
	Key Key
	// Exited says that its process is gone; Exit and ExitCode say how.
	Exited   bool
	Exit     string
	ExitCode int
	// Refused is as in Process.
	Refused bool `json:",omitzero"`
	PID     int
	// Measured says that CPU, Throttled and Quota were read.
	Measured bool
	// CPU and Throttled are its group's, since the group was made.
	CPU       units.Work
	Throttled time.Duration
	// Quota is the quota in force, units.Unlimited for none.
	Quota units.Cores
	// Writer names who was last seen to write the quota beside this node
	// controller; "" when that is not known.
	Writer string
	Found
	// Memory is what was seen of its memory.
	Memory ExecutorMemory `json:",omitzero"`
	// Page is its progress page; Generation 0 means that none could be read.
	Page meter.Page
}

// Failure is an action that the shell could not carry out.
type Failure struct {
	Kind ActionKind
	Key  Key
	// Err says why, for the log and the status.
	Err string
}
