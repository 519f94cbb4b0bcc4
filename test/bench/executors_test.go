package main

import (
	"testing"

	"github.com/sparkpacer/pacer/test/benchline"
)

// No executor is idle while a stage waits beside a straggler.
func TestStragglersKeepOneExecutor(t *testing.T) {
	straggling(t, func(name string, m benchline.Measured, unit string) {
		if name != "straggler.idle_executors" || m.N != stragglers || m.Value != 0 || unit != "executors" {
			t.Errorf("%s is %v %s", name, m, unit)
		}
	})
}
