//go:build race

package registry

// slow says that the race detector is on: the large test would take minutes.
const slow = true
