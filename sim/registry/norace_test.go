//go:build !race

package registry

// slow says that the race detector is on.
const slow = false
