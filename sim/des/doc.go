// Package des is discrete-event simulation: a clock with timers, named sources of
// randomness, and a network that delays messages.
//
// # Concepts
//
//	Clock    virtual time: it stands still until the next timer fires
//	Timer    something that will happen; its owner keeps it and sets it again and again
//	Random   a source of its own for each part of a world, by seed and name
//	Network  what becomes of messages
//	Link     one part's connection to the others, by the rules of a Network
//
// # Order and randomness
//
// Timers fire in the order of time, rank, owner and setting. The draws of a source depend
// on the seed and its name, and not on the draws of other parts. So a world that walks its
// maps in sorted order is the same for the same seed, byte by byte.
//
// # Units
//
// Instants count from the world's beginning.
//
// # What the caller must do
//
// Call all of it from one goroutine. Worlds may run side by side: they share nothing.
package des
