// Package api is Pacer's vocabulary and wire schema: the types that cross NATS,
// the command line's JSON and the files that users keep, with nothing but their
// validation. Every other package may import it; it imports units only.
//
// # Who says what
//
//	driver -> planner   RegisterRequest once (again after a reconnect), then
//	                    Events: stage ready, bound, done, executors, end
//	planner -> driver   RegisterReply, EventsReply; each carries the Directive
//	planner -> node     Plan: the whole truth for that node, with an epoch
//	node -> planner     NodeStatus: whole value, newest wins, at most 1/s unless
//	                    an executor changed state
//	cli -> planner      control requests (AppSummary, AppDetail, Profile, ...)
//
// Plans, Directives and statuses are whole values: a lost, repeated or reordered
// one is harmless. A Plan or Directive older than one already taken (smaller
// Epoch) is ignored. Driver events are numbered from 1 and resent until
// acknowledged; the planner ignores numbers it has seen.
//
// # Units and conventions
//
// Field names end in their unit: _s seconds (float), _bytes, _cores; work in
// core-seconds is core_seconds. Durations cross the wire as what is left or what
// has passed, never as a clock's reading, so clocks need not agree. Absent
// optional numbers are 0 unless the field says otherwise; Unknown (-1) marks a
// count nobody knows.
//
// # Bounds
//
// Whatever comes in is bounded before it is used: texts, counts, amounts, numbers (bounds.go).
// The Validate of a message reports all its faults, the first twenty by name. Package bus
// refuses a request that is too large before it is decoded; how deep JSON is nested is bounded
// by the decoders of both sides (10,000 in Go, 1,000 in the jar). The driver keeps to what
// would end its conversation if it did not.
//
// # Versions
//
// Each message carries V = Version. A receiver refuses another version with
// KindVersion and says both numbers. Decode is strict for what users write
// (profiles, configuration) and lenient for messages of the same version, so
// that a field can be added without a new version.
package api
