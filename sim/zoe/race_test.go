//go:build race

package zoe

// slow says that the race detector is on: nothing here is concurrent, and the large
// tests would take minutes.
const slow = true
