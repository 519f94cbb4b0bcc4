package realenv

import (
	"testing"
	"time"
)

// Poll calls ok every so often until it holds, and reports whether it did within limit:
// processes and the kernel give no other sign.
func Poll(every, limit time.Duration, ok func() bool) bool {
	tick, over := time.NewTicker(every), time.After(limit)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-over:
			return false
		}
	}
	return true
}

// Await fails the test unless what is awaited holds within a minute. It asks often: ok had
// better be cheap.
func Await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !Poll(5*time.Millisecond, time.Minute, ok) {
		t.Fatalf("%s: not within a minute", what)
	}
}
