//go:build race

package paper

// slow says that the race detector is on: nothing here is concurrent, and the large
// tests would take minutes.
const slow = true
