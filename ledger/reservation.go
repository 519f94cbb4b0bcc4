package ledger

import "github.com/sparkpacer/pacer/units"

// Reservation is what an application whose deadline nobody can foresee is promised of cores: it gets as many at least
// until it ends or is due. Nothing holds it back to them.
type Reservation struct {
	// Cores are of all its nodes, of each in proportion to what that offers; 0 where it has none, and never had one. From
	// is since when, on its deadline clock.
	Cores units.Cores   `json:"cores,omitempty"`
	From  units.Seconds `json:"from_s,omitempty"`
	// Over says that it was due, or somebody let it go: it has shared what others leave since. Dropped says that it gets
	// none: all that it can use would not be enough.
	Over    bool `json:"over,omitempty"`
	Dropped bool `json:"dropped,omitempty"`
}

// Held are the cores that are reserved now.
func (r *Reservation) Held() units.Cores {
	if r.Over {
		return 0
	}
	return r.Cores
}

// DeadlinesKey is that of what is learnt of deadlines (QueueLearnt). No profile has it, and it is never dropped for
// others.
const DeadlinesKey = ""

// NodesKey is that of what is learnt of executors that share nodes (QueueLearnt), by which nodes sleep. No profile has
// it, it is never dropped for others, and it may take more bytes than what is learnt of one profile.
const NodesKey = "\x00nodes"
