// Package progress reads the progress page: the memory-mapped file through which an
// executor's JVM shows, without a network or a system call, how far its tasks are. The writer
// is org.apache.spark.pacer.ProgressPage in spark/. The layout stands here and nowhere else.
//
// # Layout, version 3
//
// A file of 1024 words (8 KiB), each a little-endian uint64.
//
//	word  0  magic, the bytes "PACERPG1"
//	word  1  layout version, 3
//	word  2  generation: how many times the page was published, 0 = never
//	word  3  process id of the JVM
//	word  4..15  reserved, 0
//	word  16..519   slot 0
//	word  520..1023 slot 1
//
// A slot (504 words):
//
//	+0   when it was written: CLOCK_MONOTONIC in ns (System.nanoTime)
//	+1   number of stages that follow, at most 8, newest activity first
//	+2   number of running tasks that follow, at most 44
//	+3   number of running tasks in all
//	+4   time spent in garbage collection since start, ns
//	+5   heap in use, bytes
//	+6   weight of the heaviest task that waited anywhere, in millionths, 0 = unknown
//	+7   stage id << 32 | attempt of which +6 is told
//	+8 + 18 i   stage i:
//	     +0 stage id         +1 attempt
//	     +2 tasks finished   +3 tasks failed or killed
//	     +4 weight of the finished tasks, in millionths (the mean task weighs 1)
//	     +5 records read     +6 bytes read     +7 CPU time, ns    (finished tasks)
//	     +8 tasks running
//	     +9 records read    +10 bytes read    +11 CPU time, ns    (running tasks)
//	    +12 records written +13 bytes written                     (finished tasks)
//	    +14 run time, ns (finished tasks)
//	    +15 when one of its tasks last started or ended, ns
//	    +16 CPU time, ns (finished tasks that weigh more than two mean ones)
//	    +17 of that, CPU time until they had read their last record, ns
//	+152 + 8 j  running task j:
//	     +0 task attempt id  +1 stage id << 32 | attempt  +2 partition
//	     +3 weight, in millionths  +4 start, ns  +5 CPU time, ns
//	     +6 records read  +7 bytes read
//
// Word +6 comes from the driver with the newest task of a stage whose tasks it knows to be
// unequal. It starts the heaviest first, so what waits later is not heavier, unless a task
// has to be run again. Word +17 is taken half-way between the last two publications between
// which a task's records grew.
//
// # Protocol
//
// One writer. At generation g it fills slot g&1, preceded by a store-store fence, then stores
// g+1 with release semantics. A reader loads g (acquire; 0 means no data), copies slot
// (g-1)&1, and accepts the copy if the generation still reads g: the writer fills that slot
// again only after it has published g+1. The reader tries at most 8 times. Every word is read
// atomically. Words 0, 1 and 3 are there before the first publication; until then the file is
// all zeros, as Create made it.
//
// The writer publishes every 100 ms. A page older than 2 s is stale (docs/spark.md, S18, S25).
// See docs/decisions/016.
//
// # What the caller does
//
// The node calls Create before the JVM starts, gives it the path in the environment
// (PACER_PROGRESS_PAGE), opens the page with Open, and reads it into the same Snapshot at
// each tick: Read touches only the used part and allocates nothing. The caller judges
// staleness by Snapshot.At and decides what to do about errors. Times are CLOCK_MONOTONIC in
// ns, the clock of System.nanoTime on Linux, so they compare with the node's own. Hosts are
// little-endian.
//
// A page belongs to the executor's user and is not trusted: links, foreign content and
// impossible counts are errors. A file cut under the reader's mapping is ErrTruncated.
package progress
