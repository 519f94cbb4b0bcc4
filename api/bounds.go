package api

import (
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of what comes in, in bytes where nothing else is said. They are far beyond what
// Spark and people need, and small enough that no message makes a planner or a node work or
// remember without end. The jar keeps to those that would end an application if it did not:
// it shortens texts, and divides what it has to say over batches (Wire.scala, Outbox.scala).
const (
	// MostToken is that of ids: of applications, submissions, executors, incarnations, versions.
	MostToken = 128
	// MostName is that of names: of applications, profiles, users, hosts, stages, images.
	MostName = 1024
	// MostText is that of texts that explain: reasons, exits.
	MostText = 8 << 10
	// MostPath is that of a path of the file system (PATH_MAX of Linux).
	MostPath = 4096
	// MostLaunch is that of all texts of a Launch together: each Plan carries it until the
	// node has said that it has it.
	MostLaunch = 64 << 10
	// MostPlanLaunches is that of all Launches and Components of a Plan, as JSON: with what else it has it
	// goes through the bus (bus.MaxPayload). An application that comes beyond it is turned down, one
	// that waits goes on waiting.
	MostPlanLaunches = 6 << 20
	// MostRegisterBytes is that of a registration, as JSON, which may write a byte as six.
	MostRegisterBytes = 1 << 20
	// MostEventBytes is that of one request with events, as JSON. One event has less by MostBindings and MostParents.
	MostEventBytes = 2 << 20
	// MostBackupPiece is that of a reply's part of a backup.
	MostBackupPiece = 1 << 20
	// BatchBytes is what a driver fills its requests to, by Event.Size.
	BatchBytes = 256 << 10

	// MostEvents is how many events a request has.
	MostEvents = 1000
	// MostBindings is how many executors a stage is bound to.
	MostBindings = 16 << 10
	// MostParents is how many stages a stage reads from.
	MostParents = 16 << 10
	// MostStages and MostEdges are how many stages a profile has, and how many parents
	// these have together: to foretell a run takes time that grows with the square of the
	// stages. A planner records no more of a run (its key stages).
	MostStages = 2000
	MostEdges  = 64 << 10
	// MostVariants is how many variants a profile has, itself counted.
	MostVariants = 4
	// MostExecutors and MostStageReports are how many executors and stages on executors a
	// node reports or has targets for, MostSamples how many ticks of each stage. A node sends no more than
	// mostTexts bytes about executors, and mostTicks of all stages: what a status may have at most goes through the bus.
	MostExecutors    = 4096
	MostStageReports = 4096
	MostSamples      = 8
	mostTexts        = 512 << 10
	mostBrief        = 64 // Of a text where they are too many.
	mostTicks        = 2 * MostStageReports
	// MostHosts is how many names and addresses a node's machine has.
	MostHosts = 256

	// MostOnHost is how many executors of an application a planner has a node hold that another manager has started.
	MostOnHost = 512
	// MostSlots is how many tasks an executor runs side by side.
	MostSlots = 4096
	// LeastTaskCPUs is the least that a task says that it uses.
	LeastTaskCPUs = 0.01

	// MostCount is that of tasks, cores and numbers of a kind (Spark counts them in 32 bits).
	MostCount = math.MaxInt32
	// MostExecutorID is the greatest number of an executor that a planner takes over.
	MostExecutorID = 1 << 14
	// MostUntold is of how many numbers of executors a planner takes it that there may have been some, though nobody
	// tells of these, beside as many as it was told of.
	MostUntold = 512
	// MostCores is that of a node, or of what somebody asks for on one.
	MostCores = 1 << 20
	// MostMemory is that of a node or an executor: 1 PiB.
	MostMemory = 1 << 50
	// MostMoved is what an executor can have moved, spilled or freed in all: sums of such sizes stay numbers.
	MostMoved = 1 << 56
	// MostAmount is that of times in seconds, of work in core-seconds, of weights and rates:
	// sums of them stay finite, and exact enough.
	MostAmount = 1e15
	// MostNumber is that of epochs, terms and the numbers of events and statuses: a counter
	// that was set there can still be counted on for ever. It fits a signed integer.
	MostNumber = 1 << 62
	// MostLead is by how much the epoch that a node follows may be greater than any that the
	// planner remembers. A planner whose state is older than what its nodes follow goes on
	// from theirs; at a million Plans a second it would be a dozen days behind.
	MostLead = 1 << 40
)

// mostFaults is how many faults of a value are listed; the others are counted.
const mostFaults = 20

// faults collects what is wrong with a value, so that a user sees it all at once. It
// allocates nothing as long as there is no fault.
type faults struct {
	list []string
	more int
	// of and place are what in puts before the next faults.
	of    string
	place int
	// pass is for what the value is looked at, parts what was wrong with the parts that left it.
	pass  pass
	parts []PartFault
}

// in says that what is looked at next is element i of a list.
func (f *faults) in(of string, i int) { f.of, f.place = of, i }

// out says that it is an element no more.
func (f *faults) out() { f.of = "" }

func (f *faults) add(format string, args ...any) {
	if len(f.list) == mostFaults {
		f.more++
		return
	}
	text := fmt.Sprintf(format, args...)
	if f.of != "" {
		text = fmt.Sprintf("%s[%d]: %s", f.of, f.place, text)
	}
	f.list = append(f.list, text)
}

func (f *faults) check(ok bool, format string, args ...any) {
	if !ok {
		f.add(format, args...)
	}
}

// between refuses what is not a number from least to most.
func (f *faults) between(what string, v, least, most float64) {
	if !(v >= least && v <= most) {
		f.add("%s is %v, want a number from %v to %v", what, v, least, most)
	}
}

// finite refuses what is not an amount.
func (f *faults) finite(what string, v float64) { f.between(what, v, 0, MostAmount) }

// bounded refuses what is larger than an amount, either way.
func (f *faults) bounded(what string, v float64) { f.between(what, v, -MostAmount, MostAmount) }

func (f *faults) positive(what string, v float64) {
	if !(v > 0 && v <= MostAmount) {
		f.add("%s is %v, want a finite number > 0, at most %v", what, v, MostAmount)
	}
}

// count refuses what is not a whole number from 0 to most.
func (f *faults) count(what string, n, most int) {
	if n < 0 {
		f.add("%s is negative (%d)", what, n)
	} else if n > most {
		f.add("%s is %d, at most %d are taken", what, n, most)
	}
}

// size is count for bytes.
func (f *faults) size(what string, n int64) {
	if n < 0 || n > MostMemory {
		f.add("%s is %d, want bytes from 0 to %d", what, n, int64(MostMemory))
	}
}

// known refuses a count that is neither one nor Unknown.
func (f *faults) known(what string, n int64) {
	if n < Unknown {
		f.add("%s is %d, want a count or %d for unknown", what, n, Unknown)
	}
}

// number refuses what a counter cannot go on from.
func (f *faults) number(what string, n uint64) {
	if n > MostNumber {
		f.add("%s is %d, beyond all reason", what, n)
	}
}

// text refuses what is longer than most.
func (f *faults) text(what, s string, most int) {
	if len(s) > most {
		f.add("%s has %d bytes, at most %d are taken", what, len(s), most)
	}
}

// Shortened is s where it has at most MostToken bytes, else a digest of it, which has one more and
// thus is no other's own: as a part of a key.
func Shortened(s string) string {
	if len(s) <= MostToken {
		return s
	}
	sum := sha512.Sum512([]byte(s))
	return "=" + hex.EncodeToString(sum[:])
}

// token is text for an id that becomes part of a subject, a path or a key.
func (f *faults) token(what, s string) {
	f.text(what, s, MostToken)
	if !plain(s) {
		f.add("%s %q: want letters, digits and punctuation without spaces", what, Clip(s, MostToken))
	}
}

// plain reports whether s has nothing but printable ASCII without spaces.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

func (f *faults) err(what string) error {
	if len(f.list) == 0 {
		return nil
	}
	list := f.list
	if f.more > 0 {
		list = append(slices.Clone(list), fmt.Sprintf("and %d more", f.more))
	}
	return Errorf(KindInvalid, "%s: %s", Clip(what, MostName), strings.Join(list, "; "))
}

// Clip is s, or as much of its beginning as is not longer than most bytes with an ellipsis
// behind it. It cuts no character in two.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const ellipsis = "..."
	end := max(0, most-len(ellipsis))
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis
}
