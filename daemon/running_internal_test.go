package daemon

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

// Whether a daemon runs is told by its lock, and looking keeps no daemon out.
func TestADaemonThatRunsIsTold(t *testing.T) {
	dir := t.TempDir()
	if runs, err := Running(dir, "planner"); runs || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a lock: %v, %v", runs, err)
	}
	lock, err := makeState(dir, "planner")
	if err != nil {
		t.Fatal(err)
	}
	if runs, err := Running(dir, "planner"); !runs || err != nil {
		t.Errorf("with a lock that is held: %v, %v", runs, err)
	}
	if pid, err := Holder(dir, "planner"); pid != os.Getpid() || err != nil {
		t.Errorf("the holder of a lock: %d, %v", pid, err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if runs, err := Running(dir, "planner"); runs || err != nil {
		t.Errorf("with a lock that is let go: %v, %v", runs, err)
	}
	if lock, err = makeState(dir, "planner"); err != nil {
		t.Fatal(err)
	}
	_ = lock.Close()
	if free, least, err := Room(dir); err != nil || free <= 0 || least <= 0 {
		t.Errorf("room: %v, %v, %v", free, least, err)
	}
}
