package progress

// Version is the layout version of this package. Older is one that is read, too: it tells nothing of collections.
const (
	Version = 7
	Older   = 6
)

// Magic is word 0 of a page: the bytes "PACERPG1" as a little-endian number.
const Magic = 'P' | 'A'<<8 | 'C'<<16 | 'E'<<24 | 'R'<<32 | 'P'<<40 | 'G'<<48 | '1'<<56

const (
	// PageSize is a page's size in bytes.
	PageSize = 8 * pageWords
	// MaxStages and MaxTasks are how many a slot has room for.
	MaxStages = 8
	MaxTasks  = 44

	pageWords = 1024
)

// Words of the page.
const (
	wordMagic = iota
	wordVersion
	wordGeneration
	wordPID
	wordProof
	wordSlots = 16
	// wordHeaps is where the words of both slots are that tell of the heap, behind the slots.
	wordHeaps = wordSlots + 2*slotWords
	heapWords = 2
)

// Words of a slot.
const (
	slotAt = iota
	slotStages
	slotTasks
	slotHeaviest
	slotHeaviestOf
	slotMemory
	slotInForce
	slotStorage
	slotExecution
	slotOwed
	slotAcknowledged
	slotSpilled
	slotEvicted
	slotMoves
	slotMoving
	slotHeap
	slotHeader
)

// Parts of a slot.
const (
	slotFirstTask = slotHeader + MaxStages*stageWords
	slotWords     = slotFirstTask + MaxTasks*taskWords
	slotUsed      = slotWords
	slotCollected = slotWords + 1
)

// Words of a stage.
const (
	stageID = iota
	stageAttempt
	stageFinished
	stageFailed
	stageWeight
	stageRecords
	stageCPU
	stageRunning
	stageRunningRecords
	stageRunningCPU
	stageLargeCPU
	stageLargeReading
	stageWords
)

// Words of a running task.
const (
	taskStage = iota
	taskPartition
	taskWeight
	taskCPU
	taskRecords
	taskWords
)

// ProofBytes is how many bytes a page has room for by which its writer shows whose it is.
const ProofBytes = 32

// millionths is the unit of a weight on the page.
const millionths = 1e6

// slotBase returns the first word of the slot that is filled at generation, heapBase that of its words behind both.
func slotBase(generation uint64) int { return wordSlots + int(generation&1)*slotWords }
func heapBase(generation uint64) int { return wordHeaps + int(generation&1)*heapWords }
