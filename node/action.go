package node

import (
	"strconv"

	"github.com/sparkpacer/pacer/api"
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
)

var actionNames = [...]string{"set quota", "set weight", "save", "start", "stop", "report", "measure", "want memory", "set memory limit"}

// String returns the kind's name in lower case.
func (k ActionKind) String() string {
	if k < 0 || int(k) >= len(actionNames) {
		return "unknown action"
	}
	return actionNames[k]
}

// Weight is the CPU weight of an executor's group among its siblings, as a multiple of the
// kernel's default; of all executors together it is the weight against one busy thread of
// the rest of the machine on each CPU.
type Weight float64

const (
	// WeightUnset is a weight that was never written.
	WeightUnset Weight = 0
	// WeightLow is for an executor without a stage: it serves shuffle and
	// cached blocks from what the others leave.
	WeightLow Weight = 0.1
	// WeightNormal is for an executor that runs tasks.
	WeightNormal Weight = 1
	// WeightBehind is for all that share what others leave, together, while there are others. A
	// quota would leave idle what those do not use of theirs; a weight does not.
	WeightBehind Weight = 1.0 / 15
	// WeightPromised is for all executors while one of them has a deadline to keep and the rest
	// of the machine has left too little for it: four parts in five of each CPU are theirs.
	WeightPromised Weight = 4
	// WeightEven is for all executors while one has a deadline to keep: half of each CPU is for
	// drivers, which are of the rest of the machine. With a fifth they hand tasks out so late
	// that the executors of others take their cores; with more, drivers of others do.
	WeightEven Weight = 1
	// WeightShared is for all executors while none has: four parts in five of each CPU are for
	// drivers. The start of one takes twice as long with half of it, and half a minute with a
	// fifth.
	WeightShared Weight = 0.25
)

// String returns the weight's name, or its number.
func (w Weight) String() string {
	switch w {
	case WeightUnset:
		return "unset"
	case WeightLow:
		return "low"
	case WeightNormal:
		return "normal"
	}
	return strconv.FormatFloat(float64(w), 'g', 4, 64)
}

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
	Launch *api.Launch
	State  *State
	Status *api.NodeStatus
}
