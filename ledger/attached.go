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
