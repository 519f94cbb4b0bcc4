// Package progress reads the progress page: the memory-mapped file through which an
// executor's JVM shows, without a network or a system call, how far its tasks are. The writer
// is org.apache.spark.pacer.ProgressPage in spark/. The layout stands here and nowhere else.
//
// # Layout, version 7
//
// A file of 1024 words (8 KiB), each a little-endian uint64.
//
//	word  0  magic, the bytes "PACERPG1"
//	word  1  layout version, 7; 6 is read, too
//	word  2  generation: how many times the page was published, 0 = never
//	word  3  process id of the JVM, for who looks at the file
//	word  4..7   proof, 32 bytes: that the JVM is an attached application's; 0 for one that a node has started
//	word  8..15  reserved, 0
//	word  16..347   slot 0
//	word  348..679  slot 1
//	word  680..681  of slot 0, 682..683 of slot 1: bytes of heap in use after the newest collection, 0 before the
//	                first, and how long all collections have taken, ns; 0 in version 6
//	word  684..1023 reserved, 0
//
// A slot (332 words):
//
//	+0   when it was written: CLOCK_MONOTONIC in ns (System.nanoTime)
//	+1   number of stages that follow, at most 8, newest activity first
//	+2   number of running tasks that follow, at most 44
//	+3   weight of the heaviest task that waited anywhere, in millionths, 0 = unknown
//	+4   stage id << 32 | attempt of which +3 is told
//	+5   of the off-heap pools: 0 = nothing known, 1 = they move, 2 = they are fixed
//	+6   their size in force, bytes
//	+7   of that, in use for storage   +8 in use for execution
//	+9   bytes by which they are larger than the newest wish seen
//	+10  the sequence of the newest wish seen
//	+11  bytes that tasks have spilled  +12 bytes of blocks evicted for wishes
//	+13  how many wishes were met      +14 how long that took in all, ns
//	+15  bytes of heap that the JVM has
//	+16 + 12 i   stage i:
//	     +0 stage id         +1 attempt
//	     +2 tasks finished   +3 tasks failed or killed
//	     +4 weight of the finished tasks, in millionths (the mean task weighs 1)
//	     +5 records read     +6 CPU time, ns                      (ended tasks)
//	     +7 tasks running    +8 records read  +9 CPU time, ns     (running tasks)
//	    +10 CPU time, ns (finished tasks that weigh more than two mean ones, or used more than a second)
//	    +11 of that, CPU time until they had read their last record, ns
//	+112 + 5 j  running task j:
//	     +0 stage id << 32 | attempt  +1 partition  +2 weight, in millionths
//	     +3 CPU time, ns              +4 records read
//
// Word +3 comes from the driver with the newest task of a stage whose tasks it knows to be
// unequal. It starts the heaviest first, so what waits later is not heavier, unless a task
// has to be run again. Word +11 of a stage is taken half-way between the last two
// publications between which a task's records grew.
//
// # Protocol
//
// One writer. At generation g it fills slot g&1, preceded by a store-store fence, then stores
// g+1 with release semantics. A reader loads g (acquire; 0 means no data), copies slot
// (g-1)&1, and accepts the copy if the generation still reads g: the writer fills that slot
// again only after it has published g+1. The reader tries at most 8 times. Every word is read
// atomically. Words 0, 1 and 3 are there before the first publication, and the proof before
// the file has its name; until then the file is all zeros, as Create made it.
//
// # The wish page, version 1
//
// A file of 4096 bytes by which the node says how much off-heap memory it wants the
// executor to have. It is the node's: the executor's user reads it.
//
//	word  0  magic, the bytes "PACERWP1"
//	word  1  layout version, 1
//	word  2  sequence: how many wishes there were, 0 = none
//	word  4  bytes wanted, of odd sequences
//	word  5  bytes wanted, of even sequences
//
// The protocol is the same: at sequence s word 4+(s&1) is filled and then s+1 released. The
// executor acknowledges s on its own page as soon as it goes by it: from then on what is in
// force only comes closer to what is wanted.
//
// # When it is written
//
// The writer publishes every 100 ms. A page older than 2 s is stale (docs/spark.md, S18, S25).
// See docs/decisions/016.
//
// # What the caller does
//
// The node calls Create before the JVM starts, gives it the path in the environment
// (PACER_PROGRESS_PAGE), opens the page with Open, and reads it into the same meter.Page at each
// tick. An executor of another manager makes its own page, which OpenFile takes, and shows by Proof whose
// it is (api.Attach). Read touches only
// the used part and allocates nothing. The caller judges staleness by its At and decides what to do
// about errors. Times are CLOCK_MONOTONIC in ns, the clock of System.nanoTime on Linux, so they
// compare with the node's own. Hosts are
// little-endian.
//
// A page belongs to the executor's user and is not trusted: links, foreign content and
// counts beyond the layout are errors; impossible figures are for meter.Page.Fault. A file
// cut under the reader's mapping is ErrTruncated.
package progress
