// Package store keeps the state of a planner or a node: byte values under
// hierarchical keys, in memory and in one append-only file (BuntDB).
//
// # Layout of the file
//
//	meta/version     "3": the layout described here
//	meta/seal        how long the file was when the newest batch began, and the CRC-32C of
//	                 all that is in front of this record
//	d/KEY            the value of KEY, compressed
//
// Keys of the planner: planner/epoch, app/ID and those below it, plan/NODE,
// profile/NAME, history/ID, runs/N, queue/KEY (ledger/layout.go). Key of a node: node/state.
//
// Every kind of store takes the same keys: of one to api.MostKey bytes, without control
// characters. Others it refuses for ever, by name (api.RefusedError).
//
// A stored value is one byte 'r' (raw) or 'z' (deflate), the CRC-32C of the
// plain value (4 bytes, big endian) and the body.
//
// # What is promised
//
// Apply is atomic and durable: when it has returned nil, all its changes are on
// the disk (SyncAlways); after a crash at any moment either all or none of them
// are there. A batch whose write fails is found whole or not at all.
//
// BuntDB promises less, and this package makes up for it:
//
//   - It drops the errors of its syncs. So it is opened without any, and each batch
//     ends with a sync of this package's own. When that fails, the kernel may take what it
//     could not write for written: nothing is applied any more until all that is known is in
//     a new file that was synced. It is tried once a second.
//   - It writes the commands of a transaction in no particular order and may lose the end of
//     a torn one. So a batch is written as one transaction and its seal behind it as another,
//     with one sync at the end; Open cuts off what has no seal behind it.
//   - It cuts a file at the first record that seems to end behind it. So Open reads the
//     file itself before, and holds each seal against what is in front of it.
//   - It panics with its lock held when it cannot take a write back. Then the file is read
//     again, and made anew.
//
// A file that ends behind its last seal, or in the middle of a record, or has a hole there, is cut back to the last
// seal (Options.Tell says so). The rest belonged to an Apply that had not returned. A file in which a seal or a later
// change shows that something is missing or has changed, a value whose checksum fails, and a file of another version
// are not opened. ErrCorrupt and ErrVersion say which file it is. The store deletes and guesses nothing. A file cannot
// show that its last whole changes are missing.
//
// A file of version 2 had the seal of a batch among its changes, and a batch of two or more
// changes as one journal record in front of them. Open finishes the journal, and brings the file
// to this version; its seals are not held against anything any more.
//
// A reserve beside the file (Options.Reserve) is let go when the disk is full.
//
// The file grows with each change. After Open, and when it is larger than 1 MiB and four times what it was after the
// last rewrite, it is rewritten with the living values only. A goroutine copies them into a new file, some at a time,
// then what was applied meanwhile, and gives it the old one's name. Apply waits for the last of that only: a few
// batches, two syncs and a rename. Until then the old file is the store. Close gives a rewrite up. Copy makes a backup
// in the same way.
//
// BuntDB holds everything in memory: keep values small and history bounded.
// Two processes must not open the same file (package daemon holds a lock on the
// state directory).
//
// # A bucket that planners share
//
// Bucket is a store of which several processes know (Shared, package bus): a key-value bucket of
// JetStream. One process holds its lease, and each batch is one atomic write that renews it:
//
//	lease            the Lease: who holds it, how many keys there are, a sum of them all
//	d/KEY            the stored value of KEY, or 'm' and the number of its pieces
//	piece/N/KEY      a piece of a value that is larger than 512 KiB
//	journal/N        a piece of a batch that is too large for one write
//
// A process that has lost the lease can write nothing any more (ErrLost). A write that is not
// answered has failed; whether it was made is found out before the next one. TakeBucket holds
// what it reads against the lease and says ErrCorrupt for what somebody else has changed.
// Package planner says which planner may take the lease when (planner.Lease).
//
// All stores are safe for concurrent use.
package store
