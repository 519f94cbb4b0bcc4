package ledger

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Ended is an application that is over.
type Ended struct {
	At units.Instant `json:"at"`
	// DriverLost says that it failed without a word of its driver, which may
	// therefore come back.
	DriverLost bool `json:"driver_lost,omitempty"`
	// Killed says that somebody asked for its end.
	Killed bool          `json:"killed,omitempty"`
	Detail api.AppDetail `json:"detail"`
	// Account is what the line about its end is made of, if its exit becomes known later.
	Account Account `json:"account,omitzero"`
	// Thinned says that its samples have been cut down.
	Thinned bool `json:"thinned,omitempty"`
	// Bytes is what it takes as it is stored.
	Bytes int `json:"-"`

	version uint64
}

// Version is that of the ledger when d was told, or amended, last (App.Version).
func (d *Ended) Version() uint64 { return d.version }

// history are the applications that are over.
type history struct {
	ended []*Ended // Oldest first.
	bytes int      // The sum of their Bytes.
	runs  runShelf
}

type endedRecord struct {
	V int `json:"v"`
	Ended
}

// Account is what the line about an application's end is made of. It is kept with the
// application's history: the exit may become known later.
type Account struct {
	Start     units.Instant `json:"start,omitempty"`
	UTCOffset int           `json:"utc_offset_s,omitempty"`
	Deadline  units.Seconds `json:"deadline_s,omitempty"`
	Moved     units.Seconds `json:"deadline_moved_s,omitempty"` // Owner.Moved.
	// Stopped is when the context stopped, 0 where the driver did not say; Exit is
	// what the profile reckoned with after it.
	Stopped units.Seconds `json:"stopped_s,omitempty"`
	Exit    units.Seconds `json:"exit_s,omitempty"`
	// Suspended is for how long its machine was.
	Suspended units.Seconds `json:"suspended_s,omitempty"`
	Mean      units.Cores   `json:"mean_cores,omitempty"`
	Cores     units.Cores   `json:"cores,omitempty"`
	// Work is what its stages used, 0 where they were not those of its profile; Profiled is what these use at all
	// cores, 0 where that is not known.
	Work     units.Work `json:"core_seconds,omitempty"`
	Profiled units.Work `json:"profiled_core_seconds,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	// Causes are what made it slower than planned, the largest first; Parts is where its time went.
	Causes []string      `json:"causes,omitempty"`
	Parts  []api.WhyPart `json:"parts,omitempty"`
	// Unforeseen is what its profile did not foresee: work that was estimated, and targets that were paused.
	Unforeseen []string `json:"unforeseen,omitempty"`
}
