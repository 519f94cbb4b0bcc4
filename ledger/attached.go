package ledger

import "github.com/sparkpacer/pacer/units"

// Attached is what is known of an executor that another cluster manager has started. It is not changed: of what is new
// another one is made.
type Attached struct {
	// Host is where it runs, Container its container or pod, "" where that is not known.
	Host      string `json:"host"`
	Container string `json:"container,omitempty"`
	// Machine is the id of the boot of its machine, "" where that is not known.
	Machine string `json:"machine,omitempty"`
	// Cores are its task slots, Memory what it takes, as Spark tells them.
	Cores  int         `json:"cores"`
	Memory units.Bytes `json:"memory_bytes,omitempty"`
	// Ceiling, Unguarded and Unpaced are what its node said last (api.ExecutorStatus).
	Ceiling   units.Cores `json:"ceiling_cores,omitempty"`
	Unguarded bool        `json:"unguarded,omitempty"`
	Unpaced   string      `json:"unpaced,omitempty"`
}

// Attachment is how an application stands whose executors another cluster manager starts.
type Attachment struct {
	// Observed says why nothing is held back, "" where it is.
	Observed string `json:"observed,omitempty"`
	// Wanted is how many executors its driver asks for in all, 0 for as many as its user has said, and On hosts where
	// they would be best.
	Wanted int      `json:"wanted,omitempty"`
	On     []string `json:"wanted_on,omitempty"`
	// Asked is when Wanted was last another number, Spare since when fewer would do, 0 where they would not; both on
	// the deadline clock.
	Asked units.Seconds `json:"asked_s,omitempty"`
	Spare units.Seconds `json:"spare_since_s,omitempty"`
}
