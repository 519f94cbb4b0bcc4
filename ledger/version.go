package ledger

import "math/bits"

// parts are parts of an application that are saved or told apart from each other. The version of
// each is the number of the batch in which it changed last: by that Close knows what is new.
type parts uint8

const (
	// partRecord is its record, saved when the batch closes.
	partRecord parts = 1 << iota
	// partMarks are its Marks and the epochs of its executors' Plans, saved when the batch closes.
	partMarks
	// partProfile is its own copy of its profile, saved when the batch closes.
	partProfile
	// partFigures is what nodes say of it, saved with its record or by a flush.
	partFigures
	// partFlush changes when its figures are to be saved.
	partFlush
	// partFolded is what it has Folded, saved when the batch closes.
	partFolded
	// partPlans is what Plans and its Directive are made of.
	partPlans

	allParts = iota
	// partNone is what passes with time, is read by snapshots, and is not kept.
	partNone parts = 0
	// partState is what most facts change of an application, partTargets what its targets are in.
	partState   = partRecord | partPlans
	partTargets = partMarks | partPlans
)

// versions are those of an application's parts.
type versions struct {
	parts [allParts]uint64
	// batch is the last one in which any changed, kept the last one in which the record was saved.
	batch, kept uint64
}

func (v *versions) set(what parts, batch uint64) {
	for ; what != 0; what &= what - 1 {
		v.parts[bits.TrailingZeros8(uint8(what))] = batch
	}
}

// newer reports whether one of the parts has changed since a batch.
func (v *versions) newer(what parts, since uint64) bool {
	for ; what != 0; what &= what - 1 {
		if v.parts[bits.TrailingZeros8(uint8(what))] > since {
			return true
		}
	}
	return false
}

// nodeParts are those of a node.
type nodeParts uint8

const (
	// nodePlan is what its Plan is made of.
	nodePlan nodeParts = 1 << iota
	// nodeState is its record, saved when the batch closes.
	nodeState
	// nodeAnew changes when there is to be a new Plan though its content is the same.
	nodeAnew
)

// Part is a part of all that a planner knows, which a decider reads: it need not be asked again while View.Version is
// the same. Parts are joined by |.
type Part uint16

const (
	// PartGrowth is what may let running applications have more executors: nodes come, give more, or drain no more.
	PartGrowth Part = 1 << iota
	// PartFreed is memory that was given back.
	PartFreed
	// PartTurns is whose turn it is among applications that wait: one has ended, a node is lost or leaves, an executor
	// stays that was to leave for one.
	PartTurns
	// PartRules is by which policy an operator wants the queue to be served.
	PartRules
	// PartSeats is which executors an application keeps: one has gone, or was asked to leave.
	PartSeats
	// PartApps is which applications there are, and which of them run; PartWaiting which of them wait.
	PartApps
	PartWaiting
	// PartOffer is how many cores nodes give to executors that may come, PartLess that a node gives fewer.
	PartOffer
	PartLess
	// PartDeadlines is when applications are due.
	PartDeadlines
	// PartReserved is what is reserved, and of how many cores.
	PartReserved

	allNews = iota
	// PartAll are all parts.
	PartAll Part = 1<<allNews - 1
)

// news is of each part the number of the fact that changed it last.
type news struct {
	seq   uint64 // Of the newest fact.
	parts [allNews]uint64
}

// touch says that the fact which is being recorded changes parts.
func (n *news) touch(what Part) {
	for ; what != 0; what &= what - 1 {
		n.parts[bits.TrailingZeros16(uint16(what))] = n.seq + 1
	}
}

// version is the newest number of parts.
func (n *news) version(of Part) (newest uint64) {
	for ; of != 0; of &= of - 1 {
		newest = max(newest, n.parts[bits.TrailingZeros16(uint16(of))])
	}
	return newest
}
