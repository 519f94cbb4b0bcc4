package store

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// A change is read back into room that is there: a planner saves some hundred times a second, and what it leaves behind
// each time is collected beside all that it knows.
func TestAChangeLeavesLittleBehind(t *testing.T) {
	f, err := Open(filepath.Join(t.TempDir(), "planner.db"), Options{Sync: SyncNever})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const times = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		if err := f.Apply([]api.Pair{{Key: "a", Value: []byte("b")}}); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / times; each > 16<<10 {
		t.Errorf("a change of one value leaves %d bytes behind", each)
	}
}
