package bustest

import (
	"runtime"
	"testing"
	"testing/synctest"
)

// Bubble is synctest.Test for a test with connections to a server of NATS. nats.go keeps timers in a pool of the
// process, and a timer of one bubble ends the process in another one: the pool is empty before and after.
func Bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	emptyPools()
	defer emptyPools()
	synctest.Test(t, test)
}

// emptyPools collects twice, for the first collection only moves what a sync.Pool has to its victims.
func emptyPools() {
	runtime.GC()
	runtime.GC()
}
