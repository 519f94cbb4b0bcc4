package main

import (
	"testing"

	"github.com/sparkpacer/pacer/test/benchline"
)

// No executor is idle while a stage waits beside a straggler, and no slot waits for zombies.
func TestStragglersKeepOneExecutor(t *testing.T) {
	units := map[string]string{"straggler.idle_executors": "executors", "zombie.wait_s.max": "s"}
	straggling(t, func(name string, m benchline.Measured, unit string) {
		if m.N != stragglers || m.Value != 0 || unit != units[name] {
			t.Errorf("%s is %v %s", name, m, unit)
		}
		delete(units, name)
	})
	if len(units) > 0 {
		t.Errorf("not measured: %v", units)
	}
}
