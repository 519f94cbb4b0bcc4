package eventlog

import (
	"fmt"
	"os"
	"testing"
)

// A log of which bytes are others is read, refused or cut off, and ends nobody's process.
func TestAByteThatIsAnotherEndsNothing(t *testing.T) {
	panics, reads := 0, 0
	for kind, sources := range golden(t) {
		body, err := os.ReadFile(sources[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(body); at += 9973 {
			for _, mask := range []byte{0x01, 0xff} {
				body[at] ^= mask
				reads++
				if fault := guarded(kind, body); fault != nil {
					panics++
					t.Errorf("%s, byte %d: %v", kind, at, fault)
				}
				body[at] ^= mask
			}
		}
	}
	t.Logf("eventlog.panics %d (%d reads)", panics, reads)
	if reads < 250 {
		t.Errorf("%d reads only", reads)
	}
}

// guarded reads a log and returns what it panics with, nil for nothing.
func guarded(name string, body []byte) (fault error) {
	defer func() {
		if p := recover(); p != nil {
			fault = fmt.Errorf("panic: %v", p)
		}
	}()
	_, _ = Read([]Source{of(name, body)}, nil)
	return nil
}
