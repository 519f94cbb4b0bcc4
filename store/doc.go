// Package store keeps the state of a planner or a node: byte values under
// hierarchical keys, in memory and in one append-only file (BuntDB).
//
// # Layout of the file
//
//	meta/version     "1": the layout described here
//	meta/journal     a batch that is being applied (see below); usually absent
//	d/KEY            the value of KEY, compressed
//
// Keys of the planner: planner/epoch, app/ID and those below it, plan/NODE,
// profile/NAME, history/ID (ledger/layout.go). Key of a node: node/state.
//
// A stored value is one byte 'r' (raw) or 'z' (deflate), the CRC-32C of the
// plain value (4 bytes, big endian) and the body.
//
// # What is promised
//
// Apply is atomic and durable: when it has returned nil, all its changes are on
// the disk (SyncAlways); after a crash at any moment either all or none of them
// are there. BuntDB writes the commands of a transaction in no particular order
// and may lose the end of a torn one, so a batch of two or more changes is
// written as one journal record first, then applied, then the journal is
// removed, with one sync at the end; Open finishes a journal that it finds.
//
// An Apply that fails (a full disk) leaves the values in memory as they were;
// whether its changes are found by a later Open is not promised.
//
// A file that ends in the middle of a record (a crash, a full disk) is cut back
// to the last whole record and opened: that record belonged to an Apply that
// had not returned. A file that is damaged elsewhere, a value whose checksum
// fails, and a file of another version are not opened: ErrCorrupt and
// ErrVersion say which file to move away. Nothing is deleted or guessed.
//
// The file grows with each change. After Open, and when it is larger than 4 MiB and
// four times what it was after the last rewrite, it is rewritten with the living
// values only: a goroutine copies them into a new file, some at a time, then what
// was applied meanwhile, and gives it the old one's name. Apply waits for the last
// of that only: a few batches, two syncs and a rename. Until then the old file is the
// store. Close gives a rewrite up.
//
// BuntDB holds everything in memory: keep values small and history bounded.
// Two processes must not open the same file (package daemon holds a lock on the
// state directory).
//
// Memory is the same without a file; Failing wraps a store and fails on demand.
// All stores are safe for concurrent use.
package store
