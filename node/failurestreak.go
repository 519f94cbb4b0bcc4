package node

import "math/bits"

// calmAfter is after how many Samples without a failure a failure is news again.
const calmAfter = 10

// failureStreak counts failures that come again and again.
type failureStreak struct {
	failures int
	last     uint64 // The number of the Sample that told the latest.
}

// fail takes in a failure that the Sample of that number tells and reports whether
// it is worth saying: the 1st, 2nd, 4th, 8th ... of a streak is.
func (s *failureStreak) fail(sample uint64) bool {
	if sample-s.last > calmAfter {
		s.failures = 0
	}
	s.failures++
	s.last = sample
	return bits.OnesCount(uint(s.failures)) == 1
}
