//go:build !race

package paper

// slow says that the race detector is on.
const slow = false
