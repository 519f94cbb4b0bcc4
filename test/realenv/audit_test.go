package realenv

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAuditSeesWritesAndNothingElse(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root for fanotify")
	}
	dir := t.TempDir()
	if err := syscall.Mount("pacer-audit", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("cannot mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	below, read := filepath.Join(dir, "below"), filepath.Join(dir, "below", "read")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(read, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	a := StartAudit(t, dir)
	if _, err := os.ReadFile(read); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(below, "written"), filepath.Join(dir, "beside")} {
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := a.Written(below); len(got) != 1 || got[filepath.Join(below, "written")] == 0 {
		t.Errorf("written: %v", got)
	}
}
