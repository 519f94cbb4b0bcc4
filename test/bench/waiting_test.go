package main

import (
	"testing"

	"github.com/sparkpacer/pacer/test/benchline"
)

// Asks of the queue are timed while a hundred wait.
func TestAsksOfTheQueueAreTimed(t *testing.T) {
	n := 0
	asks(t, func(name string, m benchline.Measured, unit string) {
		if n++; name != "question.queue_ms.100x2000" || m.N != waitingAsks || unit != "ms" {
			t.Errorf("%s is %v %s", name, m, unit)
		}
		t.Logf("%s: %.1f ms, %v", name, m.Value, m.Spread)
	})
	if n != 1 {
		t.Errorf("%d figures", n)
	}
}
