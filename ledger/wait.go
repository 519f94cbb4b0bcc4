package ledger

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Wait is where an application waits that is queued.
type Wait struct {
	// Since is when it came.
	Since units.Instant `json:"since"`
	// Resumed says that another planner, or this one before it lost its state, had taken it in: it may have run.
	Resumed bool `json:"resumed,omitempty"`
	// Place counts from 1, Of is how many waited when it was given.
	Place int `json:"place"`
	Of    int `json:"of"`
	// Start is when it is expected to start, Latest when it has to in order to be in time;
	// 0 where that is not known.
	Start  units.Instant `json:"start,omitempty"`
	Latest units.Instant `json:"latest,omitempty"`
	// Node is where memory is kept for it as it comes free, "" for nowhere.
	Node string `json:"node,omitempty"`
	Why  string `json:"why,omitempty"`
	// Idle says who holds memory that it could use, and runs no tasks; "" of nobody.
	Idle string `json:"idle,omitempty"`
	// Plan says that it waits for room in the Plan of a node, and not for memory.
	Plan bool `json:"plan,omitempty"`
}

// Reason is one line: what it waits for, and who could give it that.
func (w *Wait) Reason() string {
	if w.Idle == "" {
		return w.Why
	}
	return w.Why + "; " + w.Idle
}

// Given is an executor that an application was asked to give back for another one that waits.
type Given struct {
	App  api.AppID
	ID   api.ExecutorID
	Node string
}
