//go:build !race

package zoe

// slow says that the race detector is on.
const slow = false
