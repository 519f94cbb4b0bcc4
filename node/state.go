package node

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// StateVersion is the layout of State that this build writes and reads.
const StateVersion = 2

// State is all that an engine has to remember beyond its own life; it survives
// a round trip through JSON. Quotas are not in it, but for those
// of others that are yielded to: what is in force is read back. Nor are secrets: the planner
// tells them to a node controller that starts.
type State struct {
	Version int `json:"version"`
	// Boot is Config.Boot: the Instants below count from that boot.
	Boot string   `json:"boot"`
	Plan api.Plan `json:"plan"`
	// Orphans are those of the Plan's applications that it did not have itself.
	Orphans map[api.AppID]units.Instant `json:"orphans,omitempty"`
	// Deadlines are the applications' anchored deadlines, as in Plan.Apps.
	Deadlines []units.Instant `json:"deadlines"`
	// Needs is what they still have to use here to be in time, as in Plan.Apps.
	Needs     []units.Work    `json:"needs"`
	Executors []ExecutorState `json:"executors"`
	Stages    []StageState    `json:"stages"`
	Controls  []ControlState  `json:"controls"`
}

// Clone returns a copy that the engine's next call does not change.
func (s *State) Clone() *State {
	// A list that is empty stays so, and does not become null in JSON.
	c := State{Deadlines: s.Deadlines[:0:0], Needs: s.Needs[:0:0], Executors: s.Executors[:0:0], Stages: s.Stages[:0:0],
		Controls: s.Controls[:0:0]}
	c.copyFrom(s)
	return &c
}

// copyFrom makes s a copy of from that the engine's next call does not change, in the
// memory that s has.
func (s *State) copyFrom(from *State) {
	deadlines, needs := append(s.Deadlines[:0], from.Deadlines...), append(s.Needs[:0], from.Needs...)
	executors := append(s.Executors[:0], from.Executors...)
	stages, controls := append(s.Stages[:0], from.Stages...), append(s.Controls[:0], from.Controls...)
	*s = *from // The Plan is never changed, nor are the orphans.
	s.Deadlines, s.Needs, s.Executors, s.Stages, s.Controls = deadlines, needs, executors, stages, controls
}

// ExecutorState is an executor that was started: it is never started again.
type ExecutorState struct {
	Key   Key               `json:"key"`
	State api.ExecutorState `json:"state"`
	Exit  string            `json:"exit,omitempty"`
	Code  int               `json:"code,omitempty"`
	// CPU is its group's at the last tick, Measured says that it was read.
	CPU      units.Work `json:"cpu"`
	Measured bool       `json:"measured"`
	// Memory is how it was started, zero where that is not known.
	Memory HoldingState `json:"memory,omitzero"`
	// Yields is nil unless somebody else's quota is yielded to.
	Yields *YieldState `json:"yields,omitempty"`
}

// HoldingState is what an executor has of the node's memory in any case: the Plan does not say
// so any more of one that is being stopped.
type HoldingState struct {
	Heap     units.Bytes `json:"heap"`
	Overhead units.Bytes `json:"overhead"`
	Floor    units.Bytes `json:"floor"`
	Still    bool        `json:"still,omitempty"`
	// Resident are samples of what it has used, oldest first, where memory is lent. They are never changed.
	Resident []float64 `json:"resident,omitempty"`
}

// StageState is what was recorded of a stage attempt on an executor.
type StageState struct {
	Executor     Key            `json:"executor"`
	Stage        api.StageKey   `json:"stage"`
	CPU          units.Work     `json:"cpu"`
	PageCPU      units.Work     `json:"page_cpu"`
	Finished     int            `json:"finished"`
	Failed       int            `json:"failed"`
	Weight       float64        `json:"weight"`
	Active       units.Instant  `json:"active"`
	Changed      units.Instant  `json:"changed"`
	Progress     units.Fraction `json:"progress"`
	QuotaChanges int            `json:"quota_changes"`
}

// ControlState is a target in force: its anchor and its controller.
type ControlState struct {
	Executor Key             `json:"executor"`
	Target   api.StageTarget `json:"target"`
	Start    units.Instant   `json:"start"`
	Deadline units.Instant   `json:"deadline"`
	From     float64         `json:"from"`
	// Held is until when the target's Hold counts.
	Held units.Instant `json:"held,omitempty"`
	// Meter is what its progress had come to.
	Meter meter.State `json:"meter"`
	// Width is what its tasks were seen to use.
	Width width `json:"width,omitzero"`
	// At is the page timestamp of the last step, Grant the last grant.
	At    units.Instant `json:"at"`
	Grant units.Cores   `json:"grant"`
	// Began says that Controller counts.
	Began      bool             `json:"began"`
	Controller controller.State `json:"controller"`
}
