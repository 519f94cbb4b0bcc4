package node

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// ActionKind says what an Action does.
type ActionKind int

const (
	// ActSetQuota sets Key's CPU quota to Cores (units.Unlimited lifts it).
	ActSetQuota ActionKind = iota
	// ActSetWeight sets Key's CPU weight to Weight, with the zero Key that of all executors.
	ActSetWeight
	// ActSave persists State.
	ActSave
	// ActStart starts executor Key with Launch.
	ActStart
	// ActStop stops executor Key, if it runs, and removes its group.
	ActStop
	// ActReport publishes Status.
	ActReport
	// ActMeasure is in Failures only: an executor's group could not be read.
	ActMeasure
	// ActWantMemory puts a wish on Key's wish page: Memory off the heap. Its memory limit is
	// raised to Limit first, unless that is 0; without that there is no wish.
	ActWantMemory
	// ActSetMemoryLimit lowers Key's memory limit to Limit, or as far as what it uses allows.
	ActSetMemoryLimit
	// ActShieldMemory has the kernel protect Memory of Key where memory is short, or take it first where it Yields.
	ActShieldMemory
)

var actionNames = [...]string{"set quota", "set weight", "save", "start", "stop", "report", "measure", "want memory",
	"set memory limit", "shield memory"}

// String returns the kind's name in lower case.
func (k ActionKind) String() string {
	if k < 0 || int(k) >= len(actionNames) {
		return "unknown action"
	}
	return actionNames[k]
}

// Weight is the CPU weight of an executor's group among its siblings, with the zero Key that of all
// executors against the rest of the machine.
type Weight = sharing.Weight

// Action is one effect that the shell has to carry out. It is a plain struct
// rather than an interface so that a tick makes no garbage. Which fields count
// depends on Kind. State and Status, and the slice that Step returns, are valid
// until the engine's next call.
type Action struct {
	Kind   ActionKind
	Key    Key
	Cores  units.Cores
	Weight Weight
	Memory units.Bytes
	Limit  units.Bytes
	Lent   bool
	Yields bool
	Launch *api.Launch
	// Component is what ActStart starts in an executor's place, nil for an executor.
	Component *api.Component
	State     *State
	Status    *api.NodeStatus
}
