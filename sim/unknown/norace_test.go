//go:build !race

package unknown

// slow says that the race detector is on.
const slow = false
