package realenv

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// slots bound the tests that work side by side: two keep two cores busy, with the paced ones
// beside them. More would make all JVMs start at a time, and slower.
const slots = 2

// Beside runs the rest of a test beside others, when it has a slot; processes with the same
// PACER_TEST_MADE share the slots. Tests that are paced for long, or sleep, call t.Parallel
// alone: they need little and start at once, since what takes longest had better not begin last.
func Beside(t *testing.T) {
	t.Helper()
	t.Parallel()
	room, err := made()
	dir := filepath.Join(room, "beside")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for slot := 0; ; slot = (slot + 1) % slots {
		if f := take(t, dir, slot); f != nil {
			t.Cleanup(func() { _ = f.Close() }) // Which gives it back.
			return
		}
		<-time.After(100 * time.Millisecond)
	}
}

// take locks the file of a slot, which is nil where another test has it.
func take(t *testing.T, dir string, slot int) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("slot-%d", slot)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		_ = f.Close()
		return nil
	}
	return f
}
