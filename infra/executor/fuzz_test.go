package executor

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzHandles: whatever a handle's file holds, it is named as a fault, or it is the handle
// of the directory that it is in, of a process that may be asked for.
func FuzzHandles(f *testing.F) {
	f.Add([]byte(`{"app":"app-1","id":"1","pid":4711,"boot":"b"}`))
	f.Add([]byte(`{"App":"app-1","ID":"1","PID":-1,"Boot":"b","Container":"c"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		l := Layout{Root: t.TempDir()}
		dir := filepath.Join(l.Root, "apps", "app-1", "1")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "handle.json"), body, 0o600); err != nil {
			t.Fatal(err)
		}
		handles, err := l.handles()
		if err == nil != (len(handles) == 1) {
			t.Fatalf("%d handles, %v", len(handles), err)
		}
		for _, h := range handles {
			if h.App != "app-1" || h.ID != "1" || h.PID <= 1 {
				t.Errorf("%+v", h)
			}
		}
	})
}
