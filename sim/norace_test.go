//go:build !race

package sim

// slow says that the race detector is on.
const slow = false
