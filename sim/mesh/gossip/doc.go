// Package gossip is Cyclon: each machine knows a few others, and who these are changes all the time, so that one drawn
// of them is as good as one drawn of all machines. S. Voulgaris, D. Gavidia, M. van Steen, "CYCLON: Inexpensive
// Membership Management for Unstructured P2P Overlays" (2005), as M. Khelghatdoust's thesis (2018), section 4.3, takes
// it.
//
//	view     what a machine knows: at most Size others, each with an age
//	age      in how many rounds nobody has heard anything new of an entry
//	shuffle  two machines hand each other a part of their views
//
// Once a round a machine begins a shuffle with the oldest entry of its view, which it takes out. A machine that is
// gone does not answer, and is forgotten so.
//
// Nothing here draws or sends: the caller gives draw, which returns a number from 0 to below n, and carries what is
// sent. A View is no one's but its caller's: call it from one goroutine.
package gossip
