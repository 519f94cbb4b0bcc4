package ledger

import (
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/profiles"
)

// Extra is what is estimated of a stage that its run's profile lacks, and its place in the run's course.
type Extra struct {
	dag.Extra
	// By is what its work was estimated from when it became ready.
	By profiles.Basis `json:"by"`
}
